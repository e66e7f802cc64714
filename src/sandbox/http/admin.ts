import { type Faults, parseFaultRules } from './faults.ts';
import { json, notAllowed, type Route, type SandboxRequest } from './http.ts';

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
  readonly #templateOf: (path: string) => string | null;
  readonly #requests = new Map<string, number>();
  #total = 0;
  #computeUnits = 0;

  /** `templateOf` gives the path of an operation with its parameters in braces; null for an unknown path. */
  constructor(templateOf: (path: string) => string | null) {
    this.#templateOf = templateOf;
  }

  count({ method, path }: Pick<SandboxRequest, 'method' | 'path'>, computeUnits: number): void {
    const template = METHODS.has(method) ? this.#templateOf(path) : null;
    // The number of names is bounded, whatever clients request.
    const operation = template === null ? 'other' : `${method} ${template}`;
    this.#requests.set(operation, (this.#requests.get(operation) ?? 0) + 1);
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
