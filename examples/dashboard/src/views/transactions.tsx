import { graphql, usePaginationFragment } from 'react-relay';
import { formatAmount, formatTime, shorten } from '../format.ts';
import { useLiveQuery } from '../gateway/live.ts';
import type { transactions_wallet$key } from './__generated__/transactions_wallet.graphql.ts';
import type { transactionsPageQuery } from './__generated__/transactionsPageQuery.graphql.ts';
import type { transactionsQuery } from './__generated__/transactionsQuery.graphql.ts';
import { LoadMore } from './load-more.tsx';
import { useNatives } from './natives.ts';
import type { ListProps } from './section.tsx';

const QUERY = graphql`
  query transactionsQuery($address: Address!, $chainIds: [ChainId!]) {
    wallet(address: $address) {
      ...transactions_wallet
    }
  }
`;

const FRAGMENT = graphql`
  fragment transactions_wallet on Wallet
  @refetchable(queryName: "transactionsPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }) {
    transactions(first: $count, after: $cursor, chainIds: $chainIds) @connection(key: "transactions_transactions") {
      edges {
        node {
          id
          chain
          chainId
          hash
          blockTime
          from
          to
          value
        }
      }
    }
  }
`;

const List = ({ wallet }: { readonly wallet: transactions_wallet$key }) => {
  const { data, ...page } = usePaginationFragment<transactionsPageQuery, transactions_wallet$key>(
    FRAGMENT,
    wallet,
  );
  const nativeOf = useNatives();
  // An item that the gateway can't parse has no edge. The others are whole.
  const transactions = data.transactions?.edges.flatMap((edge) => edge?.node ?? []) ?? [];
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>Time</th>
            <th>Chain</th>
            <th>Transaction</th>
            <th>From</th>
            <th>To</th>
            <th className="number">Value</th>
          </tr>
        </thead>
        <tbody>
          {transactions.map(({ id, blockTime, chain, chainId, hash, from, to, value }) => (
            <tr key={id} data-hash={hash}>
              <td>{formatTime(blockTime)}</td>
              <td>{chain}</td>
              <td title={hash}>{shorten(hash)}</td>
              <td title={from}>{shorten(from)}</td>
              <td title={to ?? ''}>{to ? shorten(to) : 'new contract'}</td>
              <td className="number">{formatAmount(value, nativeOf(chainId)) || '?'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <LoadMore count={20} {...page} />
    </>
  );
};

/** A wallet's transactions, newest first, a page at a time. */
export const Transactions = ({ address, chainIds, attempt }: ListProps) => {
  const { wallet } = useLiveQuery<transactionsQuery>(QUERY, { address, chainIds }, attempt);
  return <List wallet={wallet} />;
};
