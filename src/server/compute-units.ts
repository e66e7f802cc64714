import type { Plugin } from 'graphql-yoga';
import type { Context } from '../context.ts';
import { clientError } from '../graph/errors.ts';
import type { Estimate } from '../graph/estimate.ts';

type Options = {
  readonly estimate: Estimate;
  /** What one operation may cost. */
  readonly maxComputeUnits: number;
};

/** Refuses what would cost too much before it asks for anything; the same whatever it came by. */
export const useComputeUnitLimits = ({ estimate, maxComputeUnits }: Options): Plugin<Context> => {
  const refuse = (computeUnits: number) => {
    if (computeUnits <= maxComputeUnits) return null;
    return clientError(
      'OPERATION_TOO_COMPLEX',
      `Expected an operation that costs at most ${maxComputeUnits} compute units, got one that may cost ${computeUnits}.`,
      { estimatedComputeUnits: computeUnits, allowedComputeUnits: maxComputeUnits },
    );
  };
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const refusal = refuse(estimate(args));
      if (refusal) setResultAndStopExecution({ errors: [refusal] });
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const refusal = refuse(estimate(args));
      if (refusal) setResultAndStopExecution({ errors: [refusal] });
    },
  };
};
