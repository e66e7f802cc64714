import { type DeliveryEvent, readActivity, readBalanceChange, readTransactionEvent } from './events.ts';
import { addressOf, isObject, type RawObject, smallIntegerOf } from './fields.ts';
import type { DeliveryType } from './log.ts';

type Kind = {
  readonly type: DeliveryType;
  readonly key: string;
  readonly read: (raw: RawObject, chainId: number | null) => DeliveryEvent;
  /** The fields that hold an address by which somebody would look the event up. */
  readonly addressFields: readonly string[];
};

const KINDS: readonly Kind[] = [
  {
    type: 'transactions',
    key: 'transactions',
    read: readTransactionEvent,
    addressFields: ['address', 'from', 'to'],
  },
  {
    type: 'activities',
    key: 'activities',
    read: readActivity,
    addressFields: ['tx_from', 'tx_to', 'from', 'to', 'spender', 'token_address'],
  },
  {
    type: 'balances',
    key: 'balance_changes',
    read: readBalanceChange,
    addressFields: ['subscribed_address', 'counterparty_address', 'token_address'],
  },
];

/** What a body says of itself, as far as it is understood. */
export type BodySummary = {
  readonly type: DeliveryType | null;
  /** The chain of its items; null when they name none, or several. */
  readonly chainId: number | null;
  /**
   * Lower case, each once: senders and receivers, the subscribed address, counterparties, spenders, and the contracts
   * of the tokens moved. Not those in logs or call data.
   */
  readonly addresses: readonly string[];
};

/** `body` as `parseBody` gives it. Nothing in it is required. */
export function summarize(body: unknown): BodySummary {
  const items = itemsOf(body);
  const chainIds = new Set(items.map(({ raw }) => smallIntegerOf(raw.chain_id)));
  const [chainId = null] = chainIds;
  const addresses = new Set<string>();
  for (const { kind, raw } of items) {
    const places = isObject(raw.asset) ? [raw, raw.asset] : [raw];
    for (const field of kind.addressFields) {
      for (const place of places) {
        const address = addressOf(place[field]);
        if (address !== null) addresses.add(address);
      }
    }
  }
  return {
    type: KINDS.find(({ key }) => isObject(body) && Array.isArray(body[key]))?.type ?? null,
    chainId: chainIds.size === 1 ? chainId : null,
    addresses: [...addresses],
  };
}

/** More than any block has; a body of five megabytes could hold a million. */
const MAX_EVENTS = 10_000;

/**
 * The events of a stored body, in its order. An item that is no object is left out, and so is what is beyond the first
 * 10,000; a body of an unknown shape has none. Integers beyond 2^53 are decimal strings.
 */
export const eventsIn = (body: unknown, chainId: number | null): readonly DeliveryEvent[] =>
  itemsOf(body)
    .slice(0, MAX_EVENTS)
    .map(({ kind, raw }) => kind.read(raw, chainId));

/** By the body's keys alone: a header may be wrong about the shape. */
function itemsOf(body: unknown): { kind: Kind; raw: RawObject }[] {
  if (!isObject(body)) return [];
  return KINDS.flatMap((kind) => {
    const list = body[kind.key];
    return Array.isArray(list) ? list.filter(isObject).map((raw) => ({ kind, raw })) : [];
  });
}
