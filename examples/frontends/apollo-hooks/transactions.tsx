import { useQuery } from '@apollo/client/react';
import { codesOf } from 'evm-graphql-gateway/client';
import { useState } from 'react';
import { graphql } from '../__generated__/gql.ts';

const TRANSACTIONS = graphql(`
  query HooksTransactions($address: Address!, $after: String) {
    wallet(address: $address) {
      id
      transactions(first: 20, after: $after) {
        edges { cursor node { id hash blockTime } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);

/** All pages of a wallet's transactions so far, the codes of what has failed, and a function that loads the next page. */
const useTransactions = (address: string) => {
  const { data, error, loading, fetchMore } = useQuery(TRANSACTIONS, {
    variables: { address },
    // A list that fails is null, and the rest of the answer is whole.
    errorPolicy: 'all',
    notifyOnNetworkStatusChange: true,
  });
  const [failed, setFailed] = useState<readonly string[]>([]);
  const list = data?.wallet.transactions;
  const loadMore = async () => {
    const after = list?.pageInfo.endCursor ?? null;
    // A page that fails leaves the pages before it as they are.
    const page = await fetchMore({ variables: { after }, errorPolicy: 'all' });
    setFailed(codesOf(page.error));
  };
  return {
    transactions: list?.edges.flatMap((edge) => edge?.node ?? []) ?? [],
    hasMore: list?.pageInfo.hasNextPage === true,
    codes: [...codesOf(error), ...failed],
    loading,
    loadMore,
  };
};

export const Transactions = ({ address }: { readonly address: string }) => {
  const { transactions, hasMore, codes, loading, loadMore } = useTransactions(address);
  return (
    <section aria-label="Transactions">
      <ul>
        {transactions.map(({ id, hash, blockTime }) => (
          <li key={id} data-hash={hash}>
            <time dateTime={blockTime}>{blockTime}</time> {hash}
          </li>
        ))}
      </ul>
      {codes.length > 0 && <p role="alert">{codes.join(', ')}</p>}
      {hasMore && (
        <button type="button" disabled={loading} onClick={loadMore}>
          Load more
        </button>
      )}
    </section>
  );
};
