import { ZERO_ADDRESS } from '../evm/random.ts';
import type { Approval, ChainReader, Hex, Swap, Transaction, Transfer } from '../types.ts';
import { type ActivityEvent, blockTime, knownAsset, tokenMetadata, tradedAsset, usdValue } from './events.ts';
import type { ActivityType } from './webhook.ts';

/**
 * Whether a transfer is one of the two legs of the trader's swap. The trader gets one swap event, and none for the
 * legs.
 */
const isLegFor = (address: Hex, transfer: Transfer, { trader, sold, bought }: Swap): boolean => {
  if (trader !== address) return false;
  const leg = transfer.from === address ? sold : bought;
  return leg.token === transfer.token && leg.value === transfer.value;
};

function* transferEvents(
  simulator: ChainReader,
  transaction: Transaction,
  transfer: Transfer,
): Generator<ActivityEvent> {
  const { from, to, asset, token } = transfer;
  const swaps = transaction.effects.filter((effect) => effect.kind === 'swap');
  const sides = [
    { address: from, activity: to === ZERO_ADDRESS ? 'burn' : 'send' },
    { address: to, activity: from === ZERO_ADDRESS ? 'mint' : 'receive' },
  ] as const;
  for (const { address, activity } of sides) {
    if (address === ZERO_ADDRESS || swaps.some((swap) => isLegFor(address, transfer, swap))) continue;
    yield {
      type: 'activities',
      address,
      activity,
      assets: [{ type: asset, token }],
      item: () => transferItem(simulator, transaction, transfer, activity),
    };
  }
}

function* effectEvents(simulator: ChainReader, transaction: Transaction): Generator<ActivityEvent> {
  const { chain } = transaction;
  for (const effect of transaction.effects) {
    if (effect.kind === 'transfer') yield* transferEvents(simulator, transaction, effect);
    else if (effect.kind === 'approval') {
      yield {
        type: 'activities',
        address: effect.owner,
        activity: 'approve',
        assets: [{ type: effect.asset, token: effect.token }],
        item: () => approvalItem(simulator, transaction, effect),
      };
    } else {
      yield {
        type: 'activities',
        address: effect.trader,
        activity: 'swap',
        // Two tokens: a filter by one token finds no swap.
        assets: [effect.sold, effect.bought].map(({ token }) => ({
          ...tradedAsset(simulator, chain, token),
          token: null,
        })),
        item: () => swapItem(simulator, transaction, effect),
      };
    }
  }
}

function* callEvents(simulator: ChainReader, transaction: Transaction): Generator<ActivityEvent> {
  const { from, to, data } = transaction;
  if (to === null || data === '0x') return;
  const call = { type: 'activities', activity: 'call', assets: [] } as const;
  yield { ...call, address: from, item: () => callItem(simulator, transaction, to, 'outgoing') };
  if (to !== from)
    yield { ...call, address: to, item: () => callItem(simulator, transaction, to, 'incoming') };
}

/**
 * The activities of each address that a transaction involves. A call is an activity only of addresses that have no
 * other. A failed transaction has none, because an item can not say that it failed.
 */
export function* activityEvents(simulator: ChainReader, transaction: Transaction): Generator<ActivityEvent> {
  if (!transaction.success) return;
  const concerned = new Set<Hex>();
  for (const event of effectEvents(simulator, transaction)) {
    concerned.add(event.address);
    yield event;
  }
  for (const event of callEvents(simulator, transaction)) {
    if (!concerned.has(event.address)) yield event;
  }
}

/**
 * An activity in the format of a delivery's body. Values that are unknown or do not apply are omitted. `from` and `to`
 * name only the counterparty, and no field names the subscribed address.
 */
type Item = Readonly<Record<string, unknown>>;

/** The fields that every activity has of its transaction. */
const base = (transaction: Transaction, type: ActivityType): Item => ({
  chain_id: transaction.chain.id,
  block_number: transaction.blockNumber,
  block_time: blockTime(transaction.blockTime),
  tx_hash: transaction.hash,
  tx_from: transaction.from,
  tx_to: transaction.to,
  tx_value: transaction.value.toString(),
  type,
});

type Amount = {
  readonly asset: string;
  readonly token: Hex | null;
  readonly tokenId: bigint | null;
  readonly value: bigint;
};

const amountFields = (
  simulator: ChainReader,
  { chain }: Transaction,
  { asset, token, tokenId, value }: Amount,
): Item => ({
  asset_type: asset,
  token_address: token ?? undefined,
  id: tokenId?.toString(),
  value: value.toString(),
  token_metadata: tokenMetadata(knownAsset(simulator, chain, token)),
});

const usdFields = (
  simulator: ChainReader,
  { chain }: Transaction,
  { token, value }: Pick<Amount, 'token' | 'value'>,
): Item => ({
  value_usd: usdValue(value, knownAsset(simulator, chain, token)) ?? undefined,
});

const transferItem = (
  simulator: ChainReader,
  transaction: Transaction,
  transfer: Transfer,
  type: 'send' | 'burn' | 'receive' | 'mint',
): Item => ({
  ...base(transaction, type),
  ...amountFields(simulator, transaction, transfer),
  ...usdFields(simulator, transaction, transfer),
  ...(type === 'send' || type === 'burn' ? { to: transfer.to } : { from: transfer.from }),
});

/** An approval moves nothing, so it has no USD value. */
const approvalItem = (simulator: ChainReader, transaction: Transaction, approval: Approval): Item => ({
  ...base(transaction, 'approve'),
  ...amountFields(simulator, transaction, approval),
  spender: approval.spender,
});

/** A swap has two tokens, so it has no token address and no value of its own. Its USD value is that of what is sold. */
const swapItem = (simulator: ChainReader, transaction: Transaction, { router, sold, bought }: Swap): Item => {
  const { chain } = transaction;
  return {
    ...base(transaction, 'swap'),
    asset_type: tradedAsset(simulator, chain, sold.token).type,
    ...usdFields(simulator, transaction, sold),
    to: router,
    from_token_address: sold.token ?? undefined,
    from_token_value: sold.value.toString(),
    from_token_metadata: tokenMetadata(knownAsset(simulator, chain, sold.token)),
    to_token_address: bought.token ?? undefined,
    to_token_value: bought.value.toString(),
    to_token_metadata: tokenMetadata(knownAsset(simulator, chain, bought.token)),
  };
};

/**
 * A call is outgoing for the caller and incoming for the contract. It has no asset, also where the contract is a token.
 * `function` is present when the call can be decoded.
 */
const callItem = (
  simulator: ChainReader,
  transaction: Transaction,
  contract: Hex,
  direction: 'outgoing' | 'incoming',
): Item => {
  const { from, data, value } = transaction;
  const decoded = simulator.decodeCall(transaction);
  return {
    ...base(transaction, 'call'),
    call_type: direction,
    ...(direction === 'outgoing' ? { to: contract } : { from }),
    value: value.toString(),
    data,
    function: decoded === null ? undefined : { signature: data.slice(0, 10), ...decoded },
  };
};
