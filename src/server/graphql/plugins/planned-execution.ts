import type { PlannedSchema } from '../../../graph/plan/planned-schema.ts';
import type { ServerPlugin } from '../server-context.ts';

/** Executes a document whose lists plans can write against the planned schema, and any other against the public one. */
export const usePlannedExecution = ({ schema, canExecute }: PlannedSchema): ServerPlugin => ({
  onExecute({ args: { document }, executeFn, setExecuteFn }) {
    if (canExecute(document)) setExecuteFn((args) => executeFn({ ...args, schema }));
  },
});
