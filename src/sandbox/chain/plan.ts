import { CHAINS, type SandboxChain } from '../chains.ts';
import { Random } from '../evm/random.ts';
import { mintLatest } from '../transactions/nfts.ts';
import type { TransactionTemplate } from '../transactions/template-context.ts';
import type { Hex } from '../types.ts';
import { EARLY_ADOPTER, WALLET_PROFILES } from './wallet-profiles.ts';

/** The history lies between these times, whenever the sandbox starts, so that each start has the same history. */
const HISTORY_START = Date.UTC(2024, 1, 1);
const HISTORY_END = Date.UTC(2026, 0, 1);

/** A transaction before it is made: the wallet and the template of what it does. */
export type TransactionPlan = { readonly wallet: Hex; readonly template: TransactionTemplate };

/** A planned transaction with its block. */
export type PlannedTransaction = TransactionPlan & {
  readonly chain: SandboxChain;
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly time: number;
};

/** The number of a chain's newest block at a time, in milliseconds since 1970. */
export const heightAt = ({ height, intervalMs }: SandboxChain, time: number): number =>
  height + Math.floor((time - HISTORY_END) / intervalMs);

const timeOf = ({ height, intervalMs }: SandboxChain, number: number): number =>
  Math.floor((HISTORY_END + (number - height) * intervalMs) / 1000) * 1000;

/** The transactions of every demo wallet up to the end of the history, or up to `now` if that is earlier; oldest first. */
export const planHistory = (seed: string, now: number): readonly PlannedTransaction[] => {
  const chains = new Map(CHAINS.map((chain) => [chain.id, chain]));
  const plans = WALLET_PROFILES.flatMap(({ wallet, chainIds, pastTransactions, templates }) => {
    const random = new Random(`${seed}/history/${wallet}`);
    return Array.from({ length: pastTransactions }, (): PlannedTransaction => {
      const chain = chains.get(random.pick(chainIds));
      if (chain === undefined)
        throw new Error(`expected existing chains for the wallet ${wallet}, got ${chainIds}`);
      const number = heightAt(chain, random.between(HISTORY_START, HISTORY_END - 1));
      return { wallet, chain, number, time: timeOf(chain, number), template: random.weighted(templates) };
    });
  });
  return plans
    .filter(({ time }) => time <= now)
    .sort((a, b) => a.time - b.time || a.chain.id - b.chain.id || a.number - b.number);
};

/** The transactions of a live block. They depend on the seed, the chain and the block's number, not on the time. */
export const planBlock = (chainId: number, isFirst: boolean, random: Random): readonly TransactionPlan[] => {
  const plans = WALLET_PROFILES.filter(
    ({ chainIds, liveProbability }) => chainIds.includes(chainId) && random.chance(liveProbability),
  ).map(({ wallet, templates }): TransactionPlan => ({ wallet, template: random.weighted(templates) }));
  return isFirst ? [{ wallet: EARLY_ADOPTER, template: mintLatest }, ...plans] : plans;
};

/** The random numbers of a live block. */
export const blockRandom = (seed: string, chainId: number, number: number): Random =>
  new Random(`${seed}/live/${chainId}/${number}`);
