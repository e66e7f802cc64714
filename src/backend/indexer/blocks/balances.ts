import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { BalanceChange, Effect, Hex, Transfer } from '../../types.ts';

/** What a node says of balances at the end of a block, for the accounts that webhooks watch. */
export type Balances = {
  watches(account: Hex): boolean;
  /** The account's balance of the transferred asset after the block; null where it is not known. */
  after(account: Hex, moved: Transfer): bigint | null;
  /**
   * The change of a token's balance within the block where events don't explain it: null where it is not known which of them
   * made it. Default, and undefined: they do.
   */
  unexplained?(account: Hex, moved: Transfer): BalanceChange | null | undefined;
  /** Whether what transfers sum up to may stand in for an unknown balance of a token. Default: it may. */
  mayBeSummed?(token: Hex): boolean;
};

/**
 * The effects of the transactions of a block with the balances of the accounts that are watched. They are walked back from
 * those after the block: what is known of them, or else what the index sums up to with this block; null where neither is known.
 */
export const withBalances = (
  effects: readonly (readonly Effect[])[],
  known: Balances,
  sum: (account: Hex, moved: Transfer) => bigint | null,
): readonly (readonly Effect[])[] => {
  /** The balances before the effects that are still to be walked back. */
  const balances = new Map<string, bigint>();
  const changeOf = (account: Hex, transfer: Transfer, change: bigint): BalanceChange | null => {
    if (account === ZERO_ADDRESS || !known.watches(account)) return null;
    // An NFT exists once, even when the index does not know who held it before.
    if (transfer.asset === 'erc721')
      return change > 0n ? { before: 0n, after: 1n } : { before: 1n, after: 0n };
    const unexplained = known.unexplained?.(account, transfer);
    if (unexplained !== undefined) return unexplained;
    const key = `${account} ${transfer.asset} ${transfer.token} ${transfer.tokenId}`;
    const summed = () =>
      transfer.token === null || known.mayBeSummed?.(transfer.token) === false
        ? null
        : sum(account, transfer);
    const after = balances.get(key) ?? known.after(account, transfer) ?? summed();
    if (after === null) return null;
    const before = after - change;
    balances.set(key, before);
    // The token logs transfers that did not happen: no balance is negative.
    if (transfer.token !== null && (before < 0n || after < 0n)) return null;
    // For the native asset, fees paid between two movements are ignored.
    return { before: atLeastZero(before), after: atLeastZero(after) };
  };
  const walked = effects.toReversed().map((list) =>
    list.toReversed().map((effect): Effect => {
      if (effect.kind !== 'transfer') return effect;
      const to = changeOf(effect.to, effect, effect.value);
      const from = changeOf(effect.from, effect, -effect.value);
      return to === null && from === null ? effect : { ...effect, balances: { from, to } };
    }),
  );
  return walked.map((list) => list.toReversed()).toReversed();
};

const atLeastZero = (amount: bigint): bigint => (amount < 0n ? 0n : amount);
