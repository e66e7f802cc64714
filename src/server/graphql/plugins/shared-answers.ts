import { resendAnswer, type SerializedData } from '../../../graph/answer/serialize.ts';
import type { SharedAnswers } from '../../../graph/answer/shared-answers.ts';
import type { PlannedSchema } from '../../../graph/plan/planned-schema.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/**
 * Answers an operation that reads nothing but pages with the bytes of an equal one: while those pages are fresh, or where
 * the equal one is being executed and both get the same pages.
 */
export const useSharedAnswers = (
  answers: SharedAnswers,
  { readsPagesAlone }: PlannedSchema,
): OperationPlugin => ({
  onExecute({ args, executeFn, setExecuteFn }) {
    if (!readsPagesAlone(args.document)) return;
    const key = answers.keyOf(args);
    if (key === null) return;
    setExecuteFn((given) => {
      const context = given.contextValue;
      const { clientSignal = context.request?.signal ?? null } = context;
      const answerWith = (data: SerializedData | null) =>
        data ? resendAnswer(data, context.answer) : answers.make(key, context, () => executeFn(given));
      const found = answers.find(key, context, clientSignal);
      return found instanceof Promise ? found.then(answerWith) : answerWith(found);
    });
  },
});
