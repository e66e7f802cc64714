import type { Environment, ValuesOf, Variable, Variables } from './variable.ts';
import { CACHE } from './variables/cache.ts';
import { CLIENTS } from './variables/clients.ts';
import { DELIVERIES } from './variables/deliveries.ts';
import { EXPLORERS } from './variables/explorers.ts';
import { INDEX } from './variables/index-of-chains.ts';
import { REDIS } from './variables/redis.ts';
import { OBSERVING, SERVING } from './variables/serving.ts';
import { TRACES, TRACES_SWITCHES } from './variables/traces.ts';
import { UPSTREAM } from './variables/upstream.ts';

/**
 * Every variable of the gateway. Its values, their types, the problems of an environment, `--check`, `--help`, the tables of
 * the docs and deploy's example are made of this.
 */

/** Those that are read whatever the others say. */
export const SETTINGS = {
  ...SERVING,
  ...UPSTREAM,
  ...INDEX,
  ...EXPLORERS,
  ...CLIENTS,
  ...DELIVERIES,
  ...REDIS,
  ...CACHE,
  ...OBSERVING,
  ...TRACES_SWITCHES,
};

/** A group has a table of its own in the docs. */
export type Group = { readonly title: string; readonly variables: Variables };

export const GROUPS: readonly Group[] = [
  { title: 'Process and pages', variables: SERVING },
  { title: 'The service', variables: UPSTREAM },
  { title: 'An index of chains', variables: INDEX },
  { title: 'Explorers of chains', variables: EXPLORERS },
  { title: 'Clients and limits', variables: CLIENTS },
  { title: 'Deliveries', variables: DELIVERIES },
  { title: 'Redis', variables: REDIS },
  { title: 'Cache', variables: CACHE },
  { title: 'Logs and metrics', variables: OBSERVING },
  { title: 'Traces', variables: { ...TRACES_SWITCHES, ...TRACES } },
];

export type Values = ValuesOf<typeof SETTINGS>;

const ALL = { ...SETTINGS, ...TRACES };
export type VariableName = keyof typeof ALL;

export const VARIABLES: { readonly [name in VariableName]: Variable } = ALL;

/** The dozen that most gateways set. */
export const COMMON: readonly (readonly [name: string, variable: Variable])[] = Object.entries(
  VARIABLES,
).filter(([, { isCommon }]) => isCommon);

/** Their names, in the order of the docs. */
export const NAMES = Object.keys(VARIABLES) as readonly VariableName[];

/** Those that are read only where traces are on. */
export const TRACES_NAMES: readonly string[] = Object.keys(TRACES);

/** An old name that is set: it works, and something else has taken its place. */
export type DeprecatedVariable = { readonly name: string; readonly instead: string };

export const deprecatedVariables = (
  env: Environment,
  variables: Variables = VARIABLES,
): readonly DeprecatedVariable[] =>
  Object.entries(variables).flatMap(([name, { replacedBy }]) =>
    replacedBy !== undefined && env[name] ? [{ name, instead: replacedBy }] : [],
  );
