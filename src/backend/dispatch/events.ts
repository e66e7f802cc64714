import { randomBytes } from 'node:crypto';
import { type Activity, activitiesOf } from '../endpoints/activity-items.ts';
import {
  type EventAsset,
  inFifteenDigits,
  isoSeconds,
  knownAsset,
  NATIVE,
  usdValue,
} from '../endpoints/assets.ts';
import { outcomeOf, quantity } from '../endpoints/outcome.ts';
import { ZERO_ADDRESS } from '../evm/address.ts';
import type { ChainReader } from '../source.ts';
import type {
  BalanceChange,
  Block,
  Call,
  Chain,
  EffectiveTransaction,
  Finding,
  FoundTransaction,
  Hex,
  ListedTransaction,
  Transaction,
  Transfer,
} from '../types.ts';
import { Bodies, type WrittenItem, writeItem } from './bodies.ts';
import type { Delivery, Store } from './store.ts';
import { delivers, type Filters, NO_FILTERS, type Side, type Webhook } from './webhook.ts';

type EventBase = {
  /** The address that the event concerns. It goes to the webhooks subscribed to that address. */
  readonly address: Hex;
  /** The assets for the asset filters. One of these must pass all of them. */
  readonly assets: readonly EventAsset[];
  /** Makes the event's item for a delivery's body. Only matching events need it. */
  readonly item: () => Readonly<Record<string, unknown>>;
};

type TransactionEvent = EventBase & {
  readonly type: 'transactions';
  readonly side: Side;
  /** The other side of the transaction; null when it creates a contract. */
  readonly counterparty: Hex | null;
  /**
   * Set on the receiver's event of a transaction to oneself. Such a transaction is one item, the sender's, unless the
   * webhook filters for receivers.
   */
  readonly alsoSender: boolean;
};

type ActivityEvent = Activity & { readonly type: 'activities' };

type BalanceEvent = EventBase & { readonly type: 'balances' };

/** An event of one address in one transaction, for one type of webhook. */
type OnchainEvent = TransactionEvent | ActivityEvent | BalanceEvent;

/** A transaction as events are made from it: of a block, or as far as it is known. */
type AnyTransaction = Transaction | FoundTransaction;

const listedIn = (transaction: AnyTransaction): ListedTransaction | null =>
  'listed' in transaction ? transaction.listed : transaction;

/** The contract that a transaction calls, as an asset; empty for a plain payment or a creation. */
const calledAssets = (reader: ChainReader, { chain, to, data }: Call): readonly EventAsset[] =>
  to === null || data === '0x' ? [] : [{ type: reader.token(chain.id, to)?.standard ?? null, token: to }];

/**
 * All assets of a transaction: the native asset that it pays, the contract that it calls, and the assets that it moves
 * or approves.
 */
const assetsOf = (
  data: ChainReader,
  transaction: ListedTransaction,
  { effects }: AnyTransaction,
): readonly EventAsset[] => {
  const moved = effects
    .filter((effect) => effect.kind !== 'swap')
    .map(({ asset, token }) => ({ type: asset, token }));
  return [...(transaction.value > 0n ? [NATIVE] : []), ...calledAssets(data, transaction), ...moved];
};

const transactionItem = (
  data: ChainReader,
  transaction: ListedTransaction,
  address: Hex,
  side: 'Sender' | 'Receiver',
) => ({
  address,
  block_hash: transaction.blockHash,
  block_number: transaction.blockNumber,
  block_time: isoSeconds(transaction.blockTime),
  chain: transaction.chain.name,
  chain_id: transaction.chain.id,
  data: transaction.data,
  decoded: data.decodeCall(transaction) ?? undefined,
  ...outcomeOf(transaction),
  from: transaction.from,
  gas_price: quantity(transaction.gasPrice),
  hash: transaction.hash,
  index: transaction.index,
  logs: transaction.logs?.map((log) => ({
    address: log.address,
    data: log.data,
    topics: log.topics,
    decoded: data.decodeLog(transaction.chain.id, log) ?? undefined,
  })),
  nonce: quantity(transaction.nonce),
  to: transaction.to,
  transaction_type: side,
  value: quantity(transaction.value),
});

