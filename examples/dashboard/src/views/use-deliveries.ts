import { follow } from 'evm-graphql-gateway/client';
import { useEffect, useState } from 'react';
import { fetchQuery, graphql, requestSubscription, useRelayEnvironment } from 'react-relay';
import { type GatewayError, toGatewayError } from '../gateway/faults.ts';
import { changed } from '../gateway/live.ts';
import type { useDeliveriesQuery } from './__generated__/useDeliveriesQuery.graphql.ts';
import type { useDeliveriesSubscription } from './__generated__/useDeliveriesSubscription.graphql.ts';
import { type DeliveryData, readDelivery } from './delivery.tsx';
import { prependActivities } from './prepend.ts';
import type { ListProps } from './section.tsx';

const QUERY = graphql`
  query useDeliveriesQuery($address: Address!) {
    deliveries(last: 20, filter: { address: $address }) {
      head
      nodes {
        ...delivery
      }
    }
  }
`;

const SUBSCRIPTION = graphql`
  subscription useDeliveriesSubscription($address: Address!, $after: String!) {
    deliveries(after: $after, filter: { address: $address }) {
      cursor
      node {
        ...delivery
      }
    }
  }
`;

/** The page shows the newest deliveries. The gateway's log has all of them. */
const MAX_SHOWN = 50;

type Wallet = Pick<ListProps, 'address' | 'chainIds'>;

type State = {
  /** The newest first. Null until they are read. */
  readonly deliveries: readonly DeliveryData[] | null;
  /** Why no more deliveries arrive. */
  readonly failure: GatewayError | null;
};

/** Reads the newest deliveries that concern a wallet, and adds each later one as it arrives: once, in order, also after a break. */
export const useDeliveries = ({ address, chainIds }: Wallet): State => {
  const environment = useRelayEnvironment();
  const [state, setState] = useState<State>({ deliveries: null, failure: null });

  useEffect(() => {
    const read = async () => {
      const answer = await fetchQuery<useDeliveriesQuery>(environment, QUERY, { address }).toPromise();
      if (!answer?.deliveries) throw new Error('Expected the deliveries, got nothing.');
      const nodes = answer.deliveries.nodes.flatMap((node) => (node ? [readDelivery(node)] : []));
      setState({ deliveries: nodes.reverse(), failure: null });
      return answer.deliveries.head;
    };

    // `after` stays as it is: the socket continues after the last cursor by itself.
    const subscribe = (after: string, failed: (reason: unknown) => void) =>
      requestSubscription<useDeliveriesSubscription>(environment, {
        subscription: SUBSCRIPTION,
        variables: { address, after },
        updater: (store) => prependActivities(store, { address, chainIds }),
        onNext(answer) {
          if (!answer) return;
          const arrived = readDelivery(answer.deliveries.node);
          setState(({ deliveries, failure }) => ({
            deliveries: [arrived, ...(deliveries ?? [])].slice(0, MAX_SHOWN),
            failure,
          }));
          changed();
        },
        onError: failed,
      }).dispose;

    // Where the log can't continue without a gap, it reads again what the page shows.
    return follow({
      read,
      subscribe,
      failed: (reason) => setState((last) => ({ ...last, failure: toGatewayError(reason) })),
    });
  }, [environment, address, chainIds]);

  return state;
};
