import { html } from './components.ts';

/** Drawings in place of pictures. Each is the same whenever it is drawn from the same text, and needs no network. */

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
};

export const hueOf = (text: string): number => hashOf(text) % 360;

/** Numbers from 0 to 1 that look random and are the same for the same seed. */
const numbersFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const TILES = 4;
const TILE = 16;
const SIDE = TILES * TILE;

/** The shapes of a tile whose upper left corner is at x and y: a quarter disc in each corner, a disc, and nothing. */
const SHAPES: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `M${x} ${y}h${TILE}a${TILE} ${TILE} 0 0 1-${TILE} ${TILE}z`,
  (x, y) => `M${x + TILE} ${y}h-${TILE}a${TILE} ${TILE} 0 0 0 ${TILE} ${TILE}z`,
  (x, y) => `M${x + TILE} ${y + TILE}h-${TILE}a${TILE} ${TILE} 0 0 1 ${TILE}-${TILE}z`,
  (x, y) => `M${x} ${y + TILE}h${TILE}a${TILE} ${TILE} 0 0 0-${TILE}-${TILE}z`,
  (x, y) => `M${x} ${y + 8}a8 8 0 1 1 ${TILE} 0a8 8 0 1 1-${TILE} 0z`,
  () => '',
];

/** Two paths of tiles that this text chooses, in the first columns of a square of four by four. */
const tilesOf = (text: string, columns: number): readonly [string, string] => {
  const next = numbersFrom(hashOf(text));
  const paths: [string, string] = ['', ''];
  for (let tile = 0; tile < columns * TILES; tile += 1) {
    const shape = SHAPES[Math.floor(next() * SHAPES.length)];
    const drawn = shape?.((tile % columns) * TILE, Math.floor(tile / columns) * TILE) ?? '';
    paths[next() < 0.5 ? 0 : 1] += drawn;
  }
  return paths;
};

const secondHueOf = (text: string): number => (hueOf(text) + 60 + (hashOf(`${text}!`) % 120)) % 360;

/** A pattern: its colours are those of `colours`, its shapes those of `shapes`. */
export const Pattern = ({ colours, shapes }: { colours: string; shapes: string }) => {
  const [first, second] = tilesOf(shapes, TILES);
  return html`<svg viewBox=${`0 0 ${SIDE} ${SIDE}`} aria-hidden="true" focusable="false">
    <path d=${first} fill=${`hsl(${hueOf(colours)}, 50%, 55%)`} />
    <path d=${second} fill=${`hsl(${secondHueOf(colours)}, 45%, 58%)`} />
  </svg>`;
};

type AvatarProps = {
  address: string;
  /** In pixels. */
  size?: number;
};

/** A round, symmetric drawing of an address, by which a person recognises it. Beside it stands its name or the address. */
export const Avatar = ({ address, size = 24 }: AvatarProps) => {
  const text = address.toLowerCase();
  const [first, second] = tilesOf(text, TILES / 2);
  const half = html`<path d=${first} fill=${`hsl(${secondHueOf(text)}, 70%, 72%)`} /><path d=${second} fill=${`hsl(${hueOf(text)}, 80%, 86%)`} />`;
  return html`<svg class="avatar" width=${size} height=${size} viewBox=${`0 0 ${SIDE} ${SIDE}`} aria-hidden="true" focusable="false">
    <rect width=${SIDE} height=${SIDE} fill=${`hsl(${hueOf(text)}, 52%, 42%)`} />
    <g>${half}</g>
    <g transform=${`translate(${SIDE} 0) scale(-1 1)`}>${half}</g>
  </svg>`;
};