/** The transaction events of its sender and its recipient, also when it failed. Recipients of its tokens have none. */
function* transactionEvents(data: ChainReader, known: AnyTransaction): Generator<TransactionEvent> {
  const transaction = listedIn(known);
  if (transaction === null) return;
  const { from, to } = transaction;
  const assets = assetsOf(data, transaction, known);
  yield {
    type: 'transactions',
    address: from,
    side: 'sender',
    counterparty: to,
    alsoSender: false,
    assets,
    item: () => transactionItem(data, transaction, from, 'Sender'),
  };
  if (to === null) return;
  yield {
    type: 'transactions',
    address: to,
    side: 'receiver',
    counterparty: from,
    alsoSender: from === to,
    assets,
    item: () => transactionItem(data, transaction, to, 'Receiver'),
  };
}

type Change = BalanceChange & {
  readonly address: Hex;
  readonly counterparty: Hex;
  /** After minus before; what the transfer adds where that is not known, and of the native asset, so that no fee is in it. */
  readonly delta: bigint;
};

/** The sides of a transfer whose balances are known. */
const changesOf = ({ asset, from, to, value, balances }: Transfer): readonly Change[] => {
  const withDelta = ({ before, after }: BalanceChange, moved: bigint) => ({
    ...{ before, after },
    delta: asset === 'native' || before === null || after === null ? moved : after - before,
  });
  return [
    ...(balances?.from ? [{ ...withDelta(balances.from, -value), address: from, counterparty: to }] : []),
    ...(balances?.to ? [{ ...withDelta(balances.to, value), address: to, counterparty: from }] : []),
  ];
};

/**
 * A balance change with every documented field; null where the value is unknown. Deltas are signed. `is_current` is false where
 * newer blocks have been delivered before.
 */
const balanceItem = (
  data: ChainReader,
  { chain, hash, blockTime }: EffectiveTransaction,
  { token, asset: type, tokenId }: Transfer,
  { address, counterparty, before, after, delta }: Change,
  isCurrent: boolean,
) => {
  const asset = knownAsset(data, chain, token, blockTime, type);
  const worthOf = (amount: bigint | null) =>
    amount === null ? null : inFifteenDigits(usdValue(amount, asset));
  return {
    amount_before: before?.toString() ?? null,
    amount_after: after?.toString() ?? null,
    amount_delta: delta.toString(),
    asset: {
      token_address: token,
      asset_type: type,
      ...(tokenId !== null && { id: tokenId.toString() }),
      symbol: asset?.symbol ?? null,
      name: asset?.name ?? null,
      decimals: asset?.decimals ?? null,
      low_liquidity: asset?.lowLiquidity ?? null,
      pool_size_usd: asset?.poolSizeUsd ?? null,
      token_metadata: { logo: asset?.logo ?? null },
    },
    counterparty_address: counterparty,
    subscribed_address: address,
    direction: delta > 0n ? 'in' : 'out',
    ...(!isCurrent && { is_current: false }),
    price_usd: inFifteenDigits(asset?.priceUsd ?? null),
    transaction_hash: hash,
    value_before_usd: worthOf(before),
    value_after_usd: worthOf(after),
    value_delta_usd: worthOf(delta),
  };
};

/** The balance changes of the sides of each transfer. A transfer to oneself, or of 0, changes no balance. */
function* balanceEvents(
  data: ChainReader,
  transaction: EffectiveTransaction,
  isCurrent: boolean,
): Generator<BalanceEvent> {
  for (const effect of transaction.effects) {
    if (effect.kind !== 'transfer' || effect.from === effect.to) continue;
    for (const change of changesOf(effect)) {
      if (change.address === ZERO_ADDRESS || change.delta === 0n) continue;
      yield {
        type: 'balances',
        address: change.address,
        assets: [{ type: effect.asset, token: effect.token }],
        item: () => balanceItem(data, transaction, effect, change, isCurrent),
      };
    }
  }
}

