import type { GraphQLError } from 'graphql';
import { answerTooLarge } from '../../../graph/answer/errors.ts';
import type { AnswerEstimate, EstimateAnswer } from '../../../graph/answer/estimate.ts';
import { assembleJson, SerializedData, serializeAnswer } from '../../../graph/answer/serialize.ts';
import { clientError } from '../../../graph/errors.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/** The most deferred fragments and streamed lists of one answer. Each that has not come takes some memory. */
const MAX_LATER_PARTS = 1000;

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
    const { answer, scopes } = args.contextValue;
    answer.estimate = estimateAnswer(args, scopes);
    if (answer.estimate.bytes > maxAnswerBytes)
      return setResultAndStopExecution({ errors: [answerTooLarge(maxAnswerBytes, answer.estimate)] });
    if (answer.estimate.laterParts > MAX_LATER_PARTS)
      return setResultAndStopExecution({ errors: [tooManyParts(answer.estimate)] });
    setExecuteFn((given) => serializeAnswer(executeFn(given), answer));
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

const tooManyParts = ({ laterParts }: AnswerEstimate): GraphQLError =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected an operation of at most ${MAX_LATER_PARTS} deferred fragments and streamed lists in all objects together, got one that may have ${laterParts}.`,
  );
