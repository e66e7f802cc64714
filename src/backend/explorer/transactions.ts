import type { z } from 'zod';
import type { Revert } from '../evm/revert.ts';
import { Refused } from '../http/query.ts';
import type { FoundReceipt } from '../node/answers.ts';
import type { Detail, Listed, PageStart, Part } from '../source.ts';
import type { Hex, ListedTransaction, LogEntry } from '../types.ts';
import type { Lookup } from './client/chain.ts';
import { OPERATIONS } from './client/operations.ts';
import type { Cursor } from './client/order.ts';
import type { Page } from './client/paging.ts';
import type { ExplorerTransaction } from './client/rows.ts';
import { decodedIn, revertIn } from './decoded.ts';
import { type Explorer, unexpected } from './explorer.ts';
import type { Receipts } from './receipts.ts';
import {
  cursorBehind,
  isBehind,
  type Route,
  routeIn,
  type WalletTransaction,
  type WalletTransactions,
  wordsOf,
} from './wallet-transactions.ts';

type LogRow = z.output<typeof OPERATIONS.transactionLogs.row>;

/** The transactions of a page whose details need one or two requests each, of which a second has about four. */
export const MAX_DETAILED = 12;
/** The pages of logs of one transaction. */
const MAX_LOG_PAGES = 20;
/** The pages that are read for one that has anything. */
const MAX_EMPTY_PAGES = 3;

const newestFirst = (one: ExplorerTransaction, other: ExplorerTransaction): number =>
  other.block_number - one.block_number || other.position - one.position;

/** Receipts of before Byzantium do not say it, but the explorer's own words may. Null where nothing does. */
export const hasSucceeded = ({ status, result }: ExplorerTransaction): boolean | null => {
  if (status !== null) return status === 'ok';
  return result === 'success' ? true : null;
};

const NO_RECEIPTS: ReadonlyMap<Hex, FoundReceipt> = new Map();

/** The number of transactions of which all details can be read, as far as each needs requests of its own. */
const affordable = (
  transactions: readonly ListedTransaction[],
  receipts: ReadonlyMap<Hex, FoundReceipt>,
  details: ReadonlySet<Detail>,
): number => {
  if (details.size === 0) return transactions.length;
  const costly = [...transactions.keys()].filter((at) => !receipts.has(transactions[at]?.hash ?? '0x'));
  return costly[MAX_DETAILED] ?? transactions.length;
};

const isReasonSaid = ({ result, revert_reason: reason }: ExplorerTransaction): boolean =>
  result !== null || (reason !== undefined && reason !== null);

/** The transactions that an explorer lists for an address: those that it sent or got, or that created it. */
export class ExplorerTransactions {
  readonly #explorer: Explorer;
  readonly #ofWallets: WalletTransactions;
  readonly #receipts: Receipts | null;
  readonly #reverts = new WeakMap<ListedTransaction, Revert>();

  /** `receipts` says the details of transactions in place of the explorer; null where that is not wanted. */
  constructor(explorer: Explorer, ofWallets: WalletTransactions, receipts: Receipts | null) {
    this.#explorer = explorer;
    this.#ofWallets = ofWallets;
    this.#receipts = receipts;
  }

  /**
   * One page of the explorer's, or less where details are wanted. A place is the number of a block, the index in it, and the words of
   * its route.
   */
  async list(
    wallet: Hex,
    limit: number,
    start: PageStart | null,
    details: ReadonlySet<Detail>,
  ): Promise<Part<Listed<ListedTransaction>>> {
    const lookup = this.#explorer.lookup(wallet);
    const isFree = details.size === 0 || this.#receipts !== null;
    const most = isFree ? limit : Math.min(limit, MAX_DETAILED);
    const { rows, goesOn, route } = await this.#rows(wallet, most, start, lookup);
    const listed = rows.slice(0, most).map((row) => this.#transaction(row));
    const receipts = await this.#receiptsOf(listed, details);
    const taken = listed.slice(0, affordable(listed, receipts, details));
    const last = taken.at(-1);
    const isCut = taken.length < rows.length;
    const words = wordsOf(route);
    const transactions = await this.#detailed(taken, receipts, details, lookup);
    return {
      items: transactions.map((transaction) => ({
        transaction,
        place: [transaction.blockNumber, transaction.index, ...words],
      })),
      next: last !== undefined && (isCut || goesOn) ? [last.blockNumber, last.index, ...words] : null,
      isEnough: true,
    };
  }

  async find(hash: Hex, details: ReadonlySet<Detail>): Promise<ListedTransaction | null> {
    const lookup = this.#explorer.lookup(hash);
    const row = await this.#explorer.one(OPERATIONS.transaction, { hash }, lookup);
    if (row === null) return null;
    return this.ofRow({ ...row, blockHash: null, isDecoded: true }, details, lookup);
  }

  /** The transaction of a row of the list. */
  async ofRow(
    row: WalletTransaction,
    details: ReadonlySet<Detail>,
    lookup: Lookup,
  ): Promise<ListedTransaction> {
    const transaction = this.#transaction(row);
    const receipts = await this.#receiptsOf([transaction], details);
    const [detailed = transaction] = await this.#detailed([transaction], receipts, details, lookup);
    return detailed;
  }

  /** @throws Refused for a transaction that is not known to have failed. */
  revert(transaction: ListedTransaction): Revert {
    const revert = this.#reverts.get(transaction);
    if (revert === undefined) throw new Refused(503, `Why ${transaction.hash} failed is not known`);
    return revert;
  }

  /** The rows behind a place, and whether the list goes on behind them. None are its end. */
  async #rows(
    wallet: Hex,
    limit: number,
    start: PageStart | null,
    lookup: Lookup,
  ): Promise<{
    readonly rows: readonly WalletTransaction[];
    readonly goesOn: boolean;
    readonly route: Route;
  }> {
    let cursor = cursorBehind(start);
    let route = routeIn(start);
    for (let pages = 0; pages < MAX_EMPTY_PAGES; pages += 1) {
      const page = await this.#ofWallets.page(wallet, cursor, lookup, { limit, route });
      const rows = page.items.filter((row) => isBehind(row, start)).toSorted(newestFirst);
      if (page.next === null || rows.length > 0)
        return { rows, goesOn: page.next !== null, route: page.route };
      ({ next: cursor, route } = page);
    }
    throw unexpected(this.#explorer.chain, 'pages of transactions without any in a block');
  }

  #transaction(row: WalletTransaction): ListedTransaction {
    const { chain, known } = this.#explorer;
    for (const account of [row.from, row.to, row.created_contract]) if (account) known.account(account);
    known.native(row.exchange_rate);
    const transaction = {
      chain,
      blockHash: row.blockHash,
      blockNumber: row.block_number,
      blockTime: row.timestamp,
      index: row.position,
      hash: row.hash,
      from: row.from.hash,
      to: row.to?.hash ?? null,
      value: row.value,
      data: row.raw_input,
      nonce: row.nonce,
      gasPrice: row.gas_price,
      gasUsed: row.gas_used,
      // Of a mined transaction, explorers say the price that was paid.
      effectiveGasPrice: row.gas_price,
      fee: row.fee?.type === 'actual' ? row.fee.value : null,
      type: row.type,
      success: hasSucceeded(row),
      // One that failed has made none, whatever it was to make.
      created: row.status === 'error' ? null : (row.created_contract?.hash ?? null),
      logs: null,
      decoded: row.isDecoded ? decodedIn(row.decoded_input) : undefined,
    };
    if (transaction.success === false && isReasonSaid(row)) this.#reverts.set(transaction, revertIn(row));
    return transaction;
  }

