import { useCallback } from 'preact/hooks';
import { type TransactionRowFragment, WalletTransactions } from '../../__generated__/operations.ts';
import { send } from '../../api/client.ts';
import { useNow } from '../../components/use-now.ts';
import { html } from '../../html.ts';
import { ListBody } from '../list/list-body.ts';
import { ListHead } from '../list/list-head.ts';
import { type Estimate, LoadAll } from '../list/load-all.ts';
import { type LoadWalletPage, useWalletList } from '../list/use-wallet-list.ts';
import { TransactionRow } from './transaction-row.ts';

const PAGE_SIZE = 25;
/** The service sends so many at once, for one CU. */
const ITEMS_OF_A_REQUEST = 100;

const estimate = (shown: number, wanted: number): Estimate => {
  const requests = Math.ceil((wanted - shown) / ITEMS_OF_A_REQUEST);
  return { requests, computeUnits: requests };
};

type Props = { address: string; chainIds: readonly number[] };

/** The wallet's transactions, newest first. */
export const Transactions = ({ address, chainIds }: Props) => {
  const load = useCallback<LoadWalletPage<TransactionRowFragment>>(
    async (first, after, signal) => {
      const { data, problems } = await send(WalletTransactions, { address, first, after, chainIds }, signal);
      return { connection: data?.wallet.transactions ?? null, problems };
    },
    [address, chainIds],
  );
  const transactions = useWalletList(PAGE_SIZE, load);
  const { list } = transactions;
  const now = useNow();
  return html`<div class="stack">
    <${ListHead} list=${transactions} now=${now}>
      <${LoadAll} list=${transactions} what="transactions" estimate=${estimate} />
    <//>
    <${ListBody} list=${list} what="transactions" kind="row" empty="No transaction on these chains">
      <ul class="rows">
        ${list.items.map((item) => html`<${TransactionRow} key=${item.node.id} item=${item} address=${address} chainIds=${chainIds} now=${now} onReload=${list.reload} />`)}
      </ul>
    <//>
  </div>`;
};
