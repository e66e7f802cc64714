import { graphql } from 'react-relay';
import { formatAmount, formatRatio, formatUsd } from '../format.ts';
import { useLiveQuery } from '../gateway/live.ts';
import type { portfolioQuery } from './__generated__/portfolioQuery.graphql.ts';
import type { ListProps } from './section.tsx';

const QUERY = graphql`
  query portfolioQuery($address: Address!, $chainIds: [ChainId!]) @throwOnFieldError {
    wallet(address: $address) {
      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {
        totalUsd
        isComplete
        change {
          changeRatio
        }
        excluded {
          balances
        }
        unpricedBalances
        top(first: 10) {
          id
          chain
          amount
          valueUsd
          token {
            symbol
            decimals
          }
        }
      }
    }
  }
`;

/** What a wallet is worth, and its largest balances. A delivery changes a balance in Relay's store, and so here. */
export const Portfolio = ({ address, chainIds, attempt }: ListProps) => {
  const { wallet } = useLiveQuery<portfolioQuery>(QUERY, { address, chainIds }, attempt);
  const { totalUsd, isComplete, change, excluded, unpricedBalances, top } = wallet.portfolio;
  const left = excluded.balances + unpricedBalances;
  const [day] = change ?? [];
  return (
    <>
      <p>
        <b>
          {isComplete ? '' : 'at least '}
          {formatUsd(totalUsd)}
        </b>{' '}
        {day?.changeRatio && <>{formatRatio(day.changeRatio)} in a day</>}{' '}
        <span className="quiet">{left > 0 && `without ${left} balances of doubtful or unknown price`}</span>
      </p>
      <ul className="rows">
        {top.map(({ id, chain, amount, valueUsd, token }) => (
          <li key={id} data-amount={amount}>
            <span>
              {formatAmount(amount, token)} <span className="quiet">{chain}</span>
            </span>
            <span className="number">{valueUsd && formatUsd(valueUsd)}</span>
          </li>
        ))}
      </ul>
    </>
  );
};
