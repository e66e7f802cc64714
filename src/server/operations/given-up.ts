import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { clientError } from '../../graph/errors.ts';
import { onAbort } from '../../upstream/patience.ts';

/** What an operation may come with: aborts when its answer can't be waited for any more, though its client still does. */
type Arrival = { readonly givenUp?: AbortSignal };

/**
 * Answers a mutation that is given up in the service's place: its client would else ask for it again, though it may have
 * been done. A query may be asked for again.
 */
export const useGivenUp = (): Plugin<Arrival> => ({
  onExecute({ args: { contextValue, document, operationName }, executeFn, setExecuteFn }) {
    const { givenUp } = contextValue;
    if (!givenUp || getOperationAST(document, operationName)?.operation !== 'mutation') return;
    setExecuteFn((args) => Promise.race([executeFn(args), unanswered(givenUp)]));
  },
});

const unanswered = (givenUp: AbortSignal): Promise<ExecutionResult> =>
  new Promise((resolve) =>
    onAbort(givenUp, () => resolve({ errors: [clientError('UPSTREAM_TIMEOUT', NO_ANSWER_YET)] })),
  );

const NO_ANSWER_YET =
  'The service did not answer before the socket had to be closed; what was asked of it may yet be done.';
