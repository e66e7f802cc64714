import type { IncomingMessage } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Answer } from '../../../graph/answer/answer.ts';
import { answerTooLarge, tooManyParts } from '../../../graph/answer/errors.ts';
import { serializeAnswer } from '../../../graph/answer/serialize.ts';
import type { Estimate } from '../../../graph/cost/estimate.ts';
import { clientError } from '../../../graph/errors.ts';
import { onAbort } from '../../../lib/deadlines.ts';
import type { ExecuteFn, OperationPlugin } from '../operation-plugin.ts';

/** The most deferred fragments and streamed lists of one answer. Each that has not come takes some memory. */
const MAX_LATER_PARTS = 1000;

/** In the format v0.2, graphql makes each of them separately. Beyond 16,000 that blocks the thread for seconds. */
const MAX_DIVIDED_OBJECTS = 10_000;

/** An operation with more lookups begins in a time slice of its own, as it takes long. */
const MAX_LOOKUPS_AT_ONCE = 50;

type Options = {
  readonly estimate: Estimate;
  /** The largest answer. */
  readonly maxAnswerBytes: number;
};

/**
 * Limits the size of an answer. The size is estimated before the operation runs, for later plugins too, and measured while it runs. A large
 * answer is serialised in slices, and its transport gets its data as JSON.
 */
export const useAnswerLimit = ({ estimate, maxAnswerBytes }: Options): OperationPlugin => ({
  onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
    const { answer, scopes, parts } = args.contextValue;
    answer.estimate = estimate(args, scopes);
    const { laterParts, dividedObjects } = answer.estimate;
    if (answer.estimate.bytes > maxAnswerBytes)
      return setResultAndStopExecution({ errors: [answerTooLarge(maxAnswerBytes, answer.estimate)] });
    if (laterParts > MAX_LATER_PARTS) {
      const expected = `${MAX_LATER_PARTS} deferred fragments and streamed lists in all objects together`;
      return setResultAndStopExecution({ errors: [tooManyParts(expected, laterParts)] });
    }
    if (parts?.format === 'v0.2' && dividedObjects > MAX_DIVIDED_OBJECTS) {
      const expected = `${MAX_DIVIDED_OBJECTS} objects that deferred fragments share with other parts`;
      return setResultAndStopExecution({ errors: [tooManyParts(expected, dividedObjects)] });
    }
    const execute = answer.estimate.lookups > MAX_LOOKUPS_AT_ONCE ? inOwnSlice(executeFn, answer) : executeFn;
    setExecuteFn((given) => serializeAnswer(execute(given), answer));
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const { answer, scopes } = args.contextValue;
    answer.estimate = estimate(args, scopes);
    if (answer.estimate.bytes > maxAnswerBytes)
      setResultAndStopExecution({ errors: [answerTooLarge(maxAnswerBytes, answer.estimate)] });
  },
});

/** Executes once a slice begins. All lookups then begin in one turn of the event loop, which merges their reads. */
const inOwnSlice =
  (execute: ExecuteFn, answer: Answer): ExecuteFn =>
  (args) =>
    answer.canContinue
      ? execute(args)
      : answer.nextSlice().then(() => (answer.isStopped ? { data: null } : execute(args)));

/** The limit for the estimated bytes of one socket's heavy answers, from the start of each until the peer has read it. */
export const SOCKET_BYTES = 32 * 1024 * 1024;
/** An operation whose answer is estimated at no more does not wait. */
const LIGHT_BYTES = 256 * 1024;

/**
 * Backpressure for the heavy operations of one WebSocket: they wait for one another, so that their answers don't pile up
 * unsent. One of them always runs.
 */
export const useSocketMemory = (): OperationPlugin => ({
  onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
    const { socketMemory, answer, clientSignal = null } = contextValue;
    const bytes = answer.estimate?.bytes ?? 0;
    if (!socketMemory || bytes <= LIGHT_BYTES) return;
    setExecuteFn(async (args): Promise<ExecutionResult> => {
      const reservation = socketMemory.memory.reserve();
      reservation.grow(bytes);
      const stopListening = onAbort(clientSignal, reservation.release);
      const release = () => {
        stopListening();
        reservation.release();
      };
      try {
        while (!reservation.isAvailable() && !clientSignal?.aborted) await reservation.available();
        return await executeFn(args);
      } finally {
        // The answer is sent within this turn of the event loop.
        setImmediate(() => void socketMemory.untilDrained().then(release));
      }
    });
  },
});

/** The most bytes of a subscription's request or message: its variables stay in memory for as long as it is open. */
const MAX_BYTES = 32 * 1024;

/** Rejects a subscription whose HTTP request or WebSocket message is larger, whatever is in it. */
export const useSubscriptionSize = (): OperationPlugin => ({
  onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
    const bytes = contextValue.messageBytes ?? bytesOf(contextValue.req);
    if (bytes !== null && bytes <= MAX_BYTES) return;
    const got = bytes === null ? 'one of unknown length' : `one of ${bytes}`;
    const message = `Expected a subscription whose request has at most ${MAX_BYTES} bytes, got ${got}.`;
    setResultAndStopExecution({ errors: [clientError('OPERATION_TOO_COMPLEX', message)] });
  },
});

/** The size of the body; 0 for a GET, and null for a chunked body. */
const bytesOf = (request: IncomingMessage | undefined): number | null => {
  if (request === undefined || request.method === 'GET') return 0;
  const length = request.headers['content-length'];
  return length === undefined ? null : Number(length);
};
