import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { BalanceChange, Effect, Hex, Transfer } from '../../types.ts';

/** What a node says of balances at the end of a block, for the accounts that webhooks watch. */
export type Balances = {
  watches(account: Hex): boolean;
  /** The account's balance of the transferred asset after the block; null where it is not known. */
  after(account: Hex, moved: Transfer): bigint | null;
  /** The account's balance of the native asset before the block; null where it is not known. Default: it is not. */
  nativeBefore?(account: Hex): bigint | null;
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
  /** How many movements of the native asset of each account are still to be walked back. */
  const natives = new Map<Hex, number>();
  for (const effect of effects.flat())
    if (effect.kind === 'transfer' && effect.asset === 'native')
      for (const account of [effect.from, effect.to]) natives.set(account, (natives.get(account) ?? 0) + 1);
  /** Fees are paid between two movements: only what was there before the block is known, and what is left at its end. */
  const ofNative = (account: Hex, transfer: Transfer, key: string): BalanceChange | null => {
    const isLast = !balances.has(key);
    const left = (natives.get(account) ?? 1) - 1;
    natives.set(account, left);
    const after = known.after(account, transfer);
    if (after === null) return null;
    balances.set(key, after);
    const before = left === 0 ? (known.nativeBefore?.(account) ?? null) : null;
    return { before, after: isLast ? after : null };
  };
  const changeOf = (account: Hex, transfer: Transfer, change: bigint): BalanceChange | null => {
    if (account === ZERO_ADDRESS || !known.watches(account)) return null;
    // The transfer is of one token, and a balance is of all that the account holds of the contract.
    if (transfer.asset === 'erc721') return UNKNOWN;
    const { token } = transfer;
    const key = `${account} ${transfer.asset} ${token} ${transfer.tokenId}`;
    if (token === null) return ofNative(account, transfer, key);
    const unexplained = known.unexplained?.(account, transfer);
    if (unexplained !== undefined) return unexplained;
    const summed = () => (known.mayBeSummed?.(token) === false ? null : sum(account, transfer));
    const after = balances.get(key) ?? known.after(account, transfer) ?? summed();
    if (after === null) return null;
    const before = after - change;
    balances.set(key, before);
    // The token logs transfers that did not happen: no balance is negative.
    return before < 0n || after < 0n ? null : { before, after };
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

const UNKNOWN: BalanceChange = { before: null, after: null };
