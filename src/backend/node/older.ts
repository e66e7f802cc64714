import { createAbility } from '../ability.ts';
import type { Hex } from '../types.ts';
import {
  type BlockRef,
  expected,
  InvalidAnswerError,
  listOf,
  members,
  type RpcReceipt,
  type RpcTransaction,
  readHash,
  readInteger,
  readReceipt,
  readTransaction,
} from './answers.ts';
import { RpcError } from './errors.ts';
import type { Rpc } from './rpc.ts';

/**
 * The transactions of a wallet, as nodes with the API of Otterscan have them (Erigon, Anvil): those that it sent, and those in whose
 * calls it took part, but not those that only moved a token to it.
 */

export type OlderTransaction = {
  readonly block: BlockRef;
  /** Its position in the block. */
  readonly index: number;
  readonly transaction: RpcTransaction;
  readonly receipt: RpcReceipt;
};

type OlderPage = {
  /** The newest first, with all that the wallet has in each of their blocks. */
  readonly items: readonly OlderTransaction[];
  /** Whether there are none in older blocks. */
  readonly isLast: boolean;
};

export type Older = {
  /** Whether the node has the API: false while that can't be found out. */
  isThere(): Promise<boolean>;
  /** Whether it is known that the node has the API. */
  isKnown(): boolean;
  /** The newest transactions of a wallet in blocks below a number, about `limit` of them. Rejects as the calls of a node do. */
  before(wallet: Hex, block: number, limit: number): Promise<OlderPage>;
};

/** Erigon gives no more. */
const MAX_PAGE = 25;
/** Whole blocks make a page longer: a wallet with more in one of them is not read. */
const MAX_ROWS = 10_000;
/** That of the methods which are used. */
const LEAST_LEVEL = 8;
const PAUSE_MS = 10_000;

type FindBlock = (number: number) => Promise<BlockRef | null>;

/** `find` reads a block of the node. */
export const createOlder = (rpc: Rpc, find: FindBlock): Older => {
  const ability = createAbility({ firstMs: PAUSE_MS });
  let isKnown = false;

  const ask = async (): Promise<boolean> => {
    try {
      return await hasOlder(rpc);
    } catch {
      return false;
    }
  };

  /** A transaction of a page, with its place. */
  const read = (value: unknown, before: number) => {
    const { blockNumber, blockHash, transactionIndex } = members(value, 'a transaction');
    const number = readInteger(blockNumber, 'the block of a transaction');
    if (number >= before) throw expected(`a transaction below block ${before}`, blockNumber);
    return {
      number,
      hash: readHash(blockHash, "the hash of a transaction's block"),
      index: readInteger(transactionIndex, 'the position of a transaction'),
      transaction: readTransaction(value),
    };
  };

  const readPage = (answer: unknown, before: number) => {
    const { txs, receipts, lastPage } = members(answer, 'a page of transactions');
    const list = listOf(txs, 'transactions');
    if (list.length > MAX_ROWS) throw expected(`at most ${MAX_ROWS} transactions`, list.length);
    if (typeof lastPage !== 'boolean') throw expected('whether a page is the last', lastPage);
    if (list.length === 0 && !lastPage) throw expected('transactions, or the last page', answer);
    const rows = list
      .map((each) => read(each, before))
      .sort((one, other) => other.number - one.number || other.index - one.index);
    const places = new Set(rows.map(({ number, index }) => `${number} ${index}`));
    const hashes = new Set(rows.map(({ transaction }) => transaction.hash));
    if (Math.min(places.size, hashes.size) < rows.length)
      throw expected('each transaction once', 'one twice');
    return { rows, receipts: receiptsIn(receipts), isLast: lastPage };
  };

  type Row = ReturnType<typeof read>;

  /** The page may have come of another chain of blocks than the node has now. */
  const blockOf = async ({ number, hash }: Row): Promise<BlockRef> => {
    const block = await find(number);
    if (block?.hash !== hash)
      throw new ReplacedBlockError(`expected block ${hash} at ${number}, got ${block?.hash ?? 'none'}`);
    return block;
  };

  /** That of the page, or, where it leaves out its logs, by itself. */
  const receiptOf = async (row: Row, said: unknown): Promise<RpcReceipt> => {
    const { transaction } = row;
    const toRead = (value: unknown) => readReceipt(value, row, transaction);
    if (Array.isArray(Reflect.get(Object(said), 'logs'))) return toRead(said);
    return rpc.read(toRead, 'eth_getTransactionReceipt', transaction.hash);
  };

  const pageBefore = async (wallet: Hex, before: number, limit: number): Promise<OlderPage> => {
    const { rows, receipts, isLast } = await rpc.read(
      (answer) => readPage(answer, before),
      'ots_searchTransactionsBefore',
      wallet,
      before,
      Math.max(1, Math.min(MAX_PAGE, limit)),
    );
    const blocks = await Promise.all(
      [...Map.groupBy(rows, ({ number }) => number).values()].map(async ([row, ...others]) => {
        if (row === undefined) return [];
        const block = await blockOf(row);
        return [row, ...others].map((each) => ({ ...each, block }));
      }),
    );
    const items = blocks.flat().map(async ({ block, ...row }): Promise<OlderTransaction> => {
      if (block.hash !== row.hash) throw expected(`block ${block.hash} at ${row.number}`, row.hash);
      const receipt = await receiptOf(row, receipts.get(row.transaction.hash));
      return { block, index: row.index, transaction: row.transaction, receipt };
    });
    return { items: await Promise.all(items), isLast };
  };

  return {
    async isThere() {
      if (isKnown) return true;
      if (!ability.isTried()) return false;
      isKnown = await ask();
      if (isKnown) ability.worked();
      else ability.failed();
      return isKnown;
    },
    isKnown: () => isKnown,
    async before(wallet, before, limit) {
      // There is no transaction in a genesis block, and below it there is none: nodes differ in what they say of that.
      if (before <= 1) return { items: [], isLast: true };
      try {
        return await pageBefore(wallet, before, limit);
      } catch (problem) {
        // The chain may have changed between the page and its blocks.
        if (!(problem instanceof ReplacedBlockError)) throw problem;
        return pageBefore(wallet, before, limit);
      }
    },
  };
};

/** A page is of another block than the node has now. */
class ReplacedBlockError extends InvalidAnswerError {}

/** By the hashes of their transactions, as the node wrote these. */
const receiptsIn = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(
    (Array.isArray(value) ? value : []).flatMap((receipt: unknown) => {
      const hash: unknown = Reflect.get(Object(receipt), 'transactionHash');
      return typeof hash === 'string' ? [[hash.toLowerCase(), receipt] as const] : [];
    }),
  );

/** Whether a node has the API. Rejects where it does not answer. */
export const hasOlder = async (rpc: Rpc): Promise<boolean> => {
  const level = await rpc.call('ots_getApiLevel').catch((problem: unknown) => {
    if (problem instanceof RpcError) return 0;
    throw problem;
  });
  return Number(level) >= LEAST_LEVEL;
};
