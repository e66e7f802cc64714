import { useCallback } from 'preact/hooks';
import { type CollectibleCardFragment, WalletCollectibles } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import type { PagedState } from '../api/use-connection.ts';
import { useChainCount } from '../chain-filter.ts';
import { Address, Dialog, Facts, Hash, html, Time, useNow } from '../components.ts';
import { formatUnits, inWords, shorten } from '../format.ts';
import { createMemory, useParam } from '../route.ts';
import { CollectibleCard, collectibleTitle, SpamScore } from './collectible-card.ts';
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
      <ul class="cards">
        ${list.items.map((item) => html`<${CollectibleCard} key=${item.node.id} collectible=${item.node} onOpen=${() => setOpen(item.node.id)} />`)}
      </ul>
    <//>
    ${opened && html`<${CollectibleDetails} card=${opened.node} onClose=${() => setOpen('')} />`}
  </div>`;
};

const MOST_TRAITS = 100;

const Traits = ({ metadata }: { metadata: NonNullable<CollectibleCardFragment['metadata']> }) => {
  const { uri, attributes } = metadata;
  const others = attributes.length - MOST_TRAITS;
  return html`<h3>Traits${attributes.length === 0 && ': none'}</h3>
    <${Facts} facts=${attributes
      .slice(0, MOST_TRAITS)
      .map(({ key, value }) => [shorten(key || 'unnamed', 60), shorten(value ?? '', 500) || '—'])} />
    ${others > 0 && html`<p class="quiet">and ${others} more traits</p>`}
    ${uri && html`<p class="quiet">Metadata: ${shorten(uri, 300)}</p>`}`;
};

const Known = ({ card }: { card: CollectibleCardFragment }) => {
  const { chain, contractAddress, tokenId, balance, lastAcquired, lastSalePrice } = card;
  return html`<${Facts} facts=${[
    ['Chain', inWords(shorten(chain, 40))],
    ['Contract', html`<${Address} value=${contractAddress} />`],
    ['Token id', html`<${Hash} value=${tokenId} label="token id" />`],
    ['Amount', formatUnits(balance, 0)],
    ['Acquired', lastAcquired && html`<${Time} value=${lastAcquired} />`],
    ['Last sale', lastSalePrice && `${shorten(lastSalePrice, 40)} in the service’s unit`],
  ]} />`;
};

type CollectibleDetailsProps = { card: CollectibleCardFragment; onClose: () => void };

/** What a card leaves out. The list has it already: asking for it again would be another list of the service, at its price. */
const CollectibleDetails = ({ card, onClose }: CollectibleDetailsProps) =>
  html`<${Dialog} title=${collectibleTitle(card)} onClose=${onClose}>
    <div class="details stack">
      <${Known} card=${card} />
      ${card.description && html`<p class="description">${shorten(card.description, 3000)}</p>`}
      ${card.metadata && html`<${Traits} metadata=${card.metadata} />`}
      <${SpamScore} collectible=${card} />
    </div>
  <//>`;
