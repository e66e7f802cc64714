import { formatAmount } from 'evm-graphql-gateway/client';
import { type CollectibleCardFragment, WalletCollectibles } from '../__generated__/operations.ts';
import { OnChain } from '../chains.ts';
import { Address, html } from '../components.ts';
import { usePrice } from '../cost/prices.ts';
import { counted, inWords, shorten, shortHex } from '../format.ts';
import { useParam } from '../route.ts';
import { CollectibleDetails, CollectiblePicture, collectibleTitle } from './collectible-details.ts';
import { type Estimate, ListBody, ListHead, LoadAll } from './list.ts';
import { type PanelProps, useWalletList, walletList } from './use-wallet-list.ts';

/** The size of the first page that the gateway requests; later ones have up to 2,500. Each request costs one CU per chain. */
const ITEMS_OF_FIRST_REQUEST = 250;

const COLLECTIBLES = walletList({
  pageSize: 24,
  operation: WalletCollectibles,
  pageIn: ({ wallet }) => wallet.collectibles,
});

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
      <label class="choice"><input type="checkbox" checked=${includeSpam} onChange=${() => setSpam(includeSpam ? '' : 'shown')} /> Show spam too</label>
    <//>
    <${ListBody} list=${collectibles} what="collectibles" kind="card" empty="No collectible">
      ${[...Map.groupBy(nodes, collectionOf)].map(([key, cards]) => html`<${Collection} key=${key} cards=${cards} onOpen=${setOpen} />`)}
    <//>
    ${opened && html`<${OnChain} chainId=${opened.chainId}><${CollectibleDetails} card=${opened} onClose=${() => setOpen('')} /><//>`}
  </div>`;
};

type Card = CollectibleCardFragment;

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
    <${CollectiblePicture} card=${card} />
    <button type="button" class="plain" onClick=${onOpen}><span class="visually-hidden">Details of </span>${collectibleTitle(card)}</button>
    ${isSpam && html`<p class="tags"><span class="tag warn">spam</span></p>`}
    ${balance !== '1' && html`<p class="quiet">Holds ${shorten(formatAmount(balance, 0), 40)}</p>`}
    ${lastSalePrice !== null && html`<p class="quiet">Last sale ${shorten(lastSalePrice, 20)}</p>`}
  </li>`;
};
