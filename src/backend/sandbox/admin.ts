import { type FaultRule, json, notAllowed, type Route } from '../http/http.ts';

/**
 * Whether a path is the sandbox's own and no part of the service's API. Such requests are not counted and cost nothing.
 */
export const isAdminPath = (path: string): boolean => path.startsWith('/sandbox/');

export const createStatsRoute =
  (counter: Counter): Route =>
  ({ method, path }) => {
    if (path !== '/sandbox/stats') return null;
    return method === 'GET' ? json(200, counter.stats) : notAllowed('GET');
  };

/**
 * The route that sets and clears fault rules. When `faults` is null, fault injection is off and the path does not
 * exist.
 */
export const createFaultsRoute =
  (faults: Faults | null): Route =>
  ({ method, path, body }) => {
    if (path !== '/sandbox/faults' || faults === null) return null;
    if (method === 'DELETE') {
      faults.clear();
      return { status: 204 };
    }
    if (method !== 'PUT') return notAllowed('PUT, DELETE');
    const rules = parseFaultRules(body);
    if (rules === null) return json(400, { error: 'Expected {"rules": [{"path": "/…", …}]}' });
    faults.set(rules);
    return { status: 204 };
  };

/** The requests that the sandbox has received since it started. A client compares them with its own counts. */
export type Stats = {
  /** The number of requests by operation, such as `GET /v1/evm/transactions/{address}`. Refused requests count too. */
  readonly requests: Readonly<Record<string, number>>;
  readonly total: number;
  /** The cost of all requests. */
  readonly computeUnits: number;
};

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

export class Counter {
  readonly #requests = new Map<string, number>();
  #total = 0;
  #computeUnits = 0;

  /** `operation` is the path with its parameters in braces; null when it is unknown. */
  count(method: string, operation: string | null, computeUnits: number): void {
    // The number of names is bounded, whatever clients request.
    const name = operation === null || !METHODS.has(method) ? 'other' : `${method} ${operation}`;
    this.#requests.set(name, (this.#requests.get(name) ?? 0) + 1);
    this.#total += 1;
    this.#computeUnits += computeUnits;
  }

  get stats(): Stats {
    return {
      requests: Object.fromEntries(this.#requests),
      total: this.#total,
      computeUnits: this.#computeUnits,
    };
  }
}

type ActiveRule = { readonly rule: FaultRule; readonly pattern: RegExp; left: number };

const patternOf = (path: string) =>
  new RegExp(
    `^${path
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*')}$`,
  );

/** The active fault rules. The first rule that matches a request applies to it. */
export class Faults {
  #active: readonly ActiveRule[] = [];

  /** Replaces all rules. */
  set(rules: readonly FaultRule[]): void {
    this.#active = rules.map((rule) => ({
      rule,
      pattern: patternOf(rule.path),
      left: rule.count ?? Number.POSITIVE_INFINITY,
    }));
  }

  clear(): void {
    this.#active = [];
  }

  /** The rule that applies to a request, or null. Each call counts towards the rule's `count`. */
  match(method: string, path: string): FaultRule | null {
    const active = this.#active.find(
      ({ rule, pattern, left }) => left > 0 && (rule.method ?? method) === method && pattern.test(path),
    );
    if (active === undefined) return null;
    active.left -= 1;
    return active.rule;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isWhole = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

/** The check of each member. Only the path is required. */
const MEMBERS: Readonly<Record<keyof FaultRule, (value: unknown) => boolean>> = {
  path: (value) => typeof value === 'string' && /^[/*].{0,499}$/.test(value),
  method: (value) => typeof value === 'string',
  count: (value) => isWhole(value, 1, Number.MAX_SAFE_INTEGER),
  latencyMs: (value) => isWhole(value, 0, 600_000),
  status: (value) => isWhole(value, 200, 599),
  headers: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([name, header]) => /^[\w-]+$/.test(name) && typeof header === 'string' && !/[\r\n]/.test(header),
    ),
  body: (value) => typeof value === 'string',
  cut: (value) => typeof value === 'boolean',
  lastOffset: (value) => value === null || value === '',
  shift: (value) => isWhole(value, -1_000, 1_000),
  short: (value) => isWhole(value, 0, 1_000),
  failingChains: (value) =>
    Array.isArray(value) && value.every((id) => isWhole(id, 0, Number.MAX_SAFE_INTEGER)),
};

const isRule = (value: unknown): value is FaultRule => {
  if (!isRecord(value) || value.path === undefined) return false;
  return Object.entries(value).every(
    ([name, member]) => Object.hasOwn(MEMBERS, name) && MEMBERS[name as keyof FaultRule](member),
  );
};

/** Parses `{"rules": […]}`; null when the body is something else, or a rule has an unknown or invalid member. */
const parseFaultRules = (body: string): readonly FaultRule[] | null => {
  try {
    const parsed: unknown = JSON.parse(body);
    const rules = isRecord(parsed) ? parsed.rules : null;
    return Array.isArray(rules) && rules.every(isRule) ? rules : null;
  } catch {
    return null;
  }
};
