import { useCallback, useState } from 'preact/hooks';
import { type CollectibleCardFragment, WalletCollectibles } from '../../__generated__/operations.ts';
import { send } from '../../api/client.ts';
import type { Item } from '../../api/use-connection.ts';
import { useChains } from '../../components/chain-filter.ts';
import { useNow } from '../../components/use-now.ts';
import { html } from '../../html.ts';
import { ListBody } from '../list/list-body.ts';
import { ListHead } from '../list/list-head.ts';
import { type Estimate, LoadAll } from '../list/load-all.ts';
import { type LoadWalletPage, useWalletList } from '../list/use-wallet-list.ts';
import { CollectibleCard } from './collectible-card.ts';
import { CollectibleDetails } from './collectible-details.ts';

const PAGE_SIZE = 24;
/** The gateway asks for so many first, and for up to 2,500 behind them. Each request costs one CU per chain. */
const ITEMS_OF_FIRST_REQUEST = 250;
/** Until the gateway has said which chains the service answers for. */
const USUAL_CHAINS = 14;

type Props = { address: string; chainIds: readonly number[] };

/** How many chains a request without a filter is about. */
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
