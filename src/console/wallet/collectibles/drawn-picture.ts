import { html } from '../../html.ts';

const TILES = 4;
const TILE = 16;
const SIDE = TILES * TILE;

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
};

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

/** The shapes of a tile whose upper left corner is at x and y: a quarter disc in each corner, a disc, and nothing. */
const SHAPES: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `M${x} ${y}h${TILE}a${TILE} ${TILE} 0 0 1-${TILE} ${TILE}z`,
  (x, y) => `M${x + TILE} ${y}h-${TILE}a${TILE} ${TILE} 0 0 0 ${TILE} ${TILE}z`,
  (x, y) => `M${x + TILE} ${y + TILE}h-${TILE}a${TILE} ${TILE} 0 0 1 ${TILE}-${TILE}z`,
  (x, y) => `M${x} ${y + TILE}h${TILE}a${TILE} ${TILE} 0 0 0-${TILE}-${TILE}z`,
  (x, y) => `M${x} ${y + 8}a8 8 0 1 1 ${TILE} 0a8 8 0 1 1-${TILE} 0z`,
  () => '',
];

/** A pattern in place of a picture: its colours are those of the contract, its shapes those of the token. */
export const DrawnPicture = ({ contract, tokenId }: { contract: string; tokenId: string }) => {
  const hue = hashOf(contract) % 360;
  const next = numbersFrom(hashOf(`${contract}/${tokenId}`));
  const paths: [string, string] = ['', ''];
  for (let tile = 0; tile < TILES * TILES; tile += 1) {
    const shape = SHAPES[Math.floor(next() * SHAPES.length)];
    const drawn = shape?.((tile % TILES) * TILE, Math.floor(tile / TILES) * TILE) ?? '';
    paths[next() < 0.5 ? 0 : 1] += drawn;
  }
  const second = (hue + 60 + (hashOf(`${contract}!`) % 120)) % 360;
  return html`<svg viewBox=${`0 0 ${SIDE} ${SIDE}`} aria-hidden="true" focusable="false">
    <path d=${paths[0]} fill=${`hsl(${hue}, 50%, 55%)`} />
    <path d=${paths[1]} fill=${`hsl(${second}, 45%, 58%)`} />
  </svg>`;
};
