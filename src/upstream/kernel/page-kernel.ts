import { BufferPool } from '../../lib/buffers.ts';
import { type ChainTable, DIGEST_CHARACTERS } from '../parse/derived.ts';
import type { ListPlan } from '../parse/record.ts';
import type { IndexedList } from './compile-list.ts';
import { type CompiledList, compileList } from './compile-list.ts';
import { compileChains, compilePlan, type KernelPlan } from './compile-plan.ts';
import type { IndexedPage } from './indexed-page.ts';
import { capacityFor, KernelInstance, type WriteValues, type Written } from './instance.ts';
import { TABLES, TABLES_END } from './layout.ts';
import { loadKernel } from './module.ts';

/** Indexes pages, and writes selections of them as JSON. */
export type PageKernel = {
  /**
   * Indexes a page's body, which came in these chunks. Returns null if the plain parser must read it: it is not JSON in
   * UTF-8, its envelope is unusual, it has more than `maxItems` or 4096 items, it is too dense, or it contains `secret`.
   */
  index(
    chunks: readonly Uint8Array[],
    list: IndexedList,
    maxItems: number,
    secret?: Uint8Array | null,
  ): IndexedPage | null;
  /** Compiles a plan for the pages of a list. Returns null if the object writer must write them. */
  compile(plan: ListPlan, list: IndexedList): KernelPlan | null;
  /**
   * Writes the items of a page from `from` to `to`, as many as it can in one go. The caller writes an odd item with the
   * object writer, and calls again for the rest.
   */
  write(plan: KernelPlan, page: IndexedPage, from: number, to: number, values: WriteValues): Written;
  /** Returns the index of the item with this identity that is not odd; -1 for none. */
  indexOf(page: IndexedPage, identity: string): number;
};

/** Bodies up to this size share an instance. Its memory never shrinks. */
const SHARED_BODY_BYTES = 4 * 1024 * 1024;
/** Upstream's answers are no larger. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** An instance for a larger body is dropped after this time without work. */
const LARGE_IDLE_MS = 1000;

/** Longer identities are those of odd items. */
const MAX_IDENTITY = 256;

const NOTHING = new Uint8Array();
const NO_CHAINS = Buffer.alloc(0);

export const createPageKernel = (): PageKernel => {
  const instantiate = loadKernel();
  const pool = new BufferPool();
  const shared = new KernelInstance(instantiate, capacityFor(SHARED_BODY_BYTES), pool);
  const { enumerations } = shared.kernel;
  const lists = new Map<IndexedList, CompiledList>();
  let freeTables = TABLES;
  const chainImages = new WeakMap<ChainTable, Buffer | null>();
  let large: KernelInstance | null = null;
  let dropLarge: NodeJS.Timeout | undefined;

  /** Returns null if there is no memory for a page of this many bytes. */
  const instanceFor = (bytes: number): KernelInstance | null => {
    if (bytes <= shared.capacity) return shared;
    clearTimeout(dropLarge);
    dropLarge = setTimeout(() => {
      large = null;
    }, LARGE_IDLE_MS).unref();
    if (large !== null && large.capacity >= bytes) return large;
    large = null;
    try {
      large = new KernelInstance(instantiate, bytes, pool);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    return large;
  };

  const compiled = (list: IndexedList): CompiledList => {
    const known = lists.get(list);
    if (known) return known;
    const made = compileList(list, freeTables, TABLES_END, enumerations);
    freeTables += made.image.length;
    lists.set(list, made);
    return made;
  };

  const chainImageOf = (chains: ChainTable): Buffer | null => {
    const known = chainImages.get(chains);
    if (known !== undefined) return known;
    const image = compileChains(chains);
    chainImages.set(chains, image);
    return image;
  };

  return {
    index(chunks, list, maxItems, secret = null) {
      const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      if (bytes > MAX_BODY_BYTES) return null;
      const instance = instanceFor(capacityFor(bytes));
      return instance?.index(chunks, secret, list, compiled(list), maxItems) ?? null;
    },
    compile: (plan, list) => compilePlan(plan, list, compiled(list), enumerations),
    write(plan, page, from, to, values) {
      if (plan.list !== page.list) throw new TypeError("Expected a plan of the page's list.");
      if (!(from >= 0 && from <= to && to <= page.length))
        throw new RangeError(`Expected items of a page of ${page.length}, got ${from} to ${to}.`);
      const instance = instanceFor(page.bytes);
      const chains = plan.needsChains ? chainImageOf(values.chains) : NO_CHAINS;
      if (instance === null || chains === null) return { bytes: NOTHING, next: from, isOdd: from < to };
      if (chains !== NO_CHAINS) instance.loadChains(chains);
      return instance.write(plan, page, from, to, values);
    },
    indexOf(page, identity) {
      if (identity.length > MAX_IDENTITY + 1 + DIGEST_CHARACTERS) return -1;
      const hashed = page.list.content === undefined ? identity : identity.slice(0, -1 - DIGEST_CHARACTERS);
      return page.indexOf(identity, shared.hashOf(hashed));
    },
  };
};
