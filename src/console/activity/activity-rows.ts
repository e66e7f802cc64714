import type { ChainsQuery } from '../__generated__/operations.ts';
import { nativeDecimals, nativeSymbol } from '../format.ts';
import { linksTo, plainUnits, type Row } from '../wallet/export.ts';
import {
  type ActivityItem,
  decimalsOf,
  functionOf,
  type Happening,
  kindOf,
  type Move,
  movesOf,
  symbolOf,
} from './activity-model.ts';
import { knownFee } from './known.ts';

type Chains = ChainsQuery['chains'];

/** What moved, in columns. An approval has what it allows; a call without value has nothing. */
const assetColumns = (
  { value, token, tokenId }: Omit<Move, 'direction' | 'party'>,
  chainId: number,
): Row => ({
  amount: tokenId === null ? plainUnits(value, decimalsOf(token, chainId)) : value,
  ...{
    amount_smallest_unit: value,
    symbol: value === null && token === null ? null : symbolOf(token, chainId),
  },
  ...{ token: token?.address ?? null, token_id: tokenId },
});

/** From whom to whom: the service leaves out the wallet itself. */
const sidesOf = ({ from, to }: ActivityItem, move: Move | null, wallet: string): Row => {
  if (move !== null)
    return move.direction === 'in' ? { from: move.party, to: wallet } : { from: wallet, to: move.party };
  // A call that came in names its caller.
  return from === null ? { from: wallet, to } : { from, to: to ?? wallet };
};

type Place = { readonly chainId: number; readonly wallet: string; readonly isOfNow: boolean };

const rowsOfItem = (item: ActivityItem, { chainId, wallet, isOfNow }: Place): readonly Row[] => {
  const { spender, contractName: contract, valueUsd } = item;
  const moves = movesOf(item);
  return (moves.length > 0 ? moves : [null]).map((move, index) => {
    // Both sides of a swap are worth the same: the sum of the column counts it once.
    const worth = move !== null && index === 0 ? valueUsd : null;
    return {
      ...{ kind: kindOf(item), direction: move?.direction ?? null, ...assetColumns(move ?? item, chainId) },
      ...sidesOf(item, move, wallet),
      ...{ spender, function: functionOf(item)?.name ?? null, contract, value_usd: worth },
      value_usd_is: worth === null ? null : isOfNow ? "at today's price" : "at that time's price",
    };
  });
};

/**
 * Activities as rows of a file: one for each asset that moved, and one for an activity that moved none. The fee of a
 * transaction, where the wallet paid it and it was read, is on the first of its rows.
 */
export const activityRows = (
  happenings: readonly Happening[],
  wallet: string,
  chains: Chains,
): readonly Row[] =>
  happenings.flatMap(({ items, hash, chainId, time }) => {
    const { name = null, explorer = null } = chains.find((known) => known.chainId === chainId) ?? {};
    const place = { chainId, wallet, isOfNow: explorer !== null };
    const fee = plainUnits(knownFee(wallet, chainId, hash), nativeDecimals(chainId));
    return items
      .flatMap((item) => rowsOfItem(item, place))
      .map((row, index) => ({
        time,
        wallet,
        chain: name,
        chain_id: chainId,
        transaction: hash,
        ...row,
        fee: index === 0 ? fee : null,
        fee_currency: index === 0 && fee !== null ? nativeSymbol(chainId) : null,
        ...linksTo(chainId, hash, wallet, explorer?.url ?? null),
      }));
  });
