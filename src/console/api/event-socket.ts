import { type Client, createClient } from 'graphql-ws/client';
import { credentialHeaders } from '../state/credentials.ts';

const UNAUTHORISED = 4403;

type Listeners = {
  connected(): void;
  /** It connects again by itself. */
  broken(): void;
  /** The gateway refuses the credentials. It does not connect again. */
  refused(reason: string): void;
};

/** A WebSocket to the gateway that always connects again: half a second after a break, later every ten seconds. */
export const createSocket = (on: Listeners): Client =>
  createClient({
    url: `${location.origin.replace('http', 'ws')}/graphql`,
    connectionParams: credentialHeaders,
    lazyCloseTimeout: 0,
    retryAttempts: Number.POSITIVE_INFINITY,
    // A connection that is refused is an error, not a close event.
    shouldRetry: (event) => !(event instanceof CloseEvent && event.code === UNAUTHORISED),
    retryWait: (retries) => {
      const longest = Math.min(500 * 2 ** retries, 10_000);
      return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
    },
    on: {
      connected: on.connected,
      closed: (event) => {
        if (event instanceof CloseEvent && event.code === UNAUTHORISED) on.refused(event.reason);
        else on.broken();
      },
    },
  });
