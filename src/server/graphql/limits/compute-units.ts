import type { ExecutionResult, GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Cost } from '../../../graph/cost/estimate.ts';
import { clientError, shownPath } from '../../../graph/errors.ts';
import { atMostEntries } from '../../../lib/memo.ts';
import type { MaybePromise } from '../../../lib/tasks.ts';
import type { Usage } from '../../../upstream/client/request.ts';
import type { Complete, OperationContext, OperationPlugin } from '../operation-plugin.ts';

/** The limit that an operation exceeds: the cost of one operation, or the budget of its client. */
export type ComputeUnitLimit = 'operation' | 'client';

type Options = {
  /** The most that one operation may cost. */
  readonly maxComputeUnits: number;
  /** Null when clients have no budget. */
  readonly budgets: ClientBudgets | null;
  readonly onComputeUnitRejection: (limit: ComputeUnitLimit) => void;
};

/**
 * Rejects an operation whose estimated cost exceeds a limit, before it makes any upstream request. Its answer says what its
 * client has left, in `extensions.upstream.budget`.
 */
export const useComputeUnitLimits = (options: Options): OperationPlugin => {
  const { maxComputeUnits, budgets, onComputeUnitRejection } = options;
  const rejectComplex = (cost: Cost): GraphQLError | null => {
    if (cost.computeUnits <= maxComputeUnits) return null;
    onComputeUnitRejection('operation');
    return tooComplex(cost, maxComputeUnits);
  };
  /** Takes the cost from the client's budget. Returns an error, and takes nothing, when less is left. */
  const charge = (client: string, cost: Cost): MaybePromise<GraphQLError | null> => {
    if (budgets === null) return null;
    const rejectBeyond = (shortfall: Shortfall | null): GraphQLError | null => {
      if (shortfall === null) return null;
      onComputeUnitRejection('client');
      return beyondBudget(cost, budgets.perMinute, shortfall);
    };
    const taken = budgets.take(client, cost.computeUnits);
    return taken instanceof Promise ? taken.then(rejectBeyond) : rejectBeyond(taken);
  };
  const withBudget =
    (client: string): Complete =>
    (result) =>
      budgets === null ? result : withLeft(result, budgets, client);
  return {
    onExecute(start) {
      const { args, executeFn } = start;
      const { billingKey, upstream } = args.contextValue;
      const cost = costOf(args.contextValue);
      const complex = rejectComplex(cost);
      if (complex) start.result = { errors: [complex] };
      if (budgets === null) return undefined;
      if (complex) return withBudget(billingKey);
      const settle = () => settleUsage(budgets, billingKey, cost.computeUnits, upstream);
      if (budgets.isShared && cost.computeUnits > 0) {
        // A shutdown may answer the operation before it is charged: what was taken is settled when the execution ends.
        start.executeFn = async (given) => {
          const rejection = await charge(billingKey, cost);
          if (rejection) return { errors: [rejection] };
          try {
            return await executeFn(given);
          } finally {
            settle();
          }
        };
        return withBudget(billingKey);
      }
      const rejection = charge(billingKey, cost);
      if (rejection && !(rejection instanceof Promise)) {
        start.result = { errors: [rejection] };
        return withBudget(billingKey);
      }
      return (result) => {
        settle();
        return withLeft(result, budgets, billingKey);
      };
    },
    async onSubscribe(start) {
      const { contextValue } = start.args;
      const { billingKey } = contextValue;
      const cost = costOf(contextValue);
      const rejection = rejectComplex(cost) ?? (await charge(billingKey, cost));
      if (!rejection) return undefined;
      start.result = { errors: [rejection] };
      return withBudget(billingKey);
    },
  };
};

/** The answer with what its client has left, so that clients can pace themselves. */
const withLeft = (result: ExecutionResult, budgets: ClientBudgets, client: string): ExecutionResult => {
  const left = budgets.left(client);
  if (left === null) return result;
  const budget = { left: Math.max(0, Math.floor(left)), perMinute: budgets.perMinute };
  const { extensions } = result;
  return { ...result, extensions: { ...extensions, upstream: { ...(extensions?.upstream ?? {}), budget } } };
};

/** The limit of answers has estimated each operation before. */
const costOf = ({ answer: { estimate } }: OperationContext): Cost => {
  if (estimate === null) throw new TypeError('Expected an operation that is estimated, got none.');
  return estimate;
};

