import type { GraphQLError } from 'graphql';
import type { Cost, Estimate } from '../../../graph/cost/estimate.ts';
import { clientError } from '../../../graph/errors.ts';
import type { OperationPlugin } from '../operation-plugin.ts';
import type { Budgets } from './budgets.ts';

/** The limit that an operation exceeds: the cost of one operation, or the budget of its client. */
export type ComputeUnitLimit = 'operation' | 'client';

type Options = {
  readonly estimate: Estimate;
  /** The most that one operation may cost. */
  readonly maxComputeUnits: number;
  /** Null when clients have no budget. */
  readonly budgets: Budgets | null;
  readonly onComputeUnitRejection: (limit: ComputeUnitLimit) => void;
};

/** Rejects an operation whose estimated cost exceeds a limit, before it makes any upstream request. */
export const useComputeUnitLimits = (options: Options): OperationPlugin => {
  const { estimate, maxComputeUnits, budgets, onComputeUnitRejection } = options;
  const reject = (billingKey: string, cost: Cost): GraphQLError | null => {
    const isTooComplex = cost.computeUnits > maxComputeUnits;
    const rejection = isTooComplex
      ? tooComplex(cost, maxComputeUnits)
      : budgets && beyondBudget(billingKey, cost, budgets);
    if (rejection) onComputeUnitRejection(isTooComplex ? 'operation' : 'client');
    return rejection;
  };
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { billingKey, upstream, scopes } = args.contextValue;
      const cost = estimate(args, scopes);
      const rejection = reject(billingKey, cost);
      if (rejection) return setResultAndStopExecution({ errors: [rejection] });
      // An abandoned operation is not settled: what upstream bills for it is unknown.
      return (result) => {
        budgets?.settle(billingKey, cost.computeUnits, upstream.computeUnits);
        return result;
      };
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { billingKey, scopes } = args.contextValue;
      const rejection = reject(billingKey, estimate(args, scopes));
      if (rejection) setResultAndStopExecution({ errors: [rejection] });
    },
  };
};

const tooComplex = (cost: Cost, allowed: number): GraphQLError =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected an operation that costs at most ${allowed} compute units, got ${described(cost, 'MAX_COMPUTE_UNITS')}`,
    { ...factsOf(cost), allowedComputeUnits: allowed },
  );

/** Takes the operation's estimated cost from the client's budget. Returns an error, and takes nothing, when less is left. */
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

/** The most characters of a path that are shown: the client chooses its names, which may be long. */
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
