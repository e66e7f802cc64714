import { formatAmount } from 'evm-graphql-gateway/client';
import type { CollectibleCardFragment, SpamFeature } from '../__generated__/operations.ts';
import { Pattern } from '../avatar.ts';
import { Address, Dialog, ExplorerLink, Facts, Hash, html, Time } from '../components.ts';
import { inWords, shorten, shortHex } from '../format.ts';
import { Picture } from '../picture.ts';

/** Its name, or its symbol with its token id. */
export const collectibleTitle = ({ name, symbol, tokenId }: CollectibleCardFragment): string =>
  shorten(name?.trim() ?? '') || `${shorten(symbol?.trim() || 'Token', 30)} #${shortHex(tokenId)}`;

/** Its picture; a drawing made from its contract and token id if it has none. */
export const CollectiblePicture = ({ card }: { card: CollectibleCardFragment }) => {
  const { contractAddress, tokenId, imageUrl } = card;
  const drawn = html`<${Pattern} colours=${contractAddress} shapes=${`${contractAddress}/${tokenId}`} />`;
  return html`<div class="picture"><${Picture} url=${imageUrl} alt=${`Picture of ${collectibleTitle(card)}`} size=${512} drawn=${drawn} /></div>`;
};

type Props = { card: CollectibleCardFragment; onClose: () => void };

/** What a card leaves out. The list has it already: asking for it again would be another list of the service, at its price. */
export const CollectibleDetails = ({ card, onClose }: Props) =>
  html`<${Dialog} title=${collectibleTitle(card)} onClose=${onClose}>
    <div class="details collectible">
      <${CollectiblePicture} card=${card} />
      <div class="stack">
        <${Known} card=${card} />
        ${card.description && html`<p class="description">${shorten(card.description, 3000)}</p>`}
        ${card.metadata && html`<${Traits} metadata=${card.metadata} />`}
      </div>
      <${SpamScore} card=${card} />
    </div>
  <//>`;

const Known = ({ card }: { card: CollectibleCardFragment }) => {
  const { chain, contractAddress, tokenId, balance, lastAcquired, lastSalePrice } = card;
  const page = `token/${contractAddress}/instance/${tokenId}`;
  return html`<${Facts} facts=${[
    ['Chain', inWords(shorten(chain, 40))],
    ['Contract', html`<${Address} value=${contractAddress} page="token" />`],
    ['Token id', html`<${Hash} value=${tokenId} label="token id" /><${ExplorerLink} path=${page} />`],
    ['Amount', formatAmount(balance, 0)],
    ['Acquired', lastAcquired && html`<${Time} value=${lastAcquired} />`],
    ['Last sale', lastSalePrice && `${shorten(lastSalePrice, 40)} in the service’s unit`],
  ]} />`;
};

const MOST_TRAITS = 100;

const Traits = ({ metadata }: { metadata: NonNullable<CollectibleCardFragment['metadata']> }) => {
  const { uri, attributes } = metadata;
  const others = attributes.length - MOST_TRAITS;
  return html`<h3>Traits${attributes.length === 0 && ': none'}</h3>
    <dl class="traits">${attributes
      .slice(0, MOST_TRAITS)
      .map(
        ({ key, value }, index) =>
          html`<div key=${index}><dt>${shorten(key || 'unnamed', 60)}</dt><dd>${shorten(value ?? '', 500) || '—'}</dd></div>`,
      )}</dl>
    ${others > 0 && html`<p class="quiet">and ${others} more traits</p>`}
    ${uri && html`<p class="quiet">Metadata: ${shorten(uri, 300)}</p>`}`;
};

type Signal = NonNullable<CollectibleCardFragment['explanations']>[number];

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

const verdict = (isSpam: boolean | null): string => {
  if (isSpam === null) return 'The service does not say whether it is spam.';
  return isSpam ? 'The service classifies it as spam.' : 'The service does not classify it as spam.';
};

/** A half circle that is full at 100. */
const Gauge = ({ score, isSpam }: { score: number; isSpam: boolean | null }) =>
  html`<svg class="gauge" viewBox="0 0 120 68" role="img" aria-label=${`Spam score: ${rounded(score)} of 100`}>
    <path class="track" d="M10 60a50 50 0 0 1 100 0" />
    <path class=${isSpam ? 'is-spam' : ''} d="M10 60a50 50 0 0 1 100 0" pathLength="100" stroke-dasharray=${`${Math.min(100, Math.max(0, score))} 200`} />
    <text x="60" y="56" text-anchor="middle">${rounded(score)}</text>
  </svg>`;

/** The spam score, and the signals that it is the average of. */
const SpamScore = ({ card }: { card: CollectibleCardFragment }) => {
  const { spamScore, explanations, isSpam } = card;
  const signals = explanations ?? [];
  // Signals without a score or a weight are not part of the average.
  const whole = signals.reduce((sum, { score, weight }) => sum + (score === null ? 0 : (weight ?? 0)), 0);
  const most = Math.max(0, ...signals.map(({ weight }) => weight ?? 0));
  return html`<section class="stack spam" aria-label="Spam score">
    <div class="bar">
      ${spamScore !== null && html`<${Gauge} score=${spamScore} isSpam=${isSpam} />`}
      <div>
        <h3>Spam score: ${spamScore === null ? 'none' : `${rounded(spamScore)} of 100`}</h3>
        <p>${verdict(isSpam)} ${spamScore === null ? 'It has no signal to score it by.' : 'The score is the average of these signals by their weights.'}</p>
      </div>
    </div>
    ${signals.length > 0 && html`<ul class="signals">${signals.toSorted((one, other) => pointsOf(other) - pointsOf(one)).map((signal, index) => html`<${SignalBar} key=${index} signal=${signal} whole=${whole} most=${most} />`)}</ul>`}
  </section>`;
};

const pointsOf = ({ score, weight }: Signal): number => (score ?? 0) * (weight ?? 0);

type SignalProps = {
  signal: Signal;
  whole: number;
  most: number;
};

/** A signal: as long as its weight, filled as far as its score. */
const SignalBar = ({ signal, whole, most }: SignalProps) => {
  const { feature, featureName, score, weight } = signal;
  const { what, why } = feature
    ? SIGNALS[feature]
    : { what: inWords(shorten(featureName, 60)), why: 'this gateway does not know the signal' };
  const length = most > 0 ? (weight ?? 0) / most : 0;
  const filled = length * Math.min(1, Math.max(0, (score ?? 0) / 100));
  const points = score === null || weight === null || whole <= 0 ? null : pointsOf(signal) / whole;
  return html`<li class="in-columns">
    <span>${what}: <strong>${valueText(signal)}</strong></span>
    <svg height="10" aria-hidden="true"><rect class="track" width=${`${length * 100}%`} height="10" rx="3" /><rect class="filled" width=${`${filled * 100}%`} height="10" rx="3" /></svg>
    <span class="points" title=${`score ${rounded(score)}, weight ${rounded(weight)}`}>${points === null ? 'not counted' : `+${rounded(points)}`}</span>
    <span class="quiet">${why}; score ${rounded(score)}, weight ${rounded(weight)}</span>
  </li>`;
};
