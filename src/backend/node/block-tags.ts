import { ZERO_ADDRESS } from '../evm/address.ts';
import type { BlockRef } from './answers.ts';
import type { Rpc } from './rpc.ts';

/** The block whose state is asked for: of a number, whichever is there then, or this one and no other in its place. */
export type StateAt = number | Pick<BlockRef, 'number' | 'hash'>;

/** The parameter of a call that names a block, by default the newest one. */
export type TagOf = (block?: StateAt) => Promise<unknown>;

export const tagOf = (block: number | undefined): string =>
  block === undefined ? 'latest' : `0x${block.toString(16)}`;

/** How long a node counts as one that takes hashes, or does not: a balancer may ask another one next. */
const KNOWN_MS = 60_000;

/**
 * Names blocks by their hashes, as EIP-1898 has it: a node whose chain no longer has the block refuses the call. A node that
 * does not take hashes is asked by the number.
 */
export const createTags = (rpc: Rpc): TagOf => {
  const alone = rpc.with({ attempts: 1 });
  let takesHashes = Promise.resolve(false);
  let knownUntil = 0;
  return async (block) => {
    if (block === undefined || typeof block === 'number') return tagOf(block);
    const tag = { blockHash: block.hash, requireCanonical: true };
    if (Date.now() >= knownUntil) {
      knownUntil = Date.now() + KNOWN_MS;
      takesHashes = alone.call('eth_getBalance', ZERO_ADDRESS, tag).then(
        () => true,
        () => false,
      );
    }
    return (await takesHashes) ? tag : tagOf(block.number);
  };
};
