import { createAbility } from '../ability.ts';
import type { Log } from '../dispatch/log.ts';
import type { FoundReceipt } from '../node/answers.ts';
import { createReceiptNode, type ReceiptNode } from '../node/receipts.ts';
import type { Hex, ListedTransaction } from '../types.ts';

/** Of the time of a lookup, which the explorer needs as well where the node does not answer. */
const TIMEOUT_MS = 2_500;
/** The first pause after a node has failed. */
const PAUSE_MS = 10_000;

export type Receipts = {
  /**
   * The receipts of transactions, as far as the node has them and they say what the explorer says of their place and their end. Does
   * not reject: what is missing is asked of the explorer.
   */
  of(transactions: readonly ListedTransaction[]): Promise<ReadonlyMap<Hex, FoundReceipt>>;
  close(): Promise<void>;
};

/** A node of an explorer's chain, which says the logs of transactions and the hashes of their blocks by batches. */
export const openReceipts = (chainId: number, url: string, log: Log): Receipts => {
  const node: ReceiptNode = createReceiptNode({ url, chainId, timeoutMs: TIMEOUT_MS });
  const ability = createAbility({ firstMs: PAUSE_MS });
  /** Whether the log says already that something is wrong. */
  let isTold = false;

  const tell = (problem: string): void => {
    if (!isTold) log("receipts of a node can't be used", { chain: chainId, node: node.name, problem });
    isTold = true;
  };

  /** Notes what came of the questions about transactions: the first problem; null where there was none. */
  const note = (problem: string | null, isAnyFound: boolean): void => {
    if (isAnyFound) ability.worked();
    else if (problem !== null) ability.failed();
    if (problem === null) isTold = false;
    else tell(problem);
  };

  return {
    async of(transactions) {
      const found = new Map<Hex, FoundReceipt>();
      if (transactions.length === 0 || !ability.isTried()) return found;
      const answers = await node.receipts(transactions.map(({ hash }) => hash));
      const problems = transactions.map((transaction, at): string | null => {
        const answer = answers[at];
        if (answer?.status !== 'fulfilled') return messageOf(answer?.reason);
        const difference = answer.value && differenceOf(answer.value, transaction);
        if (answer.value !== null && difference === null) found.set(transaction.hash, answer.value);
        return difference;
      });
      note(problems.find((problem) => problem !== null) ?? null, found.size > 0);
      return found;
    },
    close: () => node.close(),
  };
};

const messageOf = (problem: unknown): string =>
  problem instanceof Error ? problem.message : String(problem);

/** What a receipt says otherwise than the explorer, which may know another block of the same height; null where nothing is. */
const differenceOf = (
  { block, index, blockHash, success }: FoundReceipt,
  said: ListedTransaction,
): string | null => {
  const differs = (what: string, expected: unknown, got: unknown): string =>
    `expected ${said.hash} ${what} ${expected}, as the explorer says, got ${got}`;
  if (block !== said.blockNumber) return differs('in block', said.blockNumber, block);
  if (index !== said.index) return differs('at position', said.index, index);
  if (said.blockHash !== null && blockHash !== said.blockHash)
    return differs('in block', said.blockHash, blockHash);
  if (success !== null && said.success !== null && success !== said.success)
    return differs('with success', said.success, success);
  return null;
};
