import { RequestCache } from '@pothos/plugin-scope-auth';
import type { OperationPlugin } from '../operation-plugin.ts';

/** Frees what an operation held in memory that outlives it. */
export const useOperationMemory = (): OperationPlugin => ({
  onExecute:
    ({ args: { contextValue } }) =>
    (result) => {
      // Pothos has it in a weak map. V8 frees that with a collection of the whole heap only, and with it the operation.
      RequestCache.clearForContext(contextValue);
      // An operation with errors may have ended before all of its fields: the garbage collector frees its pages.
      if (!result.errors) for (const read of contextValue.reads.stored) read.release();
      return result;
    },
});
