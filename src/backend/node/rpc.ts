import { createAbility } from '../ability.ts';
import { InvalidAnswerError } from './answers.ts';
import { type Connection, type ConnectionOptions, createConnection } from './connection.ts';
import { BatchRefusedError, NodeUnavailableError, TimedOutError } from './errors.ts';
import { isAboutSize, isOfCall, isPassing } from './refusals.ts';
import type { Outcome, RpcCall } from './transport.ts';

export type Limits = {
  /**
   * Milliseconds that the node has for an answer. A call that it has not answered after this time is not sent again, unless
   * it was one of a batch. Some calls take a node long; as most that take long are lost, the first attempt ends sooner.
   */
  readonly timeoutMs: number;
  /** How often a call is sent when the node fails. */
  readonly attempts: number;
  /** The most calls in a batch. Providers take from 3 to 1000, and some are slow with many. */
  readonly maxBatch: number;
  /** Milliseconds that the node has for a batch. After them its calls are sent alone: one may be what takes so long. */
  readonly batchMs: number;
  /** The number of batches that the node works on at a time. Over a WebSocket, as many calls are sent without batches. */
  readonly maxInFlight: number;
};

/** Calls of a node's methods. */
export type Rpc = {
  /** The node without credentials, as logs and errors name it. */
  readonly name: string;
  /**
   * Resolves with the result, unchecked. Calls of one turn of the event loop become batches.
   * Rejects with RpcError when the node refuses the call, with NodeUnavailableError when no attempt got an answer, and with
   * WrongChainError when the node belongs to another chain.
   */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** As `call`, with the result read. One for which `read` throws InvalidAnswerError is asked for again like any failure. */
  read<Result>(
    read: (result: unknown) => Result,
    method: string,
    ...params: readonly unknown[]
  ): Promise<Result>;
  /** The same connection, with other limits and a queue of its own: calls in one queue don't wait for those in another. */
  with(limits: Partial<Limits>): Rpc;
  /** Rejects all calls. */
  close(): Promise<void>;
};

const FIRST_TIMEOUT_MS = 10_000;
const DEFAULTS: Limits = {
  ...{ timeoutMs: 30_000, attempts: 5 },
  ...{ maxBatch: 32, batchMs: FIRST_TIMEOUT_MS, maxInFlight: 4 },
};
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;

/** Milliseconds before the next attempt: exponential, with jitter, so that what failed together is not sent together. */
export const backoffMs = (attempts: number, longest = MAX_BACKOFF_MS): number =>
  Math.min(longest, FIRST_BACKOFF_MS * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);

/** Opens no connection before the first call. */
export const createRpc = (options: ConnectionOptions & Partial<Limits>): Rpc => {
  const connection = createConnection(options);
  const queues: ReturnType<typeof createQueue>[] = [];
  const rpcWith = (limits: Limits): Rpc => {
    const queue = createQueue(connection, limits);
    queues.push(queue);
    return {
      name: connection.name,
      call: (method, ...params) => queue.add({ method, params }, (result) => result),
      read: (read, method, ...params) => queue.add({ method, params }, read),
      with: (others) => rpcWith({ ...limits, ...others }),
      async close() {
        for (const each of queues) each.close();
        await connection.close();
      },
    };
  };
  return rpcWith({ ...DEFAULTS, ...options });
};

type Pending = RpcCall & {
  /** When it was first asked for. */
  readonly since: number;
  attempts: number;
  /** The calls in the batch that failed as a whole or left it out, after which it is sent alone: 0 for none. */
  failedAmong: number;
  /** Reads the result, and resolves the call with it. */
  readonly resolve: (result: unknown) => void;
  readonly reject: (problem: unknown) => void;
};

/** How many calls go into one batch: as many as wanted, or half of the last batch that the node refused. */
const createBatchSize = (wanted: number) => {
  /** To a node that has refused a batch, another one of that size is sent after a minute, after two, and so on. */
  const larger = createAbility();
  let most = wanted;
  return {
    now: (): number => (larger.isTried() ? Math.min(wanted, 2 * most) : most),
    worked(size: number): void {
      if (size <= most) return;
      most = size;
      larger.worked();
    },
    refused(size: number): void {
      most = Math.min(most, Math.max(1, Math.floor(size / 2)));
      larger.failed();
    },
  };
};