function* eventsOf(
  data: ChainReader,
  transaction: AnyTransaction,
  isCurrent: boolean,
): Generator<OnchainEvent> {
  yield* transactionEvents(data, transaction);
  const view = { as: 'delivery', time: transaction.blockTime } as const;
  for (const activity of activitiesOf(data, transaction, view))
    yield {
      type: 'activities',
      ...activity,
      // Hosted services leave it out, so an activity for a webhook with several addresses does not say which of them it is for.
      item: () => ({ ...activity.item(), subscribed_address: activity.address }),
    };
  yield* balanceEvents(data, transaction, isCurrent);
}

/** An event of a transaction, as listeners hear of it. `was` is the same event as it was delivered before; null for a new one. */
type Told = {
  readonly transaction: AnyTransaction;
  readonly event: OnchainEvent;
  readonly was: OnchainEvent | null;
};

/** The events of a block. `before` has its transactions as they were when listeners first heard of the block. */
function* newsOf(
  data: ChainReader,
  transactions: readonly AnyTransaction[],
  before: readonly Transaction[] | null,
  isCurrent: boolean,
): Generator<Told> {
  for (const [at, transaction] of transactions.entries()) {
    const earlier = before?.[at];
    const known = Map.groupBy(earlier === undefined ? [] : eventsOf(data, earlier, isCurrent), keyOf);
    for (const event of eventsOf(data, transaction, isCurrent)) {
      const was = known.size === 0 ? null : (known.get(keyOf(event))?.shift() ?? null);
      yield { transaction, event, was };
    }
  }
}

const keyOf = ({ type, address, item }: OnchainEvent): string =>
  `${type} ${address} ${JSON.stringify(item())}`;

const isNews = (webhook: Webhook, chainId: number, { event, was }: Told): boolean =>
  matches(webhook, chainId, event) && !(was !== null && matches(webhook, chainId, was));

/**
 * The deliveries of a block. Each webhook gets the matching events in the block's order, in as many deliveries as they need.
 * With `before`, its transactions as they were delivered before, only what has been added to them is delivered, as a part of the
 * block that has a name. `isCurrent` is false where newer blocks of the chain have been delivered.
 */
export function* deliveriesOf(
  { chain, number, hash, transactions }: Block,
  data: ChainReader,
  store: Pick<Store, 'subscribers'>,
  before: readonly Transaction[] | null = null,
  part = 'traces',
  isCurrent = true,
): Generator<Delivery> {
  const occasion = before === null ? hash : `${hash} ${part}`;
  const news = newsOf(data, transactions, before, isCurrent);
  yield* deliveriesOfNews(news, { chain, number, occasion }, store);
}

/** The deliveries of what was found of one address. */
export function* deliveriesOfFinding(
  { chain, number, address, transactions }: Finding,
  data: ChainReader,
  store: Pick<Store, 'subscribers'>,
): Generator<Delivery> {
  const subscribers = (each: Hex) => (each === address ? store.subscribers(each) : []);
  const news = newsOf(data, transactions, null, true);
  yield* deliveriesOfNews(news, { chain, number, occasion: `${number} ${address}` }, { subscribers });
}

/** Where news are from. `occasion` names the block, or the part of it. */
type Origin = { readonly chain: Chain; readonly number: number; readonly occasion: string };

