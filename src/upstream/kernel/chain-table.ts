import { Image } from './image.ts';
import type { Constants } from './module.ts';

const ENTRY_BYTES = 16;
const ENTRIES = 4;

/**
 * Compiles the ids of chains by their names to the hash table of kernel/assembly/derived.ts. Returns null for more than it
 * has room for.
 */
export const compileChainIds = (
  chainIds: ReadonlyMap<string, number>,
  { CHAINS, CHAINS_END }: Pick<Constants, 'CHAINS' | 'CHAINS_END'>,
): Buffer | null => {
  try {
    const image = new Image(CHAINS, CHAINS_END);
    const buckets = 2 ** Math.ceil(Math.log2(2 * chainIds.size + 2));
    const address = image.allocate(ENTRIES + buckets * ENTRY_BYTES) + ENTRIES;
    image.set(CHAINS, buckets - 1);
    const taken = new Set<number>();
    for (const [chain, chainId] of chainIds) {
      const name = image.text(JSON.stringify(chain));
      const id = image.text(String(chainId));
      let bucket = hashOf(JSON.stringify(chain)) & (buckets - 1);
      while (taken.has(bucket)) bucket = (bucket + 1) & (buckets - 1);
      taken.add(bucket);
      image.set(address + bucket * ENTRY_BYTES, name.address, name.length, id.address, id.length);
    }
    return image.finish();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

/** FNV-1a of the bytes of a text. */
const hashOf = (text: string): number =>
  Buffer.from(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x0100_0193), 0x811c_9dc5 | 0) >>> 0;
