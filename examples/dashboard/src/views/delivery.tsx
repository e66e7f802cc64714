import { graphql, readInlineData } from 'react-relay';
import { formatAmount, formatTime } from '../format.ts';
import type { delivery$data, delivery$key } from './__generated__/delivery.graphql.ts';
import { describeActivity } from './activity.tsx';
import type { NativeOf } from './natives.ts';
import { What } from './what.tsx';

// Inline data is a copy: it outlives the records in Relay's store, which keeps no past event.
const FRAGMENT = graphql`
  fragment delivery on WebhookDelivery @inline {
    id
    type
    receivedAt
    # A delivery may have events of other wallets, too.
    events(address: $address) {
      __typename
      ... on TransactionEvent {
        transaction {
          hash
          chainId
          direction
          value
        }
      }
      ... on Activity {
        # What the list of activity shows, too.
        id
        chainId
        blockTime
        ...activity_item @alias(as: "item")
      }
      ... on BalanceChange {
        transactionHash
        amountDelta
        tokenSymbol
        tokenDecimals
        # The balance after the change, with the id that it has in the portfolio: Relay's store takes it from here.
        balance {
          id
          amount
          valueUsd
        }
      }
    }
  }
`;

export type DeliveryData = delivery$data;

export const readDelivery = (delivery: delivery$key): DeliveryData => readInlineData(FRAGMENT, delivery);

type Event = DeliveryData['events'][number];

const describe = (event: Event, nativeOf: NativeOf): Parameters<typeof What>[0] => {
  switch (event.__typename) {
    case 'TransactionEvent': {
      const { hash, chainId, direction, value } = event.transaction;
      const amount = formatAmount(value, nativeOf(chainId));
      const text = `${direction === 'SENDER' ? 'sent' : 'received'} ${amount}`;
      return { hash, text };
    }
    case 'Activity':
      return event.item ? describeActivity(event.item) : { hash: null, text: 'activity' };
    case 'BalanceChange': {
      const { transactionHash, amountDelta, tokenDecimals, tokenSymbol } = event;
      const change = formatAmount(amountDelta, { decimals: tokenDecimals, symbol: tokenSymbol });
      return { hash: transactionHash, text: `balance ${change}` };
    }
    default:
      return { hash: null, text: 'an event of a new kind' };
  }
};

type Props = { readonly delivery: DeliveryData; readonly nativeOf: NativeOf };

/** A delivery with its events. */
export const Delivery = ({ delivery, nativeOf }: Props) => {
  const { id, receivedAt, events } = delivery;
  return (
    <li data-delivery={id}>
      <time dateTime={receivedAt}>{formatTime(receivedAt)}</time>
      {events
        .map((event) => describe(event, nativeOf))
        .map((what, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the events of a delivery never change
          <p key={index} data-hash={what.hash}>
            <What {...what} />
          </p>
        ))}
    </li>
  );
};
