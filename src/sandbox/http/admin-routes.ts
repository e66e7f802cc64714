import { type Faults, parseFaultRules } from './faults.ts';
import type { Route } from './route.ts';
import { json, text } from './route.ts';
import type { Counter } from './stats.ts';

/**
 * Whether a path is the sandbox's own and no part of the service's API. Such requests are not counted and cost nothing.
 */
export const isAdminPath = (path: string): boolean => path.startsWith('/sandbox/');

const notAllowed = (allow: string) => ({ ...text(405, 'Method not allowed'), headers: { allow } });

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
