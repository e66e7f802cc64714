import type { SandboxChain } from '../chains.ts';
import { CHAINS } from '../chains.ts';
import { Random } from '../evm/random.ts';
import type { TransactionPlan } from './block-builder.ts';
import { WALLET_PROFILES } from './wallet-profiles.ts';

/** The history lies between these, whenever the sandbox starts, so that each start has the same. */
const HISTORY_START = Date.UTC(2024, 1, 1);
const HISTORY_END = Date.UTC(2026, 0, 1);

/** An act with the block that it happens in. */
export type PlannedTransaction = TransactionPlan & {
  readonly chain: SandboxChain;
  readonly number: number;
  readonly time: number;
};

/** The newest block of a chain that is not younger than a time (milliseconds since 1970). */
export const heightAt = ({ height, intervalMs }: SandboxChain, time: number): number =>
  height + Math.floor((time - HISTORY_END) / intervalMs);

const timeOf = ({ height, intervalMs }: SandboxChain, number: number): number =>
  Math.floor((HISTORY_END + (number - height) * intervalMs) / 1000) * 1000;

/** What every demo wallet did up to the end of the history, or up to now if that is earlier; oldest first. */
export const planHistory = (seed: string, now: number): readonly PlannedTransaction[] => {
  const chains = new Map(CHAINS.map((chain) => [chain.id, chain]));
  const plan = WALLET_PROFILES.flatMap(({ wallet, chainIds, past, habits }) => {
    const random = new Random(`${seed}/history/${wallet}`);
    return Array.from({ length: past }, (): PlannedTransaction => {
      const chain = chains.get(random.pick(chainIds));
      if (chain === undefined) throw new Error(`expected the chains of ${wallet} to exist, got ${chainIds}`);
      const number = heightAt(chain, random.between(HISTORY_START, HISTORY_END - 1));
      return { wallet, chain, number, time: timeOf(chain, number), template: random.weighted(habits) };
    });
  });
  return plan
    .filter(({ time }) => time <= now)
    .sort((a, b) => a.time - b.time || a.chain.id - b.chain.id || a.number - b.number);
};
