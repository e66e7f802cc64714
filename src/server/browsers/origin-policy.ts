import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../logger.ts';
import {
  type AllowsCrossOrigin,
  createCrossOriginCheck,
  createLoopbackCheck,
  createOriginCheck,
  type IsAllowedOrigin,
  type IsOwnHost,
} from './origin-check.ts';
import { createOriginErrors, type OriginErrors } from './origin-errors.ts';

/** Which browsers' requests are let in, on every transport, and the errors that the others get. */
export type BrowserPolicy = {
  readonly allowsCrossOrigin: AllowsCrossOrigin;
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly isOwnHost: IsOwnHost;
  readonly refusals: OriginErrors;
};

type Options = {
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | null;
  /** Whether the gateway listens on loopback alone. */
  readonly onLoopback: boolean;
  /** Whether pages that loopback serves may come. */
  readonly loopbackOrigins: boolean;
  readonly log: Log;
  readonly now: Clock;
};

export const createBrowserPolicy = (options: Options): BrowserPolicy => {
  const { allowedOrigins, publicUrl, onLoopback, loopbackOrigins, log, now } = options;
  const isOwnHost = onLoopback ? createLoopbackCheck(publicUrl) : () => true;
  // Where a proxy gives the gateway another name, PUBLIC_URL tells the one that browsers know.
  const ownOrigins = publicUrl === null ? [] : [new URL(publicUrl).origin];
  const allowsCrossOrigin = createCrossOriginCheck([...allowedOrigins, ...ownOrigins], loopbackOrigins);
  return {
    allowsCrossOrigin,
    isAllowedOrigin: createOriginCheck(allowsCrossOrigin, isOwnHost),
    isOwnHost,
    refusals: createOriginErrors(log, now),
  };
};
