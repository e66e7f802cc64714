import { createRefetching } from 'evm-graphql-gateway/client';
import { useEffect } from 'react';
import { fetchQuery, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import type { GraphQLTaggedNode, OperationType } from 'relay-runtime';

const refetches = new Set<() => Promise<unknown>>();

// All views at once, after the events of a second, and at most every ten seconds.
const refetching = createRefetching(() => Promise.allSettled([...refetches].map((refetch) => refetch())), {
  waitMs: 1000,
  everyMs: 10_000,
});

/** Says that an event has arrived: what the page shows is fetched again. */
export const changed = (): void => refetching.changed('wallet');

/** A query that is fetched again after events. Relay's store gives the new answer to all that show it. */
export const useLiveQuery = <Query extends OperationType>(
  query: GraphQLTaggedNode,
  variables: Query['variables'],
  fetchKey: number,
): Query['response'] => {
  const environment = useRelayEnvironment();
  // The variables are the wallet of the page, which begins anew with another one.
  useEffect(() => {
    const refetch = () => fetchQuery<Query>(environment, query, variables).toPromise();
    refetches.add(refetch);
    return () => {
      refetches.delete(refetch);
    };
  }, [environment, query, variables]);
  return useLazyLoadQuery<Query>(query, variables, { fetchKey });
};
