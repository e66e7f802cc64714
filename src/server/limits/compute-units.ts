import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../context.ts';
import { clientError } from '../../graph/errors.ts';
import type { Estimate } from '../../graph/estimate.ts';
import type { Budgets } from './budgets.ts';

/** Which one an operation would have gone beyond: what one may cost, or what is left to its client. */
export type ComputeUnitLimit = 'operation' | 'client';

type Options = {
  readonly estimate: Estimate;
  /** What one operation may cost. */
  readonly maxComputeUnits: number;
  /** Null when clients may spend what they like. */
  readonly budgets: Budgets | null;
  readonly onComputeUnitRefusal: (limit: ComputeUnitLimit) => void;
};

/** Refuses what would cost too much before it asks for anything; the same whatever it came by. */
export const useComputeUnitLimits = (options: Options): Plugin<Context> => {
  const { estimate, maxComputeUnits, budgets, onComputeUnitRefusal } = options;
  const refuse = (payer: string, computeUnits: number): GraphQLError | null => {
    const isTooComplex = computeUnits > maxComputeUnits;
    const refusal = isTooComplex
      ? tooComplex(computeUnits, maxComputeUnits)
      : budgets && beyondBudget(payer, computeUnits, budgets);
    if (refusal) onComputeUnitRefusal(isTooComplex ? 'operation' : 'client');
    return refusal;
  };
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { payer, upstream, scopes } = args.contextValue;
      const computeUnits = estimate(args, scopes);
      const refusal = refuse(payer, computeUnits);
      if (refusal) return setResultAndStopExecution({ errors: [refusal] });
      // One that is given up half-way is not settled: nobody can tell what the service will have billed for it.
      return { onExecuteDone: () => budgets?.settle(payer, computeUnits, upstream.computeUnits) };
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { payer, scopes } = args.contextValue;
      const refusal = refuse(payer, estimate(args, scopes));
      if (refusal) setResultAndStopExecution({ errors: [refusal] });
    },
  };
};

const tooComplex = (computeUnits: number, allowed: number): GraphQLError =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected an operation that costs at most ${allowed} compute units, got one that may cost ${computeUnits}.`,
    { estimatedComputeUnits: computeUnits, allowedComputeUnits: allowed },
  );

/** Takes what the operation may cost from the client's budget; an error when there is not as much. */
const beyondBudget = (client: string, computeUnits: number, budgets: Budgets): GraphQLError | null => {
  const shortfall = budgets.take(client, computeUnits);
  if (shortfall === null) return null;
  const { left, retryAfterMs } = shortfall;
  return clientError(
    'COMPUTE_BUDGET_EXCEEDED',
    `Expected an operation that costs at most ${left} compute units, which is what this client has left of ${budgets.perMinute} a minute, got one that may cost ${computeUnits}.`,
    {
      estimatedComputeUnits: computeUnits,
      allowedComputeUnits: left,
      ...(retryAfterMs !== null && { retryAfterMs }),
    },
  );
};
