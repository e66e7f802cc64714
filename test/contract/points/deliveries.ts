import type { Delivery } from '../deliveries.ts';
import { differs, expecting, type Finding, membersOf, note, Skipped } from '../finding.ts';
import type { Point } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  amount,
  both,
  bytes,
  decimal,
  flag,
  integer,
  is,
  judge,
  listOf,
  mixedAddress,
  number,
  oneOf,
  openSet,
  quantity,
  record,
  type Shape,
  someNumber,
  text,
} from '../shape.ts';
import { create, WEBHOOK_TYPES, type WebhookType } from '../webhooks.ts';
import { activityItem, assetMetadata, assetType, calledFunction } from './activity.ts';
import { transactionFields } from './transactions.ts';

const transaction = record(
  {
    ...transactionFields,
    chain_id: integer,
    block_number: integer,
    index: integer,
    transaction_type: oneOf('Sender', 'Receiver'),
    success: flag,
  },
  {
    to: mixedAddress,
    gas_used: someNumber,
    effective_gas_price: quantity,
    fee: quantity,
    created_contract: mixedAddress,
  },
);

const activity = both(
  activityItem,
  record(
    {},
    {
      tx_from: mixedAddress,
      tx_to: mixedAddress,
      tx_value: decimal,
      subscribed_address: mixedAddress,
      asset_type: assetType,
      value: amount,
      spender: mixedAddress,
      call_type: openSet('incoming', 'outgoing'),
      data: bytes,
      from_token_address: text,
      from_token_value: amount,
      from_token_metadata: assetMetadata,
      to_token_address: text,
      to_token_value: amount,
      to_token_metadata: assetMetadata,
      function: calledFunction,
    },
  ),
);

const signed = is('a decimal text', (value) => typeof value === 'string' && /^-?\d+$/.test(value));
const asset = record(
  {},
  {
    token_address: mixedAddress,
    asset_type: assetType,
    id: decimal,
    symbol: text,
    name: text,
    decimals: integer,
    low_liquidity: flag,
    pool_size_usd: number,
    token_metadata: record({}, { logo: text }),
  },
);
const balanceChange = record(
  {
    amount_delta: signed,
    asset,
    subscribed_address: mixedAddress,
    direction: openSet('in', 'out'),
    transaction_hash: text,
  },
  {
    // Null where the service does not know it.
    amount_before: amount,
    amount_after: amount,
    is_current: flag,
    counterparty_address: mixedAddress,
    price_usd: number,
    value_before_usd: number,
    value_after_usd: number,
    value_delta_usd: number,
  },
);

/** What a delivery of each type holds. */
const BODIES: Readonly<Record<WebhookType, readonly [member: string, item: Shape]>> = {
  transactions: ['transactions', transaction],
  activities: ['activities', activity],
  balances: ['balance_changes', balanceChange],
};

/** What this project's own service says beside the items of a body. */
const BESIDE_ITEMS = { delivery_id: text, omitted: listOf(text) };

/** How long an event may take to happen. */
const WITHIN_MS = 15_000;

const parsed = ({ text: body }: Delivery): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** The value of the header whose name, behind the prefix of a deployment, is this. */
const header = ({ headers }: Delivery, name: string): string | undefined =>
  Object.entries(headers).find(([each]) => each.endsWith(`-webhook-${name}`))?.[1];

/** Headers may be missing; those that are there are right. */
const headersOf = (delivery: Delivery, type: WebhookType, id: string): readonly Finding[] => {
  const rules: readonly (readonly [name: string, isRight: (value: string) => boolean])[] = [
    ['id', (value) => value === id],
    ['type', (value) => value === type],
    ['chain-id', (value) => /^\d+$/.test(value)],
    ['dispatch-timestamp', (value) => !Number.isNaN(Date.parse(value))],
    ['retry-index', (value) => /^\d$/.test(value)],
  ];
  return rules.flatMap(([name, isRight]) => {
    const value = header(delivery, name);
    const at = `header …-webhook-${name}`;
    if (value === undefined) return [note('a value', 'none', at)];
    return isRight(value) ? [] : [differs("the webhook's value", value, at)];
  });
};

export const deliveryPoints: readonly Point[] = WEBHOOK_TYPES.map((type) => ({
  operation: nameOf(create),
  expects: `delivers events of type ${type}`,
  source: 'documentation: Deliveries',
  async check({ own }) {
    if (own === null) throw new Skipped('it writes: --webhooks allows that');
    const { listener } = own;
    if (listener === null)
      throw new Skipped('the service must reach this machine: --listen URL says by which public address');
    const { id } = await own.of(type);
    await own.provoke(id);
    const [member, item] = BODIES[type];
    const isOwn = (each: Delivery) =>
      membersOf(parsed(each))[member] !== undefined || header(each, 'id') === id;
    const delivery = await listener.first(isOwn, WITHIN_MS);
    if (delivery === null)
      throw new Skipped(
        `nothing happened to its wallets within ${WITHIN_MS / 1_000} s: name a busy one with --wallet`,
      );
    return [
      ...expecting(delivery.method === 'POST', 'POST', delivery.method),
      ...headersOf(delivery, type, id),
      ...judge(record({ [member]: listOf(item) }, BESIDE_ITEMS), parsed(delivery)),
    ];
  },
}));
