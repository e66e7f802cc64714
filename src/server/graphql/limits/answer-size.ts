import type { IncomingMessage } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Answer } from '../../../graph/answer/answer.ts';
import { answerTooLarge, tooManyParts } from '../../../graph/answer/errors.ts';
import { serializeAnswer } from '../../../graph/answer/serialize.ts';
import type { Estimate, OperationEstimate } from '../../../graph/cost/estimate.ts';
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
  onExecute(start) {
    const { args, executeFn } = start;
    const { answer, scopes, parts } = args.contextValue;
    const estimated = estimate(args, scopes);
    answer.estimate = estimated;
    const error = errorOfSize(estimated, maxAnswerBytes) ?? errorOfParts(estimated, parts?.format === 'v0.2');
    if (error) start.result = { errors: [error] };
    const execute = estimated.lookups > MAX_LOOKUPS_AT_ONCE ? inOwnSlice(executeFn, answer) : executeFn;
    start.executeFn = (given) => serializeAnswer(execute(given), answer);
  },
  onSubscribe(start) {
    const { answer, scopes } = start.args.contextValue;
    answer.estimate = estimate(start.args, scopes);
    const error = errorOfSize(answer.estimate, maxAnswerBytes);
    if (error) start.result = { errors: [error] };
  },
});

const errorOfSize = (estimate: OperationEstimate, maxBytes: number): GraphQLError | null =>
  estimate.bytes > maxBytes ? answerTooLarge(maxBytes, estimate) : null;

const errorOfParts = (
  { laterParts, dividedObjects }: OperationEstimate,
  isDivided: boolean,
): GraphQLError | null => {
  if (laterParts > MAX_LATER_PARTS)
    return tooManyParts(
      `${MAX_LATER_PARTS} deferred fragments and streamed lists in all objects together`,
      laterParts,
    );
  if (!isDivided || dividedObjects <= MAX_DIVIDED_OBJECTS) return null;
  return tooManyParts(
    `${MAX_DIVIDED_OBJECTS} objects that deferred fragments share with other parts`,
    dividedObjects,
  );
};

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
  onExecute(start) {
    const { args, executeFn } = start;
    const { socketMemory, answer, clientSignal = null } = args.contextValue;
    const bytes = answer.estimate?.bytes ?? 0;
    if (!socketMemory || bytes <= LIGHT_BYTES) return;
    start.executeFn = async (given): Promise<ExecutionResult> => {
      const reservation = socketMemory.memory.reserve();
      reservation.grow(bytes);
      const stopListening = onAbort(clientSignal, reservation.release);
      const release = () => {
        stopListening();
        reservation.release();
      };
      try {
        while (!reservation.isAvailable() && !clientSignal?.aborted) await reservation.available();
        return await executeFn(given);
      } finally {
        // The answer is sent within this turn of the event loop.
        setImmediate(() => void socketMemory.untilDrained().then(release));
      }
    };
  },
});

/** The most bytes of a subscription's request or message: its variables stay in memory for as long as it is open. */
const MAX_BYTES = 32 * 1024;

/** Rejects a subscription whose HTTP request or WebSocket message is larger, whatever is in it. */
export const useSubscriptionSize = (): OperationPlugin => ({
  onSubscribe(start) {
    const { contextValue } = start.args;
    const bytes = contextValue.messageBytes ?? bytesOf(contextValue.req);
    if (bytes !== null && bytes <= MAX_BYTES) return;
    const got = bytes === null ? 'one of unknown length' : `one of ${bytes}`;
    const message = `Expected a subscription whose request has at most ${MAX_BYTES} bytes, got ${got}.`;
    start.result = { errors: [clientError('OPERATION_TOO_COMPLEX', message)] };
  },
});

/** The size of the body; 0 for a GET, and null for a chunked body. */
const bytesOf = (request: IncomingMessage | undefined): number | null => {
  if (request === undefined || request.method === 'GET') return 0;
  const length = request.headers['content-length'];
  return length === undefined ? null : Number(length);
};
