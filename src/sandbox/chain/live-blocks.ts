import { Random } from '../evm/random.ts';
import { mintLatest } from '../transactions/nfts.ts';
import type { TransactionPlan } from './block-builder.ts';
import { EARLY, WALLET_PROFILES } from './wallet-profiles.ts';

/** What happens in a live block: the seed, the chain and the block's number decide, not the time. */
export const planBlock = (chainId: number, isFirst: boolean, random: Random): readonly TransactionPlan[] => {
  const acts = WALLET_PROFILES.filter(
    ({ chainIds, live }) => chainIds.includes(chainId) && random.chance(live),
  ).map(({ wallet, habits }): TransactionPlan => ({ wallet, template: random.weighted(habits) }));
  return isFirst ? [{ wallet: EARLY, template: mintLatest }, ...acts] : acts;
};

export const blockRandom = (seed: string, chainId: number, number: number): Random =>
  new Random(`${seed}/live/${chainId}/${number}`);
