import { useCallback } from 'preact/hooks';
import { type CollectibleCardFragment, WalletCollectibles } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import type { PagedState } from '../api/use-connection.ts';
import { useChainCount } from '../chain-filter.ts';
import { Address, html, useNow } from '../components.ts';
import { counted, formatUnits, inWords, shorten, shortHex } from '../format.ts';
import { createMemory, useParam } from '../route.ts';
import { CollectibleDetails, CollectiblePicture, collectibleTitle } from './collectible-details.ts';
import { type Estimate, ListBody, ListHead, LoadAll } from './list.ts';
import { type LoadWalletPage, useWalletList } from './use-wallet-list.ts';

const PAGE_SIZE = 24;
/** The size of the first page that the gateway requests; later ones have up to 2,500. Each request costs one CU per chain. */
const ITEMS_OF_FIRST_REQUEST = 250;

type Props = { address: string; chainIds: readonly number[] };

const memory = createMemory<PagedState<CollectibleCardFragment>>();

/** The wallet's collectibles, with their pictures. */
export const Collectibles = ({ address, chainIds }: Props) => {
  const [spam, setSpam] = useParam('spam');
  const includeSpam = spam === 'shown';
  const [open, setOpen] = useParam('open');
  const chains = useChainCount(chainIds);
  const load = useCallback<LoadWalletPage<CollectibleCardFragment>>(
    async (first, after, signal) => {
      const variables = { address, first, after, chainIds, includeSpam };
      const { data, problems } = await send(WalletCollectibles, variables, signal);
      return { connection: data?.wallet.collectibles ?? null, problems };
    },
    [address, chainIds, includeSpam],
  );
  const name = `collectibles ${address} ${chainIds} ${includeSpam}`;
  const collectibles = useWalletList(PAGE_SIZE, load, { memory, name });
  const { list } = collectibles;
  const opened = list.items.find(({ node }) => node.id === open);
  const now = useNow();

  const estimate = (shown: number): Estimate => {
    const requests = shown <= ITEMS_OF_FIRST_REQUEST ? 1 : 0;
    return { requests, computeUnits: requests * chains };
  };
  return html`<div class="stack">
    <${ListHead} list=${collectibles} now=${now}>
      <${LoadAll} list=${collectibles} what="collectibles" estimate=${estimate} />
      <label class="choice"><input type="checkbox" checked=${includeSpam} onChange=${() => setSpam(includeSpam ? '' : 'shown')} /> Show spam too</label>
    <//>
    <${ListBody} list=${list} what="collectibles" kind="card" empty="No collectible on these chains">
      ${collectionsOf(list.items.map(({ node }) => node)).map((cards) => html`<${Collection} key=${keyOf(cards[0])} cards=${cards} onOpen=${setOpen} />`)}
    <//>
    ${opened && html`<${CollectibleDetails} card=${opened.node} onClose=${() => setOpen('')} />`}
  </div>`;
};

type Card = CollectibleCardFragment;
type Cards = readonly [Card, ...Card[]];

const keyOf = ({ chainId, contractAddress }: Card): string => `${chainId}:${contractAddress}`;

/** The loaded items by their contracts, in the order in which the list first has each. */
const collectionsOf = (cards: readonly Card[]): readonly Cards[] => {
  const collections = new Map<string, [Card, ...Card[]]>();
  for (const card of cards) {
    const known = collections.get(keyOf(card));
    if (known) known.push(card);
    else collections.set(keyOf(card), [card]);
  }
  return [...collections.values()];
};

/** The service sends no names of collections: it is what precedes the number in an item's name. */
const collectionTitle = ({ name, symbol, contractAddress }: Card): string =>
  shorten((name ?? '').replace(/#\s*\S+\s*$/, '').trim()) ||
  shorten(symbol?.trim() ?? '', 30) ||
  shortHex(contractAddress);

const Collection = ({ cards, onOpen }: { cards: Cards; onOpen: (id: string) => void }) => {
  const [first] = cards;
  const { chain, contractAddress, tokenStandardName, symbol } = first;
  // Some items have no name.
  const title = collectionTitle(cards.find(({ name }) => name) ?? first);
  return html`<section class="stack collection" aria-label=${`Collection ${title}`}>
    <header class="bar">
      <h3>${title}</h3>
      <span class="quiet">${counted(cards.length, 'item', 'items')} loaded</span>
      <span class="tag">${inWords(shorten(chain, 40))}</span>
      ${tokenStandardName && html`<span class="tag">${shorten(tokenStandardName, 20)}</span>`}
      <span class="quiet push">${symbol && html`${shorten(symbol, 20)} `}<${Address} value=${contractAddress} /></span>
    </header>
    <ul class="cards">${cards.map((card) => html`<${CollectibleCard} key=${card.id} card=${card} onOpen=${() => onOpen(card.id)} />`)}</ul>
  </section>`;
};

/** One collectible. All of it is the button that opens the rest. */
const CollectibleCard = ({ card, onOpen }: { card: Card; onOpen: () => void }) => {
  const { balance, lastSalePrice, isSpam } = card;
  return html`<li class="card" data-collectible=${card.id}>
    <${CollectiblePicture} card=${card} />
    <button type="button" class="plain more" onClick=${onOpen}><span class="visually-hidden">Details of </span>${collectibleTitle(card)}</button>
    ${isSpam && html`<p class="tags"><span class="tag is-warn">spam</span></p>`}
    ${balance !== '1' && html`<p class="quiet">Holds ${shorten(formatUnits(balance, 0), 40)}</p>`}
    ${lastSalePrice !== null && html`<p class="quiet">Last sale ${shorten(lastSalePrice, 20)}</p>`}
  </li>`;
};
