import { formatAmount } from 'evm-graphql-gateway/client';
import {
  type CollectibleCardFragment as Card,
  type SpamFeature,
  WalletCollectibles,
} from '../__generated__/operations.ts';
import { Pattern } from '../avatar.ts';
import { OnChain } from '../chains.ts';
import { Meter } from '../charts.ts';
import { Address, Dialog, ExplorerLink, Facts, Hash, html, Time } from '../components.ts';
import { PriceTag, usePrice } from '../cost/prices.ts';
import { counted, formatCount, inWords, shorten, shortHex } from '../format.ts';
import { Picture } from '../picture.ts';
import { useParam } from '../route.ts';
import {
  type Estimate,
  ListBody,
  ListHead,
  LoadAll,
  type PanelProps,
  useWalletList,
  walletList,
} from './list.ts';

/** The size of the first page that the gateway requests; later ones have up to 2,500. Each request costs one CU per chain. */
const ITEMS_OF_FIRST_REQUEST = 250;

const COLLECTIBLES = walletList(24, WalletCollectibles, ({ wallet }) => wallet.collectibles);

export const Collectibles = ({ address, chainIds }: PanelProps) => {
  const [spam, setSpam] = useParam('spam');
  const includeSpam = spam === 'shown';
  const [open, setOpen] = useParam('open');
  const { computeUnits } = usePrice(['collectibles'], chainIds);
  const collectibles = useWalletList(COLLECTIBLES, { address, chainIds, includeSpam });
  const { nodes } = collectibles;
  const opened = nodes.find(({ id }) => id === open);

  const estimate = (shown: number): Estimate => {
    const requests = shown <= ITEMS_OF_FIRST_REQUEST ? 1 : 0;
    return { requests, computeUnits: requests * (computeUnits ?? 0) };
  };
  return html`<div class="stack">
    <${ListHead} list=${collectibles}>
      <${LoadAll} list=${collectibles} what="collectibles" estimate=${estimate} />
      <label class="choice"><input type="checkbox" checked=${includeSpam} onChange=${() => setSpam(includeSpam ? '' : 'shown')} /> Show spam too ${
        includeSpam
          ? html`<span class="quiet">${formatCount(nodes.filter(({ isSpam }) => isSpam).length)} of ${formatCount(nodes.length)} loaded are spam</span>`
          : html`<${PriceTag} of=${['collectibles']} chainIds=${chainIds} />`
      }</label>
    <//>
    <${ListBody} list=${collectibles} what="collectibles" kind="card" empty="No collectible">
      ${[...Map.groupBy(nodes, collectionOf)].map(([key, cards]) => html`<${Collection} key=${key} cards=${cards} onOpen=${setOpen} />`)}
    <//>
    ${opened && html`<${OnChain} chainId=${opened.chainId}><${CollectibleDetails} card=${opened} onClose=${() => setOpen('')} /><//>`}
  </div>`;
};

/** Items are shown by their contracts, in the order in which the list first has each. */
const collectionOf = ({ chainId, contractAddress }: Card): string => `${chainId}:${contractAddress}`;

/** The service sends no names of collections: it is what precedes the number in an item's name. */
const collectionTitle = ({ name, symbol, contractAddress }: Card): string =>
  shorten((name ?? '').replace(/#\s*\S+\s*$/, '').trim()) ||
  shorten(symbol?.trim() ?? '', 30) ||
  shortHex(contractAddress);

const Collection = ({ cards, onOpen }: { cards: readonly Card[]; onOpen: (id: string) => void }) => {
  const [first] = cards;
  if (!first) return null;
  const { chain, chainId, contractAddress, tokenStandardName, symbol } = first;
  // Some items have no name.
  const title = collectionTitle(cards.find(({ name }) => name) ?? first);
  return html`<${OnChain} chainId=${chainId}><section class="stack collection" aria-label=${`Collection ${title}`}>
    <header class="bar">
      <h3>${title}</h3>
      <span class="quiet">${counted(cards.length, 'item', 'items')} loaded</span>
      <span class="tag">${inWords(shorten(chain, 40))}</span>
      ${tokenStandardName && html`<span class="tag">${shorten(tokenStandardName, 20)}</span>`}
      <span class="quiet push">${symbol && html`${shorten(symbol, 20)} `}<${Address} value=${contractAddress} page="token" /></span>
    </header>
    <ul class="cards">${cards.map((card) => html`<${CollectibleCard} key=${card.id} card=${card} onOpen=${() => onOpen(card.id)} />`)}</ul>
  </section><//>`;
};

