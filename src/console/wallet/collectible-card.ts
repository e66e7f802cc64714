import type { CollectibleCardFragment, SpamFeature } from '../__generated__/operations.ts';
import { Pattern } from '../avatar.ts';
import { Address, html } from '../components.ts';
import { formatUnits, inWords, shorten, shortHex } from '../format.ts';
import { Picture } from '../picture.ts';

/** Its name, or its symbol with its token id. */
export const collectibleTitle = ({ name, symbol, tokenId }: CollectibleCardFragment): string =>
  shorten(name?.trim() ?? '') || `${shorten(symbol?.trim() || 'Token', 30)} #${shortHex(tokenId)}`;

type Props = { collectible: CollectibleCardFragment; onOpen: () => void };

/** One collectible. Its button opens the rest. */
export const CollectibleCard = ({ collectible, onOpen }: Props) => {
  const { chain, contractAddress, tokenId, imageUrl, tokenStandardName, balance, lastSalePrice, isSpam } =
    collectible;
  const title = collectibleTitle(collectible);
  const drawn = html`<${Pattern} colours=${contractAddress} shapes=${`${contractAddress}/${tokenId}`} />`;
  return html`<li class="card" data-collectible=${collectible.id}>
    <div class="picture"><${Picture} url=${imageUrl} alt=${`Picture of ${title}`} size=${256} drawn=${drawn} /></div>
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
export const SpamScore = ({ collectible }: { collectible: CollectibleCardFragment }) => {
  const { spamScore, explanations, isSpam } = collectible;
  const signals = explanations ?? [];
  return html`<h3>Spam score: ${spamScore === null ? 'none' : `${rounded(spamScore)} of 100`}</h3>
    <p>${verdict(isSpam)} ${spamScore === null ? 'It has no signal to score it by.' : 'The score is the average of these signals by their weights.'}</p>
    ${signals.length > 0 && html`<ul class="rows signals">${signals.map((signal, index) => html`<${SignalItem} key=${index} signal=${signal} />`)}</ul>`}`;
};
