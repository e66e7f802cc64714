import type { Approval, ChainReader, Hex, Swap, Transaction, Transfer } from '../../types.ts';
import type { ActivityType } from '../webhook.ts';
import { blockTime, knownAsset, tokenMetadata, tradedAsset, usdValue } from './assets.ts';

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

export const transferItem = (
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
export const approvalItem = (simulator: ChainReader, transaction: Transaction, approval: Approval): Item => ({
  ...base(transaction, 'approve'),
  ...amountFields(simulator, transaction, approval),
  spender: approval.spender,
});

/** The asset, value and USD value of a swap are those of the sold asset. */
export const swapItem = (
  simulator: ChainReader,
  transaction: Transaction,
  { router, sold, bought }: Swap,
): Item => {
  const { chain } = transaction;
  const asset = tradedAsset(simulator, chain, sold.token).type ?? 'erc20';
  return {
    ...base(transaction, 'swap'),
    ...amountFields(simulator, transaction, { asset, tokenId: null, ...sold }),
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
 * A call is outgoing for the caller and incoming for the contract. `function` is present when the call can be decoded.
 */
export const callItem = (
  simulator: ChainReader,
  transaction: Transaction,
  contract: Hex,
  direction: 'outgoing' | 'incoming',
): Item => {
  const { chain, from, data, value } = transaction;
  const token = simulator.token(chain.id, contract);
  const decoded = simulator.decodeCall(transaction);
  return {
    ...base(transaction, 'call'),
    call_type: direction,
    ...(direction === 'outgoing' ? { to: contract } : { from }),
    asset_type: token?.standard,
    token_address: token?.address,
    value: value.toString(),
    data,
    function: decoded === null ? undefined : { signature: data.slice(0, 10), ...decoded },
  };
};