const createQueue = (connection: Connection, { timeoutMs, attempts, batchMs, ...limits }: Limits) => {
  const queue: Pending[] = [];
  const sleeping = new Map<NodeJS.Timeout, Pending>();
  const batchSize = createBatchSize(connection.hasBatches ? limits.maxBatch : 1);
  const maxInFlight = limits.maxInFlight * (connection.hasBatches ? 1 : limits.maxBatch);
  let inFlight = 0;
  let isScheduled = false;
  let isClosed = false;

  /** Whether a call would be sent later than it is worth. */
  const isLate = ({ since }: Pending, pause = 0): boolean => Date.now() + pause - since > 2 * timeoutMs;

  const retryLater = (pending: Pending, problem: Error, leastMs = 0): void => {
    pending.attempts += 1;
    const pause = Math.max(leastMs, backoffMs(pending.attempts));
    if (isClosed || pending.attempts >= attempts || isLate(pending, pause)) {
      pending.reject(problem);
      return;
    }
    const timer = setTimeout(() => {
      sleeping.delete(timer);
      queue.push(pending);
      flush();
    }, pause);
    sleeping.set(timer, pending);
  };

  const settle = (pending: Pending, outcome: Outcome | undefined, size: number): void => {
    if (outcome === undefined) {
      pending.failedAmong = size;
      queue.push(pending);
    } else if ('result' in outcome) {
      // Alone it is answered, and in a batch it was not.
      if (pending.failedAmong > 1) batchSize.refused(pending.failedAmong);
      take(pending, outcome.result);
    } else if (size > 1 && isAboutSize(outcome.refusal)) {
      batchSize.refused(size);
      queue.push(pending);
    } else if (isPassing(outcome.refusal)) retryLater(pending, outcome.refusal);
    else pending.reject(outcome.refusal);
  };

  const take = (pending: Pending, result: unknown): void => {
    try {
      pending.resolve(result);
    } catch (problem) {
      if (problem instanceof InvalidAnswerError) retryLater(pending, problem);
      else pending.reject(problem);
    }
  };

  const retrySooner = (pending: Pending, problem: Error, size: number): void => {
    const mayBeSooner = size > 1 || (pending.attempts === 0 && timeoutMs > FIRST_TIMEOUT_MS);
    pending.attempts += 1;
    pending.failedAmong = size;
    if (mayBeSooner && pending.attempts < attempts && !isClosed) queue.push(pending);
    else pending.reject(problem);
  };

  const fail = (calls: readonly Pending[], problem: unknown): void => {
    const size = calls.length;
    if (problem instanceof BatchRefusedError && size > 1) {
      batchSize.refused(size);
      queue.unshift(...calls);
      return;
    }
    for (const pending of calls) {
      if (size > 1) pending.failedAmong = size;
      if (problem instanceof TimedOutError) retrySooner(pending, problem, size);
      else if (problem instanceof NodeUnavailableError) retryLater(pending, problem, problem.retryAfterMs);
      else pending.reject(problem);
    }
  };

  const send = async (calls: readonly Pending[]): Promise<void> => {
    inFlight += 1;
    const size = calls.length;
    try {
      const isFirst = calls.every((pending) => pending.attempts === 0);
      const mostMs = size > 1 ? batchMs : isFirst ? FIRST_TIMEOUT_MS : timeoutMs;
      const outcomes = await connection.send(calls, Math.min(timeoutMs, mostMs));
      if (outcomes.every(isOfCall)) batchSize.worked(size);
      calls.forEach((pending, index) => {
        settle(pending, outcomes[index], size);
      });
    } catch (problem) {
      fail(calls, problem);
    } finally {
      inFlight -= 1;
      flush();
    }
  };

  const flush = (): void => {
    while (queue.length > 0 && inFlight < maxInFlight) {
      const most = batchSize.now();
      const alone = queue.findIndex(({ failedAmong }) => failedAmong > 0);
      const calls = queue.splice(0, alone === -1 ? most : Math.min(most, Math.max(1, alone)));
      // While a node hangs, those at the end of the queue would wait many times as long as the first ones.
      if (calls.some((pending) => pending.failedAmong > 0 && isLate(pending)))
        fail(calls, new TimedOutError(`expected an answer in ${timeoutMs} ms`));
      else void send(calls);
    }
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
    add<Result>(call: RpcCall, read: (result: unknown) => Result): Promise<Result> {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(new NodeUnavailableError('the connection was closed'));
        const progress = { since: Date.now(), attempts: 0, failedAmong: 0 };
        queue.push({ ...call, ...progress, resolve: (result) => resolve(read(result)), reject });
        schedule();
      });
    },
    close(): void {
      isClosed = true;
      const closed = new NodeUnavailableError('the connection was closed');
      for (const { reject } of queue.splice(0)) reject(closed);
      for (const [timer, { reject }] of sleeping) {
        clearTimeout(timer);
        reject(closed);
      }
      sleeping.clear();
    },
  };
};