  /** The receipts that a node has of transactions, where anything in them is wanted. */
  async #receiptsOf(transactions: readonly ListedTransaction[], details: ReadonlySet<Detail>) {
    if (details.size === 0 || this.#receipts === null) return NO_RECEIPTS;
    return this.#receipts.of(transactions);
  }

  /** Reads what is wanted of transactions beside their rows. Rejects with Refused where any of it can't be read. */
  async #detailed(
    transactions: readonly ListedTransaction[],
    receipts: ReadonlyMap<Hex, FoundReceipt>,
    details: ReadonlySet<Detail>,
    lookup: Lookup,
  ): Promise<readonly ListedTransaction[]> {
    if (details.size === 0) return transactions;
    const logs = details.has('logs')
      ? await Promise.all(transactions.map((each) => receipts.get(each.hash) ?? this.#logs(each, lookup)))
      : null;
    const hashes = new Map<number, Hex>();
    for (const [at, { hash: own, blockNumber, blockHash }] of transactions.entries()) {
      const hash = blockHash ?? receipts.get(own)?.blockHash ?? logs?.[at]?.blockHash ?? null;
      if (hash !== null) hashes.set(blockNumber, hash);
    }
    if (details.has('block_hash')) await this.#addHashes(transactions, hashes, lookup);
    return transactions.map((transaction, at) => {
      const detailed = {
        ...transaction,
        blockHash: hashes.get(transaction.blockNumber) ?? null,
        logs: logs?.[at]?.logs ?? null,
      };
      const revert = this.#reverts.get(transaction);
      if (revert !== undefined) this.#reverts.set(detailed, revert);
      return detailed;
    });
  }

  /** A failed transaction has no logs. */
  async #logs(
    { hash, success }: ListedTransaction,
    lookup: Lookup,
  ): Promise<{ readonly logs: readonly LogEntry[]; readonly blockHash: Hex | null }> {
    if (success === false) return { logs: [], blockHash: null };
    const logs = new Map<number, LogEntry>();
    let blockHash: Hex | null = null;
    let cursor: Cursor | null = null;
    for (let pages = 0; pages < MAX_LOG_PAGES; pages += 1) {
      const page: Page<LogRow> | null = await this.#explorer.list(
        OPERATIONS.transactionLogs,
        { hash },
        cursor,
        lookup,
      );
      if (page === null) throw unexpected(this.#explorer.chain, `it lists ${hash} without knowing it`);
      for (const { address, index, topics, data, decoded, block_hash } of page.items) {
        this.#explorer.known.account(address);
        logs.set(index, { address: address.hash, topics, data, decoded: decodedIn(decoded) });
        blockHash ??= block_hash;
      }
      if (page.next === null) return { logs: inOrder(logs), blockHash };
      cursor = page.next;
    }
    throw new Refused(503, `The transaction ${hash} has more logs than are read`);
  }

  /** Adds the hashes of blocks that are not known. */
  async #addHashes(
    transactions: readonly ListedTransaction[],
    hashes: Map<number, Hex>,
    lookup: Lookup,
  ): Promise<void> {
    const missing = new Set(
      transactions.map(({ blockNumber }) => blockNumber).filter((each) => !hashes.has(each)),
    );
    await Promise.all(
      [...missing].map(async (number) => {
        const block = await this.#explorer.one(OPERATIONS.block, { block: number }, lookup);
        if (block === null) throw unexpected(this.#explorer.chain, `it does not know its block ${number}`);
        hashes.set(number, block.hash);
      }),
    );
  }
}

const inOrder = (logs: ReadonlyMap<number, LogEntry>): readonly LogEntry[] =>
  [...logs].sort(([one], [other]) => one - other).map(([, log]) => log);