/**
 * Charges what the operation has cost in place of its estimate, and from then on each change: a client that leaves pays for
 * the requests that upstream has received, and a request may end, or begin, after its operation.
 */
const settleUsage = (budgets: ClientBudgets, client: string, estimate: number, usage: Usage): void => {
  let charged = estimate;
  const settle = () => {
    const { computeUnits } = usage;
    budgets.settle(client, charged, computeUnits);
    charged = computeUnits;
  };
  settle();
  usage.onChange(settle);
};

const tooComplex = (cost: Cost, allowed: number): GraphQLError =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected an operation that costs at most ${allowed} compute units, got ${described(cost, 'MAX_COMPUTE_UNITS')}`,
    { ...factsOf(cost), allowedComputeUnits: allowed },
  );

const beyondBudget = (cost: Cost, perMinute: number, { left, retryAfterMs }: Shortfall): GraphQLError =>
  clientError(
    'COMPUTE_BUDGET_EXCEEDED',
    `Expected an operation that costs at most ${left} compute units, which is what this client has left of ${perMinute} a minute, got ${described(cost, 'CLIENT_COMPUTE_UNITS_PER_MINUTE')}`,
    {
      ...factsOf(cost),
      allowedComputeUnits: left,
      ...(retryAfterMs !== null && { retryAfterMs }),
    },
  );

const described = ({ computeUnits, costliest }: Cost, setting: string): string => {
  const field = costliest && `; ${shownPath(costliest.path)} alone may cost ${costliest.computeUnits}`;
  const advice = costliest?.advice ? ` ${costliest.advice}` : '';
  return `one that may cost ${computeUnits}. The limit is ${setting}${field ?? ''}.${advice}`;
};

const factsOf = ({ computeUnits, costliest }: Cost) => ({
  estimatedComputeUnits: computeUnits,
  ...(costliest && {
    dearestField: { path: shownPath(costliest.path), computeUnits: costliest.computeUnits },
  }),
});

/** The state of a bucket that has less than was asked for. */
type Shortfall = {
  readonly left: number;
  /** Milliseconds until the bucket has enough; null when it never does, because more than a minute's budget was asked for. */
  readonly retryAfterMs: number | null;
};

/** Rate limit by token bucket: each client's bucket fills at an even rate, and holds at most a minute's budget. */
export type Budgets = {
  readonly isShared: false;
  readonly perMinute: number;
  /** Takes `units` from the client's bucket and returns null. When it has fewer, takes none and returns what is left. */
  take(client: string, units: number): Shortfall | null;
  /** Corrects the charge of an operation from `taken` to what it cost, `spent`. */
  settle(client: string, taken: number, spent: number): void;
  /** The units in the client's bucket; less than 0 after it has spent more than it had. */
  left(client: string): number;
};

/** The budgets of clients: of this gateway alone, or over all gateways. */
export type ClientBudgets = {
  /** Whether `take` waits for what other gateways know. */
  readonly isShared: boolean;
  readonly perMinute: number;
  take(client: string, units: number): MaybePromise<Shortfall | null>;
  settle(client: string, taken: number, spent: number): void;
  /** As far as this gateway knows; null if it has not charged the client. */
  left(client: string): number | null;
};

/** The least recently seen client is forgotten first. Its bucket counts as full again. */
const MAX_CLIENTS = 100_000;

const MINUTE_MS = 60_000;

export const createBudgets = (perMinute: number, now: () => number = () => performance.now()): Budgets => {
  const buckets = new LRUCache<string, { readonly level: number; readonly at: number }>(
    atMostEntries(MAX_CLIENTS),
  );

  const levelOf = (client: string): number => {
    const bucket = buckets.get(client);
    if (bucket === undefined) return perMinute;
    return Math.min(perMinute, bucket.level + ((now() - bucket.at) * perMinute) / MINUTE_MS);
  };
  const change = (client: string, units: number): void => {
    buckets.set(client, { level: Math.min(perMinute, levelOf(client) + units), at: now() });
  };

  return {
    isShared: false,
    perMinute,
    take(client, units) {
      if (units === 0) return null;
      const level = levelOf(client);
      if (units > level) {
        const retryAfterMs = units > perMinute ? null : Math.ceil(((units - level) * MINUTE_MS) / perMinute);
        return { left: Math.max(0, Math.floor(level)), retryAfterMs };
      }
      change(client, -units);
      return null;
    },
    settle(client, taken, spent) {
      if (taken !== spent) change(client, taken - spent);
    },
    left: levelOf,
  };
};
