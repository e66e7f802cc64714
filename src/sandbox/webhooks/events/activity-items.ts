import type { Approval, ChainReader, Hex, Swap, Transaction, Transfer } from '../../types.ts';
import type { ActivityType } from '../webhook.ts';
import { blockTime, knownAsset, tokenMetadata, tradedAsset, usdValue } from './assets.ts';

/**
 * Activities as they stand in a delivery's body. What is unknown or does not apply is left out of the JSON. `from`
 * and `to` tell the counterparty's side alone, and no field names the subscribed address.
 */
type Item = Readonly<Record<string, unknown>>;

/** What every activity says of its transaction. */
const frame = (transaction: Transaction, type: ActivityType): Item => ({
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

const amount = (
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

const worth = (
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
  ...frame(transaction, type),
  ...amount(simulator, transaction, transfer),
  ...worth(simulator, transaction, transfer),
  ...(type === 'send' || type === 'burn' ? { to: transfer.to } : { from: transfer.from }),
});

/** Nothing has moved yet, so an approval has no worth. */
export const approvalItem = (simulator: ChainReader, transaction: Transaction, approval: Approval): Item => ({
  ...frame(transaction, 'approve'),
  ...amount(simulator, transaction, approval),
  spender: approval.spender,
});

/** The asset, value and worth of a swap are those of what was sold. */
export const swapItem = (
  simulator: ChainReader,
  transaction: Transaction,
  { router, sold, bought }: Swap,
): Item => {
  const { chain } = transaction;
  const asset = tradedAsset(simulator, chain, sold.token).type ?? 'erc20';
  return {
    ...frame(transaction, 'swap'),
    ...amount(simulator, transaction, { asset, tokenId: null, ...sold }),
    ...worth(simulator, transaction, sold),
    to: router,
    from_token_address: sold.token ?? undefined,
    from_token_value: sold.value.toString(),
    from_token_metadata: tokenMetadata(knownAsset(simulator, chain, sold.token)),
    to_token_address: bought.token ?? undefined,
    to_token_value: bought.value.toString(),
    to_token_metadata: tokenMetadata(knownAsset(simulator, chain, bought.token)),
  };
};

/** Outgoing for the caller, incoming for the contract; `function` when the call can be decoded. */
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
    ...frame(transaction, 'call'),
    call_type: direction,
    ...(direction === 'outgoing' ? { to: contract } : { from }),
    asset_type: token?.standard,
    token_address: token?.address,
    value: value.toString(),
    data,
    function: decoded === null ? undefined : { signature: data.slice(0, 10), ...decoded },
  };
};
