import type { ExecutionResult } from 'graphql';
import { resendAnswer } from '../../../graph/answer/serialize.ts';
import type { SharedAnswers } from '../../../graph/answer/shared-answers.ts';
import type { PlannedSchema } from '../../../graph/plan/planned-schema.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/** Answers an operation that reads nothing but pages with the bytes of an equal one, while those pages are fresh. */
export const useSharedAnswers = (
  answers: SharedAnswers,
  { readsPagesAlone }: PlannedSchema,
): OperationPlugin => ({
  onExecute({ args, executeFn, setExecuteFn }) {
    if (!readsPagesAlone(args.document)) return;
    const key = answers.keyOf(args);
    if (key === null) return;
    setExecuteFn(async (given): Promise<ExecutionResult> => {
      const context = given.contextValue;
      const data = answers.find(key, context);
      if (data) return resendAnswer(data, context.answer);
      const result = await executeFn(given);
      answers.keep(key, result, context);
      return result;
    });
  },
});
