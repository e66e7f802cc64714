import { useCallback, useState } from 'preact/hooks';
import {
  type CollectibleCardFragment,
  type CollectiblePartsFragment,
  CollectibleDetails as Operation,
  WalletCollectibles,
} from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import type { Item } from '../api/use-connection.ts';
import { useChains } from '../chain-filter.ts';
import { Address, Dialog, Facts, Hash, html, useNow } from '../components.ts';
import { formatTime, formatUnits, inWords, shorten } from '../format.ts';
import { CollectibleCard, collectibleTitle, SpamScore } from './collectible-card.ts';
import { DetailsState, type Estimate, ListBody, ListHead, LoadAll } from './list.ts';
import { type LoadWalletPage, useDetails, useWalletList } from './use-wallet-list.ts';

const PAGE_SIZE = 24;
/** The size of the first page that the gateway requests; later ones have up to 2,500. Each request costs one CU per chain. */
const ITEMS_OF_FIRST_REQUEST = 250;
/** Used until the gateway has said which chains the service answers for. */
const USUAL_CHAINS = 14;

type Props = { address: string; chainIds: readonly number[] };

/** The number of chains of a request without a filter. */
const useDefaultChains = (): number =>
  useChains().filter(({ tags }) => tags.includes('default')).length || USUAL_CHAINS;

/** The wallet's collectibles, with their pictures. */
export const Collectibles = ({ address, chainIds }: Props) => {
  const [includeSpam, setIncludeSpam] = useState(false);
  const [opened, setOpened] = useState<Item<CollectibleCardFragment> | null>(null);
  const defaultChains = useDefaultChains();
  const load = useCallback<LoadWalletPage<CollectibleCardFragment>>(
    async (first, after, signal) => {
      const variables = { address, first, after, chainIds, includeSpam };
      const { data, problems } = await send(WalletCollectibles, variables, signal);
      return { connection: data?.wallet.collectibles ?? null, problems };
    },
    [address, chainIds, includeSpam],
  );
  const collectibles = useWalletList(PAGE_SIZE, load);
  const { list } = collectibles;
  const now = useNow();

  const estimate = (shown: number): Estimate => {
    const requests = shown < ITEMS_OF_FIRST_REQUEST ? 2 : 1;
    return { requests, computeUnits: requests * (chainIds.length || defaultChains) };
  };
  const close = () => setOpened(null);
  const reload = () => {
    close();
    list.reload();
  };
  return html`<div class="stack">
    <${ListHead} list=${collectibles} now=${now}>
      <${LoadAll} list=${collectibles} what="collectibles" estimate=${estimate} />
      <label class="choice"><input type="checkbox" checked=${includeSpam} onChange=${() => setIncludeSpam(!includeSpam)} /> Show spam too</label>
    <//>
    <${ListBody} list=${list} what="collectibles" kind="card" empty="No collectible on these chains">
      <ul class="cards">
        ${list.items.map((item) => html`<${CollectibleCard} key=${item.node.id} collectible=${item.node} onOpen=${() => setOpened(item)} />`)}
      </ul>
    <//>
    ${opened && html`<${CollectibleDetails} item=${opened} list=${{ address, chainIds, includeSpam }} onClose=${close} onReload=${reload} />`}
  </div>`;
};

const MOST_TRAITS = 100;

const Traits = ({ metadata }: { metadata: NonNullable<CollectiblePartsFragment['metadata']> }) => {
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
    ['Acquired', lastAcquired && formatTime(lastAcquired)],
    ['Last sale', lastSalePrice && `${shorten(lastSalePrice, 40)} in the service’s unit`],
  ]} />`;
};

type CollectibleDetailsProps = {
  item: Item<CollectibleCardFragment>;
  list: { readonly address: string; readonly chainIds: readonly number[]; readonly includeSpam: boolean };
  onClose: () => void;
  onReload: () => void;
};

/** What a card leaves out. It is requested when the card is opened. */
const CollectibleDetails = ({ item, list, onClose, onReload }: CollectibleDetailsProps) => {
  const { node: card, before } = item;
  const { address, chainIds, includeSpam } = list;
  const load = useCallback(
    async (signal: AbortSignal) => {
      const variables = { address, after: before, chainIds, includeSpam };
      const { data, problems } = await send(Operation, variables, signal);
      return { node: data?.wallet.collectibles?.nodes[0] ?? null, problems };
    },
    [address, before, chainIds, includeSpam],
  );
  const [details, retry] = useDetails<CollectiblePartsFragment>(card.id, load);
  return html`<${Dialog} title=${collectibleTitle(card)} onClose=${onClose}>
    <div class="details stack">
      <${Known} card=${card} />
      ${
        details.state === 'loaded'
          ? html`${details.node.description && html`<p class="description">${shorten(details.node.description, 3000)}</p>`}
              ${details.node.metadata && html`<${Traits} metadata=${details.node.metadata} />`}
              <${SpamScore} collectible=${details.node} isSpam=${card.isSpam} />`
          : html`<${DetailsState} details=${details} onRetry=${retry} onReload=${onReload} />`
      }
    </div>
  <//>`;
};
