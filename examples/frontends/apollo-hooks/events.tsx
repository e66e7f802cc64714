import { useQuery, useSubscription } from '@apollo/client/react';
import { codesOf } from 'evm-graphql-gateway/client';
import { useState } from 'react';
import { graphql } from '../__generated__/gql.ts';
import type { HooksDeliveriesSubscription } from '../__generated__/graphql.ts';

const HEAD = graphql(`
  query HooksHead($address: Address!) {
    deliveries(last: 20, filter: { address: $address }) { head nodes { id type receivedAt } }
  }
`);

const DELIVERIES = graphql(`
  subscription HooksDeliveries($address: Address!, $after: String!) {
    deliveries(after: $after, filter: { address: $address }) { cursor node { id type receivedAt } }
  }
`);

type Delivery = HooksDeliveriesSubscription['deliveries']['node'];

/** The newest deliveries that concern a wallet, newest first, and each later one as it arrives. */
const useDeliveries = (address: string) => {
  const { data, error, refetch } = useQuery(HEAD, {
    variables: { address },
    fetchPolicy: 'no-cache',
  });
  const [arrived, setArrived] = useState<readonly Delivery[]>([]);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const after = data?.deliveries?.head;
  useSubscription(DELIVERIES, {
    // `after` stays as it is: the socket continues after the last cursor by itself.
    variables: { address, after: after ?? '' },
    skip: after === undefined,
    fetchPolicy: 'no-cache',
    // Not `data`, which is only the newest: React may render once for two events.
    onData: ({ data: { data: event } }) => {
      if (event) setArrived((before) => [event.deliveries.node, ...before].slice(0, 50));
    },
    onError: (reason) => {
      if (!codesOf(reason).includes('CURSOR_EXPIRED')) return setCodes(codesOf(reason));
      setArrived([]);
      void refetch();
    },
  });
  const stored = data?.deliveries?.nodes.filter((node) => node !== null).toReversed() ?? [];
  return { deliveries: [...arrived, ...stored], codes: [...codesOf(error), ...codes] };
};

export const Events = ({ address }: { readonly address: string }) => {
  const { deliveries, codes } = useDeliveries(address);
  return (
    <section aria-label="Events">
      <ol>
        {deliveries.map(({ id, type, receivedAt }) => (
          <li key={id} data-delivery={id}>
            <time dateTime={receivedAt}>{receivedAt}</time> {type}
          </li>
        ))}
      </ol>
      {codes.length > 0 && <p role="alert">{codes.join(', ')}</p>}
    </section>
  );
};
