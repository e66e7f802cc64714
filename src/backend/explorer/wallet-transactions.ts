import { LRUCache } from 'lru-cache';
import { Refused } from '../http/query.ts';
import type { PageStart, Place } from '../source.ts';
import type { Hex } from '../types.ts';
import type { Lookup } from './client/chain.ts';
import { OPERATIONS } from './client/operations.ts';
import type { Cursor } from './client/order.ts';
import type { Page } from './client/paging.ts';
import type { EtherscanTransaction, ExplorerTransaction } from './client/rows.ts';
import { type Explorer, Unanswered, unexpected } from './explorer.ts';

/** The list by cursors, which says most, and that in the style of Etherscan, which is fast for busy wallets. */
export type Route = 'cursors' | 'txlist';

export type WalletTransaction = ExplorerTransaction & {
  readonly blockHash: Hex | null;
  /** Whether the explorer decodes calls on its route, where it can. */
  readonly isDecoded: boolean;
};

export type WalletPage = Page<WalletTransaction> & { readonly route: Route };

/** A page of the route in the style of Etherscan costs the same whatever its size, and begins with all of a block. */
const TXLIST_ROWS = 100;
/** The pages of it that are read for one that has anything. */
const MAX_PAGES = 5;
/** For how long a wallet is taken to be too much for the list by cursors, after it was. */
const BUSY_MS = 600_000;
const MAX_BUSY = 1_000;

/**
 * The transactions that an explorer lists for a wallet, by whichever of its two routes answers in time. Both have the same ones in the
 * same order, and a cursor is that of a block and an index in it, so that a walk may change from one to the other anywhere.
 */
export class WalletTransactions {
  readonly #explorer: Explorer;
  readonly #busy = new LRUCache<Hex, true>({ max: MAX_BUSY, ttl: BUSY_MS });

  constructor(explorer: Explorer) {
    this.#explorer = explorer;
  }

  /** The page behind a cursor. `route` is the one to try first: that of the page before. */
  async page(
    wallet: Hex,
    cursor: Cursor | null,
    lookup: Lookup,
    { limit, route = null }: { readonly limit?: number; readonly route?: Route | null } = {},
  ): Promise<WalletPage> {
    const byCursors = async (inTime: Lookup): Promise<WalletPage> => {
      const wanted = { address: wallet };
      const page = await this.#explorer.page(OPERATIONS.addressTransactions, wanted, cursor, inTime, limit);
      return {
        ...page,
        items: page.items.map((row) => ({ ...row, blockHash: null, isDecoded: true })),
        route: 'cursors',
      };
    };
    const byTxlist = (inTime: Lookup): Promise<WalletPage> => this.#txlist(wallet, cursor, inTime);
    const half = this.#explorer.half(lookup);
    if (route === 'txlist' || this.#busy.has(wallet)) {
      const page = await byTxlist(half).catch(unlessRefused);
      return page ?? byCursors(lookup);
    }
    try {
      return await byCursors(half);
    } catch (problem) {
      if (!(problem instanceof Unanswered)) throw problem;
      const page = await byTxlist(lookup).catch(unlessRefused);
      if (page === null) throw problem;
      this.#busy.set(wallet, true);
      return page;
    }
  }

  /** The last block of the cursor is read again from its beginning. */
  async #txlist(wallet: Hex, cursor: Cursor | null, lookup: Lookup): Promise<WalletPage> {
    const block = cursor?.block_number ?? null;
    const wanted = {
      ...{ address: wallet, pageSize: TXLIST_ROWS },
      ...(block !== null && { lastBlock: Number(block) }),
    };
    const start = block === null ? null : startAt(Number(block), Number(cursor?.index ?? 0));
    let numbered: Cursor | null = null;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page: Page<EtherscanTransaction> = await this.#explorer.page(
        OPERATIONS.txlist,
        wanted,
        numbered,
        lookup,
      );
      const items = page.items
        .map((row) => rowOf(this.#explorer.chain.id, row))
        .filter((row) => isBehind(row, start));
      const last = items.at(-1);
      const isEnd = page.next === null;
      if (last !== undefined || isEnd) {
        const next = isEnd || last === undefined ? null : cursorOf(last);
        return { items, next, isIncomplete: false, route: 'txlist' };
      }
      numbered = page.next;
    }
    throw unexpected(this.#explorer.chain, 'more of one block than is read');
  }
}

const unlessRefused = (problem: unknown): null => {
  if (problem instanceof Refused) return null;
  throw problem;
};

type Placed = Pick<ExplorerTransaction, 'block_number' | 'position'>;

const startAt = (block: number, index: number): PageStart => ({ place: [block, index], including: false });

/** The cursor of what comes behind a row: explorers take it from any. */
const cursorOf = ({ block_number, position }: Placed): Cursor => ({ block_number, index: position });

/** The cursor of what comes behind a place of a block and an index in it. */
export const cursorBehind = (start: PageStart | null): Cursor | null => {
  if (start === null) return null;
  const [block = 0, index = 0] = start.place.map(Number);
  return { block_number: block, index: start.including ? index + 1 : index };
};

export const isBehind = ({ block_number: block, position }: Placed, start: PageStart | null): boolean => {
  if (start === null) return true;
  const [placed = 0, index = 0] = start.place.map(Number);
  return block < placed || (block === placed && position < index + (start.including ? 1 : 0));
};

/** Offsets name the route that their walk is on, behind what else they say. Without, it is the list by cursors. */
export const wordsOf = (route: Route): Place => (route === 'txlist' ? [route] : []);

export const routeIn = (start: PageStart | null): Route | null =>
  start?.place.includes('txlist') ? 'txlist' : null;

/** The blocks from which on receipts say how a transaction ended, where a chain has older ones. Of those, the route calls each a failure. */
const BYZANTIUM: ReadonlyMap<number, number> = new Map([
  [1, 4_370_000],
  [61, 8_772_000],
]);

const NOT_SAID = {
  ...{ result: null, type: null, decoded_input: null, revert_reason: undefined, method: null },
  ...{ transaction_types: null, exchange_rate: null, historic_exchange_rate: null },
  // On some chains it is more than the gas.
  fee: null,
};

const accountAt = (hash: Hex): ExplorerTransaction['from'] => ({
  ...{ hash, name: null, ens_domain_name: null, is_contract: null, is_verified: null },
  ...{ is_scam: null, reputation: null },
});

const rowOf = (chainId: number, row: EtherscanTransaction): WalletTransaction => ({
  ...NOT_SAID,
  hash: row.hash,
  status: statusOf(chainId, row),
  block_number: row.blockNumber,
  blockHash: row.blockHash,
  isDecoded: false,
  timestamp: row.timeStamp,
  position: row.transactionIndex,
  from: accountAt(row.from),
  to: row.to && accountAt(row.to),
  created_contract: row.contractAddress && accountAt(row.contractAddress),
  value: row.value,
  nonce: row.nonce,
  gas_limit: row.gas,
  gas_used: row.gasUsed,
  gas_price: row.gasPrice,
  raw_input: row.input,
});

const statusOf = (chainId: number, { isError, blockNumber }: EtherscanTransaction) => {
  if (isError === '0') return 'ok';
  return blockNumber < (BYZANTIUM.get(chainId) ?? 0) ? null : 'error';
};
