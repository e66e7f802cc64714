import { ZERO_ADDRESS } from '../evm/address.ts';
import type { ChainReader } from '../source.ts';
import type {
  ActivityType,
  Approval,
  AssetType,
  EffectiveTransaction,
  Hex,
  Swap,
  Transfer,
} from '../types.ts';
import { type EventAsset, isoSeconds, type KnownAsset, knownAsset, tradedAsset, usdValue } from './assets.ts';

/** Who reads the items: a delivery's body has fields that the lookup's page lacks, and the other way round. */
export type View = {
  readonly as: 'delivery' | 'lookup';
  /** The time of the prices, in milliseconds since 1970. */
  readonly time: number;
};

/**
 * An activity in the format of a body. Values that are unknown or do not apply are omitted. `from` and `to` name only
 * the other side, and no field names the address whose activity it is.
 */
type Item = Readonly<Record<string, unknown>>;

/** An activity of one address in one transaction. */
export type Activity = {
  readonly address: Hex;
  readonly activity: ActivityType;
  /** The assets for the filters by asset. One of these must pass all of them. */
  readonly assets: readonly EventAsset[];
  /** Makes the item of a body. Only activities that are shown need it. */
  readonly item: () => Item;
};

/** What the items of one transaction are made from. */
type Frame = {
  readonly data: ChainReader;
  readonly transaction: EffectiveTransaction;
  readonly view: View;
};

/**
 * The activities of each address that a transaction involves. A call is an activity only of addresses that have no
 * other. A failed transaction has none, because an item can not say that it failed.
 */
export function* activitiesOf(
  data: ChainReader,
  transaction: EffectiveTransaction,
  view: View,
): Generator<Activity> {
  if (!transaction.success) return;
  const frame = { data, transaction, view };
  const concerned = new Set<Hex>();
  for (const activity of effectActivities(frame)) {
    concerned.add(activity.address);
    yield activity;
  }
  for (const activity of callActivities(frame)) {
    if (!concerned.has(activity.address)) yield activity;
  }
}

function* effectActivities(frame: Frame): Generator<Activity> {
  const { data, transaction } = frame;
  const swaps = transaction.effects.filter((effect) => effect.kind === 'swap');
  for (const effect of transaction.effects) {
    if (effect.kind === 'transfer') yield* transferActivities(frame, effect, swaps);
    else if (effect.kind === 'approval') {
      yield {
        address: effect.owner,
        activity: 'approve',
        assets: [{ type: effect.asset, token: effect.token }],
        item: () => approvalItem(frame, effect),
      };
    } else {
      yield {
        address: effect.trader,
        activity: 'swap',
        // Two tokens: a filter by one token finds no swap.
        assets: [effect.sold, effect.bought].map(({ token }) => ({
          ...tradedAsset(data, transaction.chain, token),
          token: null,
        })),
        item: () => swapItem(frame, effect),
      };
    }
  }
}

function* transferActivities(frame: Frame, transfer: Transfer, swaps: readonly Swap[]): Generator<Activity> {
  const { from, to, asset, token } = transfer;
  if (asset === 'native' && frame.transaction.data !== '0x' && !frame.data.seesCallValues) return;
  const sides = [
    { address: from, activity: to === ZERO_ADDRESS ? 'burn' : 'send' },
    { address: to, activity: from === ZERO_ADDRESS ? 'mint' : 'receive' },
  ] as const;
  for (const { address, activity } of sides) {
    if (address === ZERO_ADDRESS || swaps.some((swap) => isLegFor(address, transfer, swap))) continue;
    const assets = [{ type: asset, token }];
    yield { address, activity, assets, item: () => transferItem(frame, transfer, activity) };
  }
}

/**
 * Whether a transfer is one of the two legs of the trader's swap. The trader gets one swap, and no activity for the
 * legs.
 */
const isLegFor = (address: Hex, transfer: Transfer, { trader, sold, bought }: Swap): boolean => {
  if (trader !== address) return false;
  const leg = transfer.from === address ? sold : bought;
  return leg.token === transfer.token && leg.value === transfer.value;
};

function* callActivities(frame: Frame): Generator<Activity> {
  const { from, to, data } = frame.transaction;
  if (from === null || to === null || data === null || data === '0x') return;
  const call = { activity: 'call', assets: [] } as const;
  yield { ...call, address: from, item: () => callItem(frame, to, data, 'outgoing') };
  if (to !== from) yield { ...call, address: to, item: () => callItem(frame, to, data, 'incoming') };
}