function* deliveriesOfNews(
  news: Iterable<Told>,
  { chain, number, occasion }: Origin,
  store: Pick<Store, 'subscribers'>,
): Generator<Delivery> {
  const bodies = new Map<Webhook, Bodies>();
  const subscribers = new Map<Hex, readonly Webhook[]>();
  const deliver = ({ id, type }: Webhook, body: string): Delivery => ({
    ...{ webhookId: id, type, chainId: chain.id, blockNumber: number, body },
  });
  for (const told of news) {
    const { address } = told.event;
    const subscribed = subscribers.get(address) ?? [...store.subscribers(address)];
    subscribers.set(address, subscribed);
    let item: WrittenItem | null = null;
    for (const webhook of subscribed) {
      if (!isNews(webhook, chain.id, told)) continue;
      item ??= writeItem(told.event.item());
      const known = bodies.get(webhook);
      const its = known ?? new Bodies(webhook, chain.id, occasion);
      if (known === undefined) bodies.set(webhook, its);
      for (const body of its.add(told.transaction.hash, item)) yield deliver(webhook, body);
    }
  }
  for (const [webhook, its] of bodies) yield deliver(webhook, its.end());
}

/** `test` in ASCII begins the hash of a test event's transaction, and its token's address. */
const TEST = '0x74657374';
const TEST_TOKEN: Hex = `${TEST}${'0'.repeat(32)}`;

/** An address mints one unit of a token that nobody has, so that no balance changes that a reader knows. */
const testTransaction = (chain: Chain, address: Hex, time: number): Transaction => ({
  chain,
  blockHash: `0x${randomBytes(32).toString('hex')}`,
  blockNumber: 0,
  blockTime: time,
  index: 0,
  hash: `${TEST}${randomBytes(28).toString('hex')}`,
  from: address,
  to: TEST_TOKEN,
  value: 0n,
  data: '0x',
  nonce: 0,
  gasPrice: 0n,
  gasUsed: 0n,
  effectiveGasPrice: 0n,
  fee: 0n,
  type: 2,
  success: true,
  created: null,
  logs: [],
  effects: [
    {
      ...{ kind: 'transfer', asset: 'erc20', token: TEST_TOKEN, tokenId: null },
      ...{ from: ZERO_ADDRESS, to: address, value: 1n },
      balances: { from: null, to: { before: 0n, after: 1n } },
    },
  ],
});

/** A delivery of one event of the webhook's type, on its first chain. Its filters by asset, side or counterparty do not count. */
export const testDelivery = (webhook: Webhook, address: Hex, data: ChainReader, time: number): Delivery => {
  const chains = data.chains.filter(({ webhooks }) => webhooks);
  const chain = chains.find(({ id }) => webhook.chain_ids?.includes(id)) ?? chains[0];
  if (chain === undefined) throw new Error('Expected a chain that webhooks support, got none.');
  const transaction = testTransaction(chain, address, time);
  const block = { chain, number: 0, hash: transaction.blockHash, time, transactions: [transaction] };
  const unfiltered = { ...webhook, ...NO_FILTERS };
  const subscribers = (each: Hex) => (each === address ? [unfiltered] : []);
  const [delivery] = deliveriesOf(block, data, { subscribers });
  if (delivery === undefined) throw new Error(`Expected an event of type ${webhook.type}, got none.`);
  return delivery;
};

/** Whether an event passes all filters of a webhook that is subscribed to the event's address. */
const matches = (webhook: Webhook, chainId: number, event: OnchainEvent): boolean => {
  if (!delivers(webhook) || webhook.type !== event.type) return false;
  if (webhook.chain_ids !== null && !webhook.chain_ids.includes(chainId)) return false;
  if (!assetPasses(webhook, event.assets)) return false;
  if (event.type === 'transactions') return sidePasses(webhook, event);
  return event.type === 'balances' || passes(webhook.activity_type, event.activity);
};

const assetPasses = ({ asset_type, token_address }: Filters, assets: readonly EventAsset[]): boolean =>
  (asset_type === null && token_address === null) ||
  assets.some(({ type, token }) => passes(asset_type, type) && passes(token_address, token));

const sidePasses = ({ transaction_type, counterparty }: Filters, event: TransactionEvent): boolean =>
  passes(transaction_type, event.side) &&
  passes(counterparty, event.counterparty) &&
  !(event.alsoSender && transaction_type === null);

const passes = <T>(filter: T | null, value: T | null): boolean => filter === null || filter === value;
