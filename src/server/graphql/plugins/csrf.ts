import type { GraphQLError } from 'graphql';
import { clientError } from '../../../graph/errors.ts';
import type { BrowserPolicy, RequestHeaders } from '../../browsers/origin-policy.ts';
import type { ServerPlugin } from '../server-context.ts';

/** Returns the error of a request that is not accepted for its headers, or null. */
export type CheckHeaders = (method: string, headers: RequestHeaders) => GraphQLError | null;

/**
 * CSRF protection: rejects requests that a page of another site sends through its visitor's browser. A POST must be JSON,
 * because a browser sends a form without a preflight but asks first before it sends JSON. A browser sends a GET without
 * asking, so only its headers `Sec-Fetch-Site` and `Origin` show the page. Other clients send neither, and pass.
 */
export const createCsrfCheck =
  ({ rejectionOf }: Pick<BrowserPolicy, 'rejectionOf'>): CheckHeaders =>
  (method, headers) =>
    rejectionOf(headers) ?? (method === 'POST' ? notPlainJson(headers) : null);

/** Checks the requests that Yoga answers. */
export const useCsrfProtection = (check: CheckHeaders): ServerPlugin => ({
  onRequestParse({ request: { method, headers } }) {
    const rejection = check(method, headers);
    if (rejection) throw rejection;
  },
});

const notPlainJson = (headers: RequestHeaders): GraphQLError | null => {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    return unsupported(`Expected a body that is not compressed, got one in ${encoding}.`);
  const type = headers.get('content-type')?.split(';')[0];
  if (type === 'application/json') return null;
  return unsupported(`Expected a content type of application/json, got ${type ?? 'none'}.`);
};

const unsupported = (message: string): GraphQLError =>
  clientError('BAD_USER_INPUT', message, { http: { status: 415 } });
