import type { OperationPlugin } from '../operation-plugin.ts';

/**
 * Releases the pages that an operation has read, so that their memory is used again. An operation with errors may have
 * ended before all of its fields have resolved: the garbage collector frees its pages.
 */
export const usePageRelease = (): OperationPlugin => ({
  onExecute:
    ({ args: { contextValue } }) =>
    (result) => {
      if (!result.errors) for (const read of contextValue.reads.stored) read.release();
      return result;
    },
});
