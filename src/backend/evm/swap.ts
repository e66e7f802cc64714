import type { Effect, Hex, Swap } from '../types.ts';

/**
 * The sender of a call who ends with less of exactly one fungible asset, and with more of exactly one other, has swapped
 * them; who moved an NFT has bought or sold it. `effects` has all movements of the sender's that are known.
 */
export const swapOf = (
  { from, to, data }: { readonly from: Hex; readonly to: Hex | null; readonly data: Hex },
  effects: readonly Effect[],
): Swap | null => {
  if (to === null || data === '0x') return null;
  const changes = new Map<Hex | null, bigint>();
  for (const effect of effects) {
    if (effect.kind !== 'transfer' || (effect.from !== from && effect.to !== from)) continue;
    if (effect.tokenId !== null) return null;
    if (effect.from === effect.to) continue;
    const change = effect.to === from ? effect.value : -effect.value;
    changes.set(effect.token, (changes.get(effect.token) ?? 0n) + change);
  }
  const moved = [...changes]
    .filter(([, change]) => change !== 0n)
    .sort(([, one], [, other]) => (one < other ? -1 : 1));
  const [sold, bought] = moved;
  if (moved.length !== 2 || sold === undefined || bought === undefined || sold[1] > 0n || bought[1] < 0n)
    return null;
  return {
    kind: 'swap',
    trader: from,
    router: to,
    sold: { token: sold[0], value: -sold[1] },
    bought: { token: bought[0], value: bought[1] },
  };
};
