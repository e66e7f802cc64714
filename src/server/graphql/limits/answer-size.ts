import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Context } from '../../../context.ts';
import { answerTooLarge } from '../../../graph/answer/errors.ts';
import type { EstimateAnswer } from '../../../graph/answer/estimate.ts';
import { assembleJson, SerializedData, serializeAnswer } from '../../../graph/answer/serialize.ts';

type Options = {
  readonly estimateAnswer: EstimateAnswer;
  /** What one answer may weigh. */
  readonly maxAnswerBytes: number;
};

/**
 * Bounds what an answer weighs: estimated before it is made, and held while it is. A heavy one is written in slices, and
 * its transport finds its data written.
 */
export const useAnswerLimit = ({ estimateAnswer, maxAnswerBytes }: Options): Plugin<Context> => ({
  onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
    const { answer, scopes } = args.contextValue;
    answer.estimate = estimateAnswer(args, scopes);
    if (answer.estimate.bytes > maxAnswerBytes)
      return setResultAndStopExecution({ errors: [answerTooLarge(maxAnswerBytes, answer.estimate)] });
    setExecuteFn((given) => serializeAnswer(Promise.resolve(executeFn(given)), answer));
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const estimate = estimateAnswer(args, args.contextValue.scopes);
    if (estimate.bytes > maxAnswerBytes)
      setResultAndStopExecution({ errors: [answerTooLarge(maxAnswerBytes, estimate)] });
  },
  onResultProcess({ result, setResult }) {
    if (isAsyncIterable(result) || Array.isArray(result) || !(result.data instanceof SerializedData)) return;
    const { data } = result;
    // Yoga makes it the body of a Response, which may be bytes as well as text.
    const stringify = (final: object) => assembleJson(final, data) as unknown as string;
    setResult(Object.assign({ ...result }, { stringify }));
  },
});