/** The fields that every activity has of its transaction. */
const base = ({ transaction }: Frame, type: ActivityType): Item => ({
  chain_id: transaction.chain.id,
  block_number: transaction.blockNumber,
  block_time: isoSeconds(transaction.blockTime),
  tx_hash: transaction.hash,
  tx_from: transaction.from ?? undefined,
  tx_to: transaction.to ?? undefined,
  tx_value: transaction.value?.toString(),
  type,
});

const assetOf = (
  { data, transaction, view }: Frame,
  token: Hex | null,
  type?: AssetType,
): KnownAsset | null => knownAsset(data, transaction.chain, token, view.time, type);

/** Undefined, and so omitted from the JSON, when the token is unknown, and in lookups for the native asset too. */
const metadata = ({ view }: Frame, asset: KnownAsset | null): Item | undefined => {
  if (asset === null) return undefined;
  const { symbol, decimals, name, logo, priceUsd, poolSizeUsd, standard } = asset;
  const shared = { symbol, decimals, name, logo: logo ?? undefined };
  const priced = { ...shared, price_usd: priceUsd ?? undefined, pool_size: poolSizeUsd ?? undefined };
  if (view.as === 'delivery') return priced;
  return standard === 'native' ? undefined : { ...priced, standard };
};

/** A side of a swap has no price of its own in lookups. */
const sideMetadata = (frame: Frame, token: Hex | null): Item | undefined => {
  const asset = assetOf(frame, token);
  if (frame.view.as === 'delivery' || asset === null) return metadata(frame, asset);
  const { symbol, decimals, name, logo } = asset;
  return { symbol, decimals, name, logo: logo ?? undefined };
};

const dollars = (value: bigint, asset: KnownAsset | null): number | undefined =>
  usdValue(value, asset) ?? undefined;

type Amount = Pick<Transfer, 'asset' | 'token' | 'tokenId' | 'value'>;

const amountFields = (frame: Frame, { asset, token, tokenId, value }: Amount): Item => ({
  asset_type: asset,
  token_address: token ?? undefined,
  id: tokenId?.toString(),
  value: value.toString(),
  token_metadata: metadata(frame, assetOf(frame, token, asset)),
});

const transferItem = (
  frame: Frame,
  transfer: Transfer,
  type: 'send' | 'burn' | 'receive' | 'mint',
): Item => ({
  ...base(frame, type),
  ...amountFields(frame, transfer),
  value_usd: dollars(transfer.value, assetOf(frame, transfer.token, transfer.asset)),
  ...(type === 'send' || type === 'burn' ? { to: transfer.to } : { from: transfer.from }),
});

/** An approval moves nothing, so it has no USD value. */
const approvalItem = (frame: Frame, approval: Approval): Item => ({
  ...base(frame, 'approve'),
  ...amountFields(frame, approval),
  spender: approval.spender,
});

/**
 * A swap has two tokens, so it has no token address and no value of its own. Its USD value is that of what is sold.
 * Lookups say `native` where a delivery leaves a token's address out.
 */
const swapItem = (frame: Frame, { router, sold, bought }: Swap): Item => {
  const { data, transaction, view } = frame;
  const native = view.as === 'lookup' ? 'native' : undefined;
  return {
    ...base(frame, 'swap'),
    asset_type: tradedAsset(data, transaction.chain, sold.token).type,
    value_usd: dollars(sold.value, assetOf(frame, sold.token)),
    to: router,
    from_token_address: sold.token ?? native,
    from_token_value: sold.value.toString(),
    from_token_metadata: sideMetadata(frame, sold.token),
    to_token_address: bought.token ?? native,
    to_token_value: bought.value.toString(),
    to_token_metadata: sideMetadata(frame, bought.token),
  };
};

/**
 * A call is outgoing for the caller and incoming for the contract. It has no asset, also where the contract is a token.
 * `function` is present when the call can be decoded.
 */
const callItem = (frame: Frame, contract: Hex, data: Hex, direction: 'outgoing' | 'incoming'): Item => {
  const { data: reader, transaction, view } = frame;
  const { chain, from, value, decoded: known } = transaction;
  const decoded = reader.decodeCall({ chain, to: contract, data, decoded: known });
  const name = reader.contractName(chain.id, contract);
  return {
    ...base(frame, 'call'),
    ...(view.as === 'delivery' && { call_type: direction, data }),
    contract_metadata: name === null ? undefined : { name },
    ...(direction === 'outgoing' ? { to: contract } : { from }),
    value: value?.toString(),
    function: decoded === null ? undefined : { signature: data.slice(0, 10), ...decoded },
  };
};
