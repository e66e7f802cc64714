import { Refused } from '../../http/query.ts';
import type { EvmNode } from '../../node/node.ts';
import type { OlderTransaction } from '../../node/older.ts';
import type { FailedChain, Listed, PageStart, Part, Place } from '../../source.ts';
import type { Chain, Hex, MinedTransaction } from '../../types.ts';
import { minedOf, parseTransaction } from '../blocks/parse.ts';
import type { Index } from '../database/store.ts';
import type { IndexedData } from './data.ts';
import { inTime } from './in-time.ts';

type Options = {
  readonly index: Pick<Index, 'range'>;
  readonly data: Pick<IndexedData, 'transactions'>;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'older'>>;
  /** The first block of a chain's index that lacks older ones for good; null where it does not. */
  readonly firstOf: (chainId: number) => number | null;
  /** Milliseconds that a lookup waits for a page of a node. Default: 5,000. */
  readonly patienceMs?: number;
};

/** What is listed of a page below the first block of a chain. */
type Tail = {
  readonly chain: Chain;
  readonly items: readonly Listed<MinedTransaction>[];
  /** Whether there are more behind these. */
  readonly goesOn: boolean;
};

/** Where a walk is below the first block of a chain: behind a block and an index, or nowhere, after that could not be read. */
type Mark = Behind | 'lost';
type Behind = { readonly block: number; readonly index: number };

/** The pages of a node that are read for one page of a list. */
const MAX_PAGES = 4;

/**
 * The transactions of wallets, with those of before the first block of an index, as far as the chain's node lists them. A place is that
 * of the index (time, chain, block, index), with a mark for each chain below whose first block the walk has come.
 */
export class OlderTransactions {
  readonly #options: Options;
  readonly #patienceMs: number;

  constructor(options: Options) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 5_000;
  }

  /** Whether the list of a chain is known to go on below its first block. */
  has(chainId: number): boolean {
    return this.#options.nodes.get(chainId)?.older.isKnown() ?? false;
  }

  /**
   * Rejects with Refused where a page would have nothing but what the node can't be asked for now. Of several chains, that one is missing
   * for the rest of the walk, and named.
   */
  async of(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    start: PageStart | null,
  ): Promise<Part<Listed<MinedTransaction>>> {
    const { chains, data, firstOf } = this.#options;
    const indexed = data.transactions(wallet, chainIds, limit, start);
    const marks = marksIn(start);
    const floor = indexed.next === null ? null : (indexed.items.at(-1)?.place ?? null);
    const wanted = chains.filter(({ id }) => {
      const first = firstOf(id);
      if (!chainIds.has(id) || first === null || marks.get(id) === 'lost') return false;
      return floor === null || compare(this.#seamOf(id, first), floor) < 0;
    });
    const failed: FailedChain[] = [];
    const read = wanted.map(async (chain): Promise<readonly Tail[]> => {
      const tail = await this.#tail(wallet, chain, limit, marks.get(chain.id) ?? null);
      if (tail !== null) return [tail];
      const reason = `those before block ${firstOf(chain.id)} (START_BLOCK) could not be read`;
      failed.push({ chainId: chain.id, reason, isPart: true });
      return [];
    });
    const tails = (await Promise.all(read)).flat();
    if (failed.length > 0 && chainIds.size === 1) return alone(indexed, failed);
    for (const { chainId } of failed) marks.set(chainId, 'lost');
    for (const [chainId, mark] of marks)
      if (mark === 'lost' && !failed.some((each) => each.chainId === chainId))
        failed.push({ chainId, reason: 'they could not be read for an earlier page', isPart: true });
    return { ...merged(indexed, tails, limit, marks), failed };
  }

  /** The place behind which the transactions of a chain come that its index lacks. */
  #seamOf(chainId: number, first: number): Place {
    const time = this.#options.index.range(chainId)?.lowest.time ?? Number.MAX_SAFE_INTEGER;
    return [time, chainId, first, 0];
  }

  /** Null where the node fails; nothing where it does not have the transactions of wallets. */
  async #tail(wallet: Hex, chain: Chain, limit: number, mark: Mark | null): Promise<Tail | null> {
    const older = this.#options.nodes.get(chain.id)?.older;
    const behind = mark === 'lost' ? null : mark;
    const isThere = await inTime(this.#patienceMs, older?.isThere() ?? NOWHERE).catch(() => false);
    if (older !== undefined && isThere) return this.#read(older, wallet, chain, limit, behind);
    // A walk that has come here can't end here.
    return behind === null ? { chain, items: [], goesOn: false } : null;
  }

  async #read(
    older: EvmNode['older'],
    wallet: Hex,
    chain: Chain,
    limit: number,
    behind: Behind | null,
  ): Promise<Tail | null> {
    const items: Listed<MinedTransaction>[] = [];
    const first = this.#options.firstOf(chain.id) ?? 0;
    let below = behind === null ? first : Math.min(first, behind.block + 1);
    for (let pages = 0; pages < MAX_PAGES && items.length <= limit; pages += 1) {
      const page = await inTime(this.#patienceMs, older.before(wallet, below, limit + 1)).catch(() => null);
      if (page === null) break;
      for (const each of page.items) if (isBehind(each, behind)) items.push(listed(chain, each));
      if (page.isLast) return { chain, items, goesOn: false };
      below = page.items.at(-1)?.block.number ?? below;
    }
    return items.length === 0 ? null : { chain, items, goesOn: true };
  }
}

