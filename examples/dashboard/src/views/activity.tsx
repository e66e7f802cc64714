import { graphql, readInlineData, usePaginationFragment } from 'react-relay';
import { formatAmount, formatTime } from '../format.ts';
import { useLiveQuery } from '../gateway/live.ts';
import type { activity_item$key } from './__generated__/activity_item.graphql.ts';
import type { activity_wallet$key } from './__generated__/activity_wallet.graphql.ts';
import type { activityPageQuery } from './__generated__/activityPageQuery.graphql.ts';
import type { activityQuery } from './__generated__/activityQuery.graphql.ts';
import { LoadMore } from './load-more.tsx';
import type { ListProps } from './section.tsx';
import { What } from './what.tsx';

const QUERY = graphql`
  query activityQuery($address: Address!, $chainIds: [ChainId!]) {
    wallet(address: $address) {
      ...activity_wallet
    }
  }
`;

const FRAGMENT = graphql`
  fragment activity_wallet on Wallet
  @refetchable(queryName: "activityPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }) {
    activity(first: $count, after: $cursor, chainIds: $chainIds) @connection(key: "activity_activity") {
      edges {
        node {
          id
          blockTime
          ...activity_item
        }
      }
    }
  }
`;

const ITEM = graphql`
  fragment activity_item on Activity @inline {
    typeName
    transactionHash
    value
    token {
      symbol
      decimals
    }
    swap {
      from {
        value
        token {
          symbol
          decimals
        }
      }
      to {
        value
        token {
          symbol
          decimals
        }
      }
    }
  }
`;

/** What happened: the same for an item of the list and an event of a delivery. */
export const describeActivity = (item: activity_item$key) => {
  const { typeName, transactionHash, value, token, swap } = readInlineData(ITEM, item);
  const [sold, bought] = [swap?.from, swap?.to];
  const what = swap
    ? `${formatAmount(sold?.value, sold?.token)} for ${formatAmount(bought?.value, bought?.token)}`
    : formatAmount(value, token);
  return { hash: transactionHash, text: `${typeName ?? 'activity'} ${what}` };
};

const Feed = ({ wallet }: { readonly wallet: activity_wallet$key }) => {
  const { data, ...page } = usePaginationFragment<activityPageQuery, activity_wallet$key>(FRAGMENT, wallet);
  const items = data.activity?.edges.flatMap((edge) => edge?.node ?? []) ?? [];
  return (
    <>
      <ul className="rows">
        {items.map((item) => {
          const what = describeActivity(item);
          return (
            <li key={item.id} data-hash={what.hash}>
              <span>
                <What {...what} />
              </span>
              {item.blockTime && <time dateTime={item.blockTime}>{formatTime(item.blockTime)}</time>}
            </li>
          );
        })}
      </ul>
      <LoadMore count={20} {...page} />
    </>
  );
};

/** What a wallet did and what happened to it, newest first, a page at a time. */
export const Activity = ({ address, chainIds, attempt }: ListProps) => {
  const { wallet } = useLiveQuery<activityQuery>(QUERY, { address, chainIds }, attempt);
  return <Feed wallet={wallet} />;
};
