import type { Client } from '@urql/core';
import { codesOf } from 'evm-graphql-gateway/client';
import { graphql } from '../__generated__/gql.ts';
import type { UrqlPortfolioQuery, UrqlPortfolioQueryVariables } from '../__generated__/graphql.ts';

const PORTFOLIO = graphql(`
  query UrqlPortfolio($address: Address!, $chainIds: [ChainId!]) {
    deliveries(last: 0) { head }
    wallet(address: $address) {
      id
      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {
        totalUsd
        isComplete
        change { changeUsd changeRatio }
        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }
      }
    }
  }
`);

const BALANCE_CHANGES = graphql(`
  subscription UrqlBalanceChanges($address: Address!, $after: String!) {
    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {
      cursor
      node { id events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }
    }
  }
`);

type Portfolio = UrqlPortfolioQuery['wallet']['portfolio'];

/** Shows a portfolio, and its balances as they change: a delivery has them, so nothing is requested. */
export const openPortfolio = async (
  client: Client,
  variables: UrqlPortfolioQueryVariables,
  show: (portfolio: Portfolio, codes: readonly string[]) => void,
) => {
  const { data, error } = await client.query(PORTFOLIO, variables, { requestPolicy: 'network-only' });
  let portfolio = data?.wallet.portfolio ?? null;
  show(portfolio, codesOf(error));
  if (!data?.deliveries) return () => {};

  const shown = client
    .query(PORTFOLIO, variables, { requestPolicy: 'cache-only' })
    .subscribe(({ data: kept }) => {
      portfolio = kept?.wallet.portfolio ?? portfolio;
      show(portfolio, []);
    });
  // The balance's id is that of the portfolio's, so Graphcache updates it.
  const changes = client
    .subscription(BALANCE_CHANGES, { address: variables.address, after: data.deliveries.head })
    .subscribe(({ error: reason }) => {
      if (reason) show(portfolio, codesOf(reason));
    });
  return () => {
    shown.unsubscribe();
    changes.unsubscribe();
  };
};
