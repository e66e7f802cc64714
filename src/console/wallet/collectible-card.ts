import { useState } from 'preact/hooks';
import type {
  CollectibleCardFragment,
  CollectiblePartsFragment,
  SpamFeature,
} from '../__generated__/operations.ts';
import { Address, html } from '../components.ts';
import { formatUnits, inWords, shorten, shortHex } from '../format.ts';
import { settings } from '../settings.ts';

/** Its name, or its symbol with its token id. */
export const collectibleTitle = ({ name, symbol, tokenId }: CollectibleCardFragment): string =>
  shorten(name?.trim() ?? '') || `${shorten(symbol?.trim() || 'Token', 30)} #${shortHex(tokenId)}`;

type Props = { collectible: CollectibleCardFragment; onOpen: () => void };

/** One collectible. Its button opens the rest. */
export const CollectibleCard = ({ collectible, onOpen }: Props) => {
  const { chain, contractAddress, tokenStandardName, balance, lastSalePrice, isSpam } = collectible;
  const title = collectibleTitle(collectible);
  return html`<li class="card" data-collectible=${collectible.id}>
    <${Picture} collectible=${collectible} alt=${`Picture of ${title}`} />
    <h3>${title}</h3>
    <p class="tags">
      <span class="tag">${inWords(shorten(chain, 40))}</span>
      ${tokenStandardName && html`<span class="tag">${shorten(tokenStandardName, 20)}</span>`}
      ${isSpam && html`<span class="tag is-warn">spam</span>`}
    </p>
    <p class="quiet">Contract <${Address} value=${contractAddress} /></p>
    ${balance !== '1' && html`<p class="quiet">Holds ${shorten(formatUnits(balance, 0), 40)}</p>`}
    ${lastSalePrice !== null && html`<p class="quiet">Last sale ${shorten(lastSalePrice, 20)}</p>`}
    <button type="button" class="more" onClick=${onOpen}>Details and score<span class="visually-hidden"> of ${title}</span></button>
  </li>`;
};

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
const DrawnPicture = ({ contract, tokenId }: { contract: string; tokenId: string }) => {
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

const GATEWAY_OF_IPFS = 'https://ipfs.io/ipfs/';

/** Where the browser may load a picture from; null for a picture that it may not load. */
const pictureUrl = (imageUrl: string | null): string | null => {
  if (!settings.images || imageUrl === null) return null;
  const path = /^ipfs:\/\/(?:ipfs\/)?(.+)$/is.exec(imageUrl)?.[1];
  const url = URL.parse(path === undefined ? imageUrl : `${GATEWAY_OF_IPFS}${path}`);
  const isAllowed = url?.protocol === 'https:' || (url !== null && url.origin === settings.sandboxOrigin);
  return url && isAllowed ? url.href : null;
};

type PictureProps = { collectible: CollectibleCardFragment; alt: string };

/** The collectible's picture. One without a picture gets a drawing made from its token id. */
const Picture = ({ collectible, alt }: PictureProps) => {
  const { imageUrl, contractAddress, tokenId } = collectible;
  const [failed, setFailed] = useState<string | null>(null);
  const url = pictureUrl(imageUrl);
  return html`<div class="picture">
    ${
      url === null || url === failed
        ? html`<${DrawnPicture} contract=${contractAddress} tokenId=${tokenId} />`
        : html`<img loading="lazy" decoding="async" referrerpolicy="no-referrer" width="256" height="256" alt=${alt} src=${url} onError=${() => setFailed(url)} />`
    }
  </div>`;
};

type Signal = NonNullable<CollectiblePartsFragment['explanations']>[number];

const SIGNALS: Readonly<Record<SpamFeature, { readonly what: string; readonly why: string }>> = {
  EXTERNALLY_FLAGGED: { what: 'Flagged by third parties', why: 'others take the collection for spam' },
  IPFS_URI_PRESENT: { what: 'Metadata on IPFS', why: 'where a document is kept says something of its maker' },
  SUSPICIOUS_WORDS: { what: 'Words that scams use', why: 'in its names, symbols or links' },
  TRADE_VOLUME: { what: 'Trades since the launch', why: 'very few suggest spam' },
  UNIQUE_BUYERS: { what: 'Distinct buyers', why: 'few suggest that the trades are not real' },
  UNIQUE_SELLERS: { what: 'Distinct sellers', why: 'few suggest that the trades are not real' },
  URL_SHORTENER_IN_URI: { what: 'Shortened links', why: 'they hide where they lead' },
};

const rounded = (number: number | null): string =>
  number === null ? 'unknown' : String(Math.round(number * 100) / 100);

const valueText = ({ value }: Signal): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return rounded(value);
  return (value ?? null) === null ? 'unknown' : shorten(JSON.stringify(value), 60);
};

const SignalItem = ({ signal }: { signal: Signal }) => {
  const { feature, featureName, score, weight } = signal;
  const { what, why } = feature
    ? SIGNALS[feature]
    : { what: inWords(shorten(featureName, 60)), why: 'this gateway does not know the signal' };
  return html`<li>
    <p>${what}: <strong>${valueText(signal)}</strong> <span class="quiet">(${why})</span></p>
    <p class="quiet">score ${rounded(score)}, weight ${rounded(weight)}</p>
  </li>`;
};

const verdict = (isSpam: boolean | null): string => {
  if (isSpam === null) return 'The service does not say whether it is spam.';
  return isSpam ? 'The service classifies it as spam.' : 'The service does not classify it as spam.';
};

/** The spam score, and the signals that it is the average of. */
export const SpamScore = ({
  collectible,
  isSpam,
}: {
  collectible: CollectiblePartsFragment;
  isSpam: boolean | null;
}) => {
  const { spamScore, explanations } = collectible;
  const signals = explanations ?? [];
  return html`<h3>Spam score: ${spamScore === null ? 'none' : `${rounded(spamScore)} of 100`}</h3>
    <p>${verdict(isSpam)} ${spamScore === null ? 'It has no signal to score it by.' : 'The score is the average of these signals by their weights.'}</p>
    ${signals.length > 0 && html`<ul class="rows signals">${signals.map((signal, index) => html`<${SignalItem} key=${index} signal=${signal} />`)}</ul>`}`;
};
