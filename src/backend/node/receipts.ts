import type { Hex } from '../types.ts';
import { type FoundReceipt, InvalidAnswerError, readFoundReceipt } from './answers.ts';
import { createRedactor } from './errors.ts';
import { createRpc } from './rpc.ts';

/** A node that is asked for receipts alone. */
export type ReceiptNode = {
  /** The node without credentials, as logs name it. */
  readonly name: string;
  /**
   * The receipts of transactions, asked for in batches, each once: whoever asks has another way. A value is null where the node has
   * none. Each rejects as the calls of `Rpc` do, and with InvalidAnswerError.
   */
  receipts(hashes: readonly Hex[]): Promise<readonly PromiseSettledResult<FoundReceipt | null>[]>;
  close(): Promise<void>;
};

type Options = {
  /** `http:`, `https:`, `ws:` or `wss:`, with credentials as needed. They appear in no error. */
  readonly url: string;
  readonly chainId: number;
  /** Milliseconds that the node has for a batch. */
  readonly timeoutMs: number;
};

/** Opens no connection before it is asked. */
export const createReceiptNode = ({ url, chainId, timeoutMs }: Options): ReceiptNode => {
  const rpc = createRpc({ url, chainId, timeoutMs, attempts: 1 });
  const redact = createRedactor(new URL(url));
  const receipt = (hash: Hex): Promise<FoundReceipt | null> =>
    rpc.read(readFoundReceipt(hash), 'eth_getTransactionReceipt', hash).catch((problem: unknown) => {
      // It may show what the node has repeated of its URL.
      throw problem instanceof InvalidAnswerError ? new InvalidAnswerError(redact(problem.message)) : problem;
    });
  return {
    name: rpc.name,
    receipts: (hashes) => Promise.allSettled(hashes.map(receipt)),
    close: () => rpc.close(),
  };
};
