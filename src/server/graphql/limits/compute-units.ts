import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../../context.ts';
import type { Cost, Estimate } from '../../../graph/cost/estimate.ts';
import { clientError } from '../../../graph/errors.ts';
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
  const refuse = (billingKey: string, cost: Cost): GraphQLError | null => {
    const isTooComplex = cost.computeUnits > maxComputeUnits;
    const refusal = isTooComplex
      ? tooComplex(cost, maxComputeUnits)
      : budgets && beyondBudget(billingKey, cost, budgets);
    if (refusal) onComputeUnitRefusal(isTooComplex ? 'operation' : 'client');
    return refusal;
  };
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { billingKey, upstream, scopes } = args.contextValue;
      const cost = estimate(args, scopes);
      const refusal = refuse(billingKey, cost);
      if (refusal) return setResultAndStopExecution({ errors: [refusal] });
      // One that is abandoned half-way is not settled: nobody can tell what the service will have billed for it.
      return { onExecuteDone: () => budgets?.settle(billingKey, cost.computeUnits, upstream.computeUnits) };
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { billingKey, scopes } = args.contextValue;
      const refusal = refuse(billingKey, estimate(args, scopes));
      if (refusal) setResultAndStopExecution({ errors: [refusal] });
    },
  };
};

const tooComplex = (cost: Cost, allowed: number): GraphQLError =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected an operation that costs at most ${allowed} compute units, got ${described(cost, 'MAX_COMPUTE_UNITS')}`,
    { ...factsOf(cost), allowedComputeUnits: allowed },
  );

/** Takes what the operation may cost from the client's budget; an error when there is not as much. */
const beyondBudget = (client: string, cost: Cost, budgets: Budgets): GraphQLError | null => {
  const shortfall = budgets.take(client, cost.computeUnits);
  if (shortfall === null) return null;
  const { left, retryAfterMs } = shortfall;
  return clientError(
    'COMPUTE_BUDGET_EXCEEDED',
    `Expected an operation that costs at most ${left} compute units, which is what this client has left of ${budgets.perMinute} a minute, got ${described(cost, 'CLIENT_COMPUTE_UNITS_PER_MINUTE')}`,
    {
      ...factsOf(cost),
      allowedComputeUnits: left,
      ...(retryAfterMs !== null && { retryAfterMs }),
    },
  );
};

/** Its names are the client's own, and may fill a document. */
const MAX_PATH = 200;

const described = ({ computeUnits, costliest }: Cost, setting: string): string => {
  const field =
    costliest && `; ${costliest.path.slice(0, MAX_PATH)} alone may cost ${costliest.computeUnits}`;
  const advice = costliest?.advice ? ` ${costliest.advice}` : '';
  return `one that may cost ${computeUnits}. The limit is ${setting}${field ?? ''}.${advice}`;
};

const factsOf = ({ computeUnits, costliest }: Cost) => ({
  estimatedComputeUnits: computeUnits,
  ...(costliest && {
    dearestField: { path: costliest.path.slice(0, MAX_PATH), computeUnits: costliest.computeUnits },
  }),
});
