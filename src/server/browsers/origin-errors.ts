import type { GraphQLError } from 'graphql';
import { clientError } from '../../graph/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../logger.ts';

/**
 * The errors for rejected requests of browsers. Each names the origin or Host and the setting that would allow it, to the
 * client and in the log. The log gets at most 20 lines a minute, and one for each origin or Host.
 */
export type OriginErrors = {
  /** `origin` is null when the browser says that another site sent the request, and not which. */
  origin(origin: string | null): GraphQLError;
  host(host: string | null): GraphQLError;
};

const MINUTE_MS = 60_000;
const MAX_LINES_A_MINUTE = 20;

/** The most characters of an origin or Host that are shown: a header may have 16 KB. */
const MAX_SHOWN = 200;

export const createOriginErrors = (log: Log, now: Clock): OriginErrors => {
  const logged = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;

  const isNew = (name: string): boolean => {
    if (now() - since > MINUTE_MS) {
      logged.clear();
      since = now();
    }
    if (logged.has(name) || logged.size >= MAX_LINES_A_MINUTE) return false;
    logged.add(name);
    return true;
  };

  return {
    origin(received) {
      const origin = received === null ? null : shortened(received);
      if (isNew(`origin ${origin}`)) log.info('origin rejected: not in ALLOWED_ORIGINS', { origin });
      return forbidden(
        "a request of this site's own pages or of an origin in ALLOWED_ORIGINS",
        origin === null ? 'one of another site' : `one of ${JSON.stringify(origin)}`,
      );
    },
    host(received) {
      const host = shortened(String(received));
      if (isNew(`host ${host}`)) log.info('Host rejected: neither loopback nor that of PUBLIC_URL', { host });
      return forbidden("a Host of loopback's or of PUBLIC_URL's", JSON.stringify(host));
    },
  };
};

/** The body of a response that does not come from the GraphQL pipeline. */
export const bodyOf = (rejection: GraphQLError): string =>
  JSON.stringify({
    errors: [{ message: rejection.message, extensions: { code: rejection.extensions.code } }],
  });

const shortened = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

const forbidden = (expected: string, got: string): GraphQLError =>
  clientError('FORBIDDEN', `Expected ${expected}, got ${got}.`, { http: { status: 403 } });
