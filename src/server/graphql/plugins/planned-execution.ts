import type { PlannedSchema } from '../../../graph/plan/planned-schema.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/** Executes a document whose lists plans can write against the planned schema, and any other against the public one. */
export const usePlannedExecution = ({ schema, canExecute }: PlannedSchema): OperationPlugin => ({
  onExecute({ args: { document }, executeFn, setExecuteFn }) {
    if (canExecute(document)) setExecuteFn((args) => executeFn({ ...args, schema }));
  },
});
