import { graphql, readInlineData } from 'react-relay';
import { formatTime, formatUnits, shorten } from '../format.ts';
import type { delivery$data, delivery$key } from './__generated__/delivery.graphql.ts';

// Inline data is a copy: it outlives the records in Relay's store, which keeps no past event.
const FRAGMENT = graphql`
  fragment delivery on WebhookDelivery @inline {
    id
    type
    receivedAt
    events {
      __typename
      ... on TransactionEvent {
        transaction {
          hash
          direction
          value
        }
      }
      ... on Activity {
        typeName
        transactionHash
        value
        token {
          symbol
          decimals
        }
      }
      ... on BalanceChange {
        transactionHash
        amountDelta
        tokenSymbol
        tokenDecimals
      }
    }
  }
`;

export type DeliveryData = delivery$data;

export const readDelivery = (delivery: delivery$key): DeliveryData => readInlineData(FRAGMENT, delivery);

type Event = DeliveryData['events'][number];

const amount = (
  value: string | null | undefined,
  decimals: number | null | undefined,
  symbol: string | null | undefined,
) => (value ? `${formatUnits(value, decimals ?? 0)} ${symbol ?? ''}` : '');

const describe = (event: Event): { readonly hash: string | null | undefined; readonly text: string } => {
  switch (event.__typename) {
    case 'TransactionEvent': {
      const { hash, direction, value } = event.transaction;
      return { hash, text: `${direction === 'SENDER' ? 'sent' : 'received'} ${amount(value, 18, '')}` };
    }
    case 'Activity': {
      const { transactionHash, typeName, value, token } = event;
      return {
        hash: transactionHash,
        text: `${typeName ?? 'activity'} ${amount(value, token?.decimals, token?.symbol)}`,
      };
    }
    case 'BalanceChange': {
      const { transactionHash, amountDelta, tokenDecimals, tokenSymbol } = event;
      return { hash: transactionHash, text: `balance ${amount(amountDelta, tokenDecimals, tokenSymbol)}` };
    }
    default:
      return { hash: null, text: 'an event of a new kind' };
  }
};

/** A delivery with its events. */
export const Delivery = ({ delivery }: { readonly delivery: DeliveryData }) => {
  const { id, receivedAt, events } = delivery;
  return (
    <li data-delivery={id}>
      <time dateTime={receivedAt}>{formatTime(receivedAt)}</time>
      {events.map(describe).map(({ hash, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the events of a delivery never change
        <p key={index} data-hash={hash}>
          {text} {hash && <span className="quiet">{shorten(hash)}</span>}
        </p>
      ))}
    </li>
  );
};
