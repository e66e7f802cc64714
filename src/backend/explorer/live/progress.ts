import type { Hex } from '../../types.ts';

/** What must outlive the process, so that what is watched is told once: it is kept where webhooks and their deliveries are. */
export type Progress = {
  /** The block up to which everything of an address was told; null before its first poll. */
  toldUpTo(chainId: number, address: Hex): number | null;
  /** Notes that everything up to a block is told once `tell` has run: either all of both is kept, or nothing. */
  tell(chainId: number, address: Hex, block: number, tell: () => void): void;
  /** Forgets all addresses but these. */
  forgetOthers(isWatched: (chainId: number, address: Hex) => boolean): void;
  /** The credits that polls took on a day, which is counted from 1970 in UTC. */
  spentOn(day: number): number;
  spend(day: number, credits: number): void;
};