const NOWHERE = Promise.resolve(false);

const listed = (chain: Chain, { block, index, transaction, receipt }: OlderTransaction) => ({
  transaction: minedOf(chain, block, parseTransaction(index, transaction, receipt)),
  place: [block.time, chain.id, block.number, index],
});

const isBehind = ({ block, index }: OlderTransaction, behind: Behind | null): boolean =>
  behind === null || block.number < behind.block || (block.number === behind.block && index < behind.index);

/** Of one chain: what its index has first, and then an error. */
const alone = (
  { items }: Part<Listed<MinedTransaction>>,
  [failure]: readonly FailedChain[],
): Part<Listed<MinedTransaction>> => {
  const last = items.at(-1);
  if (last === undefined)
    throw new Refused(
      503,
      `The transactions could not be read: ${failure?.reason}: try again later`,
      RETRY_AFTER,
    );
  return { items, next: last.place, isEnough: true };
};

/** Seconds until a client asks again. */
const RETRY_AFTER = 10;

/** Below 0 where the first place comes before the second one. */
const compare = (one: Place, other: Place): number => {
  for (let at = 0; at < 4; at += 1) {
    const difference = Number(other[at] ?? 0) - Number(one[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

/** The first items of all, as far as nothing that is not read yet may come before them. */
const merged = (
  indexed: Part<Listed<MinedTransaction>>,
  tails: readonly Tail[],
  limit: number,
  marks: Map<number, Mark>,
): Part<Listed<MinedTransaction>> => {
  const below = new Set(tails.flatMap(({ items }) => items));
  const all = [...indexed.items, ...below].sort((one, other) => compare(one.place, other.place));
  const open = [
    ...(indexed.next === null ? [] : [indexed.items]),
    ...tails.flatMap((tail) => (tail.goesOn ? [tail.items] : [])),
  ];
  const ends = open.flatMap((list) => list.at(-1) ?? []);
  const items: Listed<MinedTransaction>[] = [];
  for (const each of all.slice(0, limit)) {
    if (ends.some((end) => compare(each.place, end.place) > 0)) break;
    const { chain, blockNumber: block, index } = each.transaction;
    if (below.has(each)) marks.set(chain.id, { block, index });
    items.push({ ...each, place: [...each.place, ...[...marks].map(markText)] });
  }
  const isAll = items.length === all.length && ends.length === 0;
  return { items, next: isAll ? null : (items.at(-1)?.place ?? null) };
};

const markText = ([chainId, mark]: readonly [number, Mark]): string =>
  mark === 'lost' ? `${chainId}:lost` : `${chainId}:${mark.block}:${mark.index}`;

const marksIn = (start: PageStart | null): Map<number, Mark> =>
  new Map(
    (start?.place.slice(4) ?? []).map((text): readonly [number, Mark] => {
      const [chainId, block = '', index = ''] = String(text).split(':');
      return [Number(chainId), block === 'lost' ? 'lost' : { block: Number(block), index: Number(index) }];
    }),
  );
