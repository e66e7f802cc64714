import type { Allowance } from '../../source.ts';
import type { Approval, Chain, Effect, Hex } from '../../types.ts';
import type { MinedTransaction } from './block-builder.ts';

/**
 * What an account allows others, by its transactions, oldest first: each approval counts until the next one of the same, and that
 * of one NFT until it moves. Spenders use up nothing.
 */
export const allowancesOf = (owner: Hex, transactions: Iterable<MinedTransaction>): readonly Allowance[] => {
  const found = new Map<string, Allowance>();
  for (const { chain, effects } of transactions)
    for (const effect of effects) {
      const key = keyOf(chain, effect);
      const isOfNft = effect.kind === 'transfer' && effect.tokenId !== null;
      const isOwn = effect.kind === 'approval' && effect.owner === owner;
      if (isOfNft || isOwn) found.delete(key);
      if (isOwn && effect.value > 0n) found.set(key, allowanceOf(chain, effect));
    }
  return [...found.values()].sort((one, other) => (isAfter(one, other) ? 1 : -1));
};

/** One NFT has one approval; a contract has one for each spender. */
const keyOf = ({ id }: Chain, effect: Effect): string => {
  if (effect.kind === 'swap') return '';
  const { token, tokenId } = effect;
  return `${id} ${token} ${tokenId ?? (effect.kind === 'approval' ? effect.spender : '')}`;
};

const allowanceOf = (chain: Chain, { asset, token, tokenId, spender, value }: Approval): Allowance => {
  const isCoin = asset === 'erc20';
  const kind = isCoin ? 0 : tokenId === null ? 2 : 1;
  const place = [chain.id, token, spender, kind, String(tokenId ?? 0)];
  return { chain, token, standard: asset, spender, amount: isCoin ? value : null, tokenId, place };
};

/** Whether an approval comes after another one in their list. */
export const isAfter = (
  { place }: Pick<Allowance, 'place'>,
  { place: other }: Pick<Allowance, 'place'>,
): boolean => {
  const at = place.findIndex((member, index) => member !== other[index]);
  return at >= 0 && (place[at] ?? 0) > (other[at] ?? 0);
};
