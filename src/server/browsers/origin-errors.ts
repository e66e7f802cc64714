import type { GraphQLError } from 'graphql';
import { clientError } from '../../graph/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../logger.ts';

/**
 * The errors for browsers that may not come. Each names what was refused and the setting that would let it in, to the
 * client and in the log: at most 20 lines a minute, and one for each origin or Host.
 */
export type OriginErrors = {
  /** Undefined where the browser said that another site sent the request, and not which. */
  origin(origin: string | undefined): GraphQLError;
  host(host: string | undefined): GraphQLError;
};

const MINUTE_MS = 60_000;
const MAX_LINES_A_MINUTE = 20;

/** A header may have 16 KB. */
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
    origin(said) {
      const origin = said === undefined ? null : shortened(said);
      if (isNew(`origin ${origin}`))
        log.info('a page of an origin that is not in ALLOWED_ORIGINS was refused', { origin });
      return forbidden(
        "a request of this site's own pages or of an origin in ALLOWED_ORIGINS",
        origin === null ? 'one of another site' : `one of ${JSON.stringify(origin)}`,
      );
    },
    host(said) {
      const host = shortened(String(said));
      if (isNew(`host ${host}`))
        log.info("a request for a Host that is neither loopback's nor PUBLIC_URL's was refused", { host });
      return forbidden("a Host of loopback's or of PUBLIC_URL's", JSON.stringify(host));
    },
  };
};

/** The body of an answer that does not come from the GraphQL pipeline. */
export const bodyOf = (refusal: GraphQLError): string =>
  JSON.stringify({ errors: [{ message: refusal.message, extensions: { code: refusal.extensions.code } }] });

const shortened = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

const forbidden = (expected: string, got: string): GraphQLError =>
  clientError('FORBIDDEN', `Expected ${expected}, got ${got}.`, { http: { status: 403 } });