/** One collectible. All of it is the button that opens the rest. */
const CollectibleCard = ({ card, onOpen }: { card: Card; onOpen: () => void }) => {
  const { balance, lastSalePrice, isSpam } = card;
  return html`<li class="card" data-collectible=${card.id}>
    <${CardPicture} card=${card} />
    <button type="button" class="plain" onClick=${onOpen}><span class="visually-hidden">Details of </span>${cardTitle(card)}</button>
    ${isSpam && html`<p><span class="tag warn">spam</span></p>`}
    ${balance !== '1' && html`<p class="quiet">Holds ${shorten(formatAmount(balance, 0), 40)}</p>`}
    ${lastSalePrice !== null && html`<p class="quiet">Last sale ${shorten(lastSalePrice, 20)} in the service’s unit</p>`}
  </li>`;
};

/** Its name, or its symbol with its token id. */
const cardTitle = ({ name, symbol, tokenId }: Card): string =>
  shorten(name?.trim() ?? '') || `${shorten(symbol?.trim() || 'Token', 30)} #${shortHex(tokenId)}`;

/** Its picture; a drawing made from its contract and token id if it has none. */
const CardPicture = ({ card }: { card: Card }) => {
  const { contractAddress, tokenId, imageUrl } = card;
  const drawn = html`<${Pattern} colours=${contractAddress} shapes=${`${contractAddress}/${tokenId}`} />`;
  return html`<div class="picture"><${Picture} url=${imageUrl} alt=${`Picture of ${cardTitle(card)}`} size=${512} drawn=${drawn} /></div>`;
};

/** What a card leaves out. The list has it already: asking for it again would be another list of the service, at its price. */
const CollectibleDetails = ({ card, onClose }: { card: Card; onClose: () => void }) =>
  html`<${Dialog} title=${cardTitle(card)} onClose=${onClose}>
    <div class="details grid collectible">
      <${CardPicture} card=${card} />
      <div class="stack">
        <${Known} card=${card} />
        ${card.description && html`<p class="description">${shorten(card.description, 3000)}</p>`}
        ${card.metadata && html`<${Traits} metadata=${card.metadata} />`}
      </div>
      <${SpamScore} card=${card} />
    </div>
  <//>`;

const Known = ({ card }: { card: Card }) => {
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

const Traits = ({ metadata }: { metadata: NonNullable<Card['metadata']> }) => {
  const { uri, attributes } = metadata;
  const others = attributes.length - MOST_TRAITS;
  return html`<h3>Traits${attributes.length === 0 && ': none'}</h3>
    <dl class="bar traits">${attributes
      .slice(0, MOST_TRAITS)
      .map(
        ({ key, value }, index) =>
          html`<div key=${index}><dt>${shorten(key || 'unnamed', 60)}</dt><dd>${shorten(value ?? '', 500) || '—'}</dd></div>`,
      )}</dl>
    ${others > 0 && html`<p class="quiet">and ${others} more traits</p>`}
    ${uri && html`<p class="quiet">Metadata: ${shorten(uri, 300)}</p>`}`;
};

type Signal = NonNullable<Card['explanations']>[number];

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

/** The spam score, and the signals that it is the average of. */
const SpamScore = ({ card }: { card: Card }) => {
  const { spamScore, explanations, isSpam } = card;
  const signals = explanations ?? [];
  // Signals without a score or a weight are not part of the average.
  const whole = signals.reduce((sum, { score, weight }) => sum + (score === null ? 0 : (weight ?? 0)), 0);
  const most = Math.max(0, ...signals.map(({ weight }) => weight ?? 0));
  return html`<section class="stack spam" aria-label="Spam score">
    <h3>Spam score${spamScore === null && ': none'}</h3>
    ${spamScore !== null && html`<${Meter} label="Average of its signals" value=${spamScore} most=${100} text=${`${rounded(spamScore)} of 100`} />`}
    <p>${isSpam === null ? 'The service does not say whether it is spam.' : `The service ${isSpam ? 'classifies' : 'does not classify'} it as spam.`} ${spamScore === null ? 'There is no signal to score it by.' : 'Each signal counts by its weight.'}</p>
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
    <span class="points">${points === null ? 'not counted' : `+${rounded(points)}`}</span>
    <span class="quiet">${why}; score ${rounded(score)}, weight ${rounded(weight)}</span>
  </li>`;
};
