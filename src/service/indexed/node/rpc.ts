import {
  BatchRefusedError,
  createRedactor,
  NodeUnavailableError,
  nodeName,
  type RpcError,
  WrongChainError,
} from './errors.ts';
import { createHttpTransport } from './http.ts';
import { type CallReport, observeCalls } from './observe-calls.ts';
import { createSocketTransport } from './socket.ts';
import type { Outcome, RpcCall, Transport } from './transport.ts';

export type RpcOptions = {
  /** `http:`, `https:`, `ws:` or `wss:`. */
  readonly url: string;
  /** The chain that the node must be of. Null: any, as it is not known yet. */
  readonly chainId: number | null;
  /** Milliseconds that the node has for an answer. Default: 30,000. */
  readonly timeoutMs?: number;
  /** How often a call is sent when the node gives no answer, or asks to wait. Default: 5. */
  readonly attempts?: number;
  /** Is told of each attempt at a call. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
};

/** Calls of a node's methods. */
export type Rpc = {
  /** The node without credentials, as logs and errors name it. */
  readonly name: string;
  /**
   * Resolves with the result, unchecked. Calls of one turn of the event loop become batches.
   * Rejects with RpcError when the node refuses the call, with NodeUnavailableError when no attempt got an answer, and with
   * WrongChainError when the node is of another chain.
   */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Rejects all calls. */
  close(): Promise<void>;
};

/** The number of calls in the first batch. */
const MAX_BATCH = 32;
/** The number of batches that the node works on at a time. */
const MAX_IN_FLIGHT = 4;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;

type Pending = RpcCall & {
  attempts: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (problem: Error) => void;
};

/** Milliseconds before the next attempt: exponential, with jitter, so that what failed together is not sent together. */
export const backoffMs = (attempts: number, longest = MAX_BACKOFF_MS): number =>
  Math.min(longest, FIRST_BACKOFF_MS * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);

/** Opens no connection before the first call. */
export const createRpc = ({
  url: text,
  chainId,
  timeoutMs = 30_000,
  attempts = 5,
  onCall = () => {},
}: RpcOptions): Rpc => {
  const url = new URL(text);
  const name = nodeName(url);
  const queue: Pending[] = [];
  const sleeping = new Map<NodeJS.Timeout, Pending>();
  /** Settles when the connection is known to be to the right chain; null before that is asked. */
  let checked: Promise<void> | null = null;
  let maxBatch = MAX_BATCH;
  let inFlight = 0;
  let isScheduled = false;
  let isClosed = false;

  const unobserved = createTransport({
    url,
    timeoutMs,
    redact: createRedactor(url),
    onLost() {
      checked = null;
    },
  });
  const transport = observeCalls(unobserved, isTemporary, onCall);

  const checkChain = async (): Promise<void> => {
    if (chainId === null) return;
    const [outcome] = await transport.send([{ method: 'eth_chainId', params: [] }]);
    if (outcome === undefined || 'refusal' in outcome)
      throw new NodeUnavailableError(`the node refuses eth_chainId: ${outcome?.refusal.message}`);
    const got = Number(outcome.result);
    if (got !== chainId) throw new WrongChainError(`expected a node of chain ${chainId}, got chain ${got}`);
  };

  const retryLater = (pending: Pending, problem: Error, leastMs = 0): void => {
    pending.attempts += 1;
    if (isClosed || pending.attempts >= attempts) {
      pending.reject(problem);
      return;
    }
    const timer = setTimeout(
      () => {
        sleeping.delete(timer);
        queue.push(pending);
        flush();
      },
      Math.max(leastMs, backoffMs(pending.attempts)),
    );
    sleeping.set(timer, pending);
  };

  const settle = (pending: Pending, outcome: Outcome | undefined, isBatch: boolean): void => {
    if (outcome === undefined) retryLater(pending, new NodeUnavailableError('expected an answer, got none'));
    else if ('result' in outcome) pending.resolve(outcome.result);
    else if (isBatch && isAboutSize(outcome.refusal)) {
      shrink();
      queue.push(pending);
    } else if (isTemporary(outcome.refusal)) retryLater(pending, outcome.refusal);
    else pending.reject(outcome.refusal);
  };

  const shrink = (): void => {
    maxBatch = Math.max(1, Math.floor(maxBatch / 2));
  };

  const fail = (calls: readonly Pending[], problem: unknown): void => {
    if (problem instanceof BatchRefusedError && calls.length > 1) {
      shrink();
      queue.unshift(...calls);
    } else if (problem instanceof NodeUnavailableError)
      for (const pending of calls) retryLater(pending, problem, problem.retryAfterMs);
    else
      for (const { reject } of calls) reject(problem instanceof Error ? problem : new Error(String(problem)));
  };

  const send = async (calls: readonly Pending[]): Promise<void> => {
    inFlight += 1;
    try {
      checked ??= checkChain();
      const current = checked;
      await current.catch((problem: unknown) => {
        if (checked === current) checked = null;
        throw problem;
      });
      const outcomes = await transport.send(calls);
      if (calls.length === maxBatch && maxBatch < MAX_BATCH) maxBatch += 1;
      calls.forEach((pending, index) => {
        settle(pending, outcomes[index], calls.length > 1);
      });
    } catch (problem) {
      fail(calls, problem);
    } finally {
      inFlight -= 1;
      flush();
    }
  };

  const flush = (): void => {
    while (queue.length > 0 && inFlight < MAX_IN_FLIGHT) void send(queue.splice(0, maxBatch));
  };

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      flush();
    });
  };

  return {
    name,
    call: (method, ...params) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new NodeUnavailableError('the connection was closed'));
        queue.push({ method, params, attempts: 0, resolve, reject });
        schedule();
      }),
    async close() {
      isClosed = true;
      const closed = new NodeUnavailableError('the connection was closed');
      for (const { reject } of queue.splice(0)) reject(closed);
      for (const [timer, { reject }] of sleeping) {
        clearTimeout(timer);
        reject(closed);
      }
      sleeping.clear();
      await transport.close();
    },
  };
};

const createTransport = (options: Parameters<typeof createHttpTransport>[0]): Transport =>
  options.url.protocol.startsWith('ws') ? createSocketTransport(options) : createHttpTransport(options);

/** Whether a contract refused the call, with a text of its own. */
export const isRevert = ({ code, message }: RpcError): boolean => code === 3 || /revert/i.test(message);

/** Whether the node would take the call in a smaller batch. */
const isAboutSize = (refusal: RpcError): boolean =>
  !isRevert(refusal) &&
  (refusal.code === -32003 || refusal.code === -32600 || /too large|batch/i.test(refusal.message));

const TEMPORARY =
  /rate.?limit|limit exceeded|too many|capacity|throttl|timeout|timed out|try again|temporar|overload|busy/i;

/** Whether the node would take the call later. */
export const isTemporary = (refusal: RpcError): boolean =>
  !isRevert(refusal) && (refusal.code === 429 || refusal.code === -32005 || TEMPORARY.test(refusal.message));
