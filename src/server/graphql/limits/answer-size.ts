import type { Answer } from '../../../graph/answer/answer.ts';
import { answerTooLarge, tooManyParts } from '../../../graph/answer/errors.ts';
import type { EstimateAnswer } from '../../../graph/answer/estimate.ts';
import { assembleJson, SerializedData, serializeAnswer } from '../../../graph/answer/serialize.ts';
import type { ExecuteFn, OperationPlugin } from '../operation-plugin.ts';

/** The most deferred fragments and streamed lists of one answer. Each that has not come takes some memory. */
const MAX_LATER_PARTS = 1000;

/** In the format v0.2 graphql makes each by itself, and beyond 16,000 holds up the thread for seconds. */
const MAX_DIVIDED_OBJECTS = 10_000;

/** An operation with more lookups begins in a time slice of its own, as it takes long. */
const MAX_LOOKUPS_AT_ONCE = 50;

type Options = {
  readonly estimateAnswer: EstimateAnswer;
  /** The largest answer. */
  readonly maxAnswerBytes: number;
};

/**
 * Limits the size of an answer. The size is estimated before the operation runs and measured while it runs. A large
 * answer is serialised in slices, and its transport gets its data as JSON.
 */
export const useAnswerLimit = ({ estimateAnswer, maxAnswerBytes }: Options): OperationPlugin => ({
  onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
    const { answer, scopes, parts } = args.contextValue;
    answer.estimate = estimateAnswer(args, scopes);
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
    const estimate = estimateAnswer(args, args.contextValue.scopes);
    if (estimate.bytes > maxAnswerBytes)
      setResultAndStopExecution({ errors: [answerTooLarge(maxAnswerBytes, estimate)] });
  },
  onHttpResult(result) {
    const { data } = result;
    if (!(data instanceof SerializedData)) return result;
    // Yoga makes it the body of a Response, which may be bytes as well as text.
    const stringify = (final: object) => assembleJson(final, data) as unknown as string;
    return Object.assign({ ...result }, { stringify });
  },
});

/** Executes once a slice begins. All lookups then begin in one turn of the event loop, which merges their reads. */
const inOwnSlice =
  (execute: ExecuteFn, answer: Answer): ExecuteFn =>
  (args) =>
    answer.canContinue
      ? execute(args)
      : answer.nextSlice().then(() => (answer.isStopped ? { data: null } : execute(args)));
