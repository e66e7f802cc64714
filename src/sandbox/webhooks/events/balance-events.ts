import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { ChainReader, Hex, Transaction, Transfer } from '../../types.ts';
import { knownAsset, usdValue } from './assets.ts';
import type { BalanceEvent } from './event.ts';

type Change = {
  readonly address: Hex;
  readonly counterparty: Hex;
  readonly before: bigint;
  readonly after: bigint;
};

const bothSides = (transfer: Transfer): readonly Change[] => [
  {
    address: transfer.from,
    counterparty: transfer.to,
    before: transfer.fromBefore,
    after: transfer.fromAfter,
  },
  { address: transfer.to, counterparty: transfer.from, before: transfer.toBefore, after: transfer.toAfter },
];

/**
 * A balance change with every documented field; null where the value is unknown. Deltas are signed: after minus before.
 */
const item = (
  simulator: ChainReader,
  { chain, hash }: Transaction,
  { token }: Transfer,
  { address, counterparty, before, after }: Change,
) => {
  const asset = knownAsset(simulator, chain, token);
  return {
    amount_before: before.toString(),
    amount_after: after.toString(),
    amount_delta: (after - before).toString(),
    asset: {
      token_address: token,
      symbol: asset?.symbol ?? null,
      name: asset?.name ?? null,
      decimals: asset?.decimals ?? null,
      low_liquidity: asset?.lowLiquidity ?? true,
      pool_size_usd: asset?.poolSizeUsd ?? null,
      token_metadata: { logo: asset?.logo ?? null },
    },
    counterparty_address: counterparty,
    subscribed_address: address,
    direction: after > before ? 'in' : 'out',
    price_usd: asset?.priceUsd ?? null,
    transaction_hash: hash,
    value_before_usd: usdValue(before, asset),
    value_after_usd: usdValue(after, asset),
    value_delta_usd: usdValue(after - before, asset),
  };
};

/** The balance changes of both sides of each transfer. A transfer to oneself, or of 0, changes no balance. */
export function* balanceEvents(simulator: ChainReader, transaction: Transaction): Generator<BalanceEvent> {
  for (const effect of transaction.effects) {
    if (effect.kind !== 'transfer' || effect.from === effect.to) continue;
    for (const change of bothSides(effect)) {
      if (change.address === ZERO_ADDRESS || change.before === change.after) continue;
      yield {
        type: 'balances',
        address: change.address,
        assets: [{ type: effect.asset, token: effect.token }],
        item: () => item(simulator, transaction, effect, change),
      };
    }
  }
}
