import type { ApolloClient } from '@apollo/client';
import { codesOf } from 'evm-graphql-gateway/client';
import { graphql } from '../__generated__/gql.ts';
import type { ApolloPortfolioQuery, ApolloPortfolioQueryVariables } from '../__generated__/graphql.ts';

const PORTFOLIO = graphql(`
  query ApolloPortfolio($address: Address!, $chainIds: [ChainId!]) {
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
  subscription ApolloBalanceChanges($address: Address!, $after: String!) {
    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {
      cursor
      node { events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }
    }
  }
`);

type Portfolio = ApolloPortfolioQuery['wallet']['portfolio'];

/** Shows a portfolio, and its balances as they change: a delivery has them, so nothing is requested. */
export const openPortfolio = async (
  client: ApolloClient,
  variables: ApolloPortfolioQueryVariables,
  show: (portfolio: Portfolio, codes: readonly string[]) => void,
) => {
  const options = { query: PORTFOLIO, variables };
  const { data, error } = await client.query({
    ...options,
    fetchPolicy: 'network-only',
    errorPolicy: 'all',
  });
  const portfolio = () => client.readQuery(options)?.wallet.portfolio ?? data?.wallet.portfolio ?? null;
  show(portfolio(), codesOf(error));
  if (!data?.deliveries) return () => {};

  const { address } = variables;
  const after = data.deliveries.head;
  const shown = client
    .watchQuery({ ...options, fetchPolicy: 'cache-only' })
    .subscribe(() => show(portfolio(), []));
  // The balance's id is that of the portfolio's, so Apollo's cache updates it. Without the delivery's id it keeps no past event.
  const changes = client
    .subscribe({ query: BALANCE_CHANGES, variables: { address, after } })
    .subscribe(({ error: reason }) => {
      if (reason) show(portfolio(), codesOf(reason));
    });
  return () => {
    shown.unsubscribe();
    changes.unsubscribe();
  };
};
