import type { Caller } from '../../context.ts';
import { clientError } from '../../graph/errors.ts';
import type { Trace } from '../../lib/trace.ts';

import { type Authenticate, credentialsIn, onExpiry } from '../auth/authenticate.ts';
import { isUnknownKey, type VerifyKeyFailOpen } from '../auth/verify-key.ts';
import { createTrace } from '../http/exchange.ts';
import { type Connection, close, type SocketContext } from './connection.ts';
import { closeGracefully } from './operation-streams.ts';

/**
 * Resolves with the caller of a socket. Rejects with UNAUTHENTICATED; with OPERATION_TOO_COMPLEX if the caller has too many
 * open sockets; or with UpstreamError if upstream does not know the caller's own key.
 */
export type AuthenticateConnection = (socket: SocketContext) => Promise<Caller>;

const FORBIDDEN = 4403;
const TRY_AGAIN_LATER = 1013;

/** Resolves if upstream accepts the caller's own key, see `verifyKey` of webhooks. */
export type VerifyKey = (caller: Caller, trace: Trace, signal: AbortSignal) => Promise<void>;

/**
 * Authenticates each socket once. From then on it acts for its caller. It is closed with 4403 when the caller's token
 * expires or upstream refuses the key. One caller may have `maxSocketsEach` open sockets.
 */
export const createConnectionAuthentication = (
  authenticate: Authenticate,
  verifyKey: VerifyKey,
  verifyKeyFailOpen: VerifyKeyFailOpen,
  maxSocketsEach: number,
): AuthenticateConnection => {
  const openSockets = new Map<string, number>();
  /** Attempts in progress, and those whose key upstream refused: upstream is not asked again for the same socket. */
  const attempts = new WeakMap<Connection, Promise<Caller>>();

  const countConnection = (connection: Connection, billingKey: string): void => {
    const count = openSockets.get(billingKey) ?? 0;
    if (count >= maxSocketsEach) {
      close(connection, TRY_AGAIN_LATER, 'Too many sockets');
      throw clientError(
        'OPERATION_TOO_COMPLEX',
        `Expected at most ${maxSocketsEach} open sockets of one client, got one more.`,
      );
    }
    openSockets.set(billingKey, count + 1);
    connection.onDisconnected(() => {
      const remaining = (openSockets.get(billingKey) ?? 0) - 1;
      if (remaining > 0) openSockets.set(billingKey, remaining);
      else openSockets.delete(billingKey);
    });
  };

  const attempt: AuthenticateConnection = async (socket) => {
    const connection = socket.extra;
    const caller = await authenticate(credentialsOf(socket), () => connection.address);
    const trace = createTrace(connection.traceparent);
    const closeForbidden = () => void closeGracefully(connection, FORBIDDEN, 'Forbidden');
    // The gateway's own key needs no check.
    if (caller.credential.owner === 'client')
      await verifyKeyFailOpen(
        (timeout) => verifyKey(caller, trace, timeout),
        connection.disconnectedSignal,
        closeForbidden,
      );
    if (connection.isDisconnected) return caller;
    if (Number.isFinite(maxSocketsEach)) countConnection(connection, caller.billingKey);
    connection.caller = caller;
    // The credential is no longer needed.
    setConnectionParams(socket, undefined);
    if (caller.expiresAt !== null) connection.onDisconnected(onExpiry(caller.expiresAt, closeForbidden));
    return caller;
  };

  return async (socket) => {
    const connection = socket.extra;
    if (connection.caller !== null) return connection.caller;
    const current = attempts.get(connection) ?? attempt(socket);
    attempts.set(connection, current);
    try {
      const caller = await current;
      attempts.delete(connection);
      return caller;
    } catch (error) {
      if (!isUnknownKey(error)) attempts.delete(connection);
      throw error;
    }
  };
};

/**
 * Returns the connectionParams as credentials. The socket keeps only the parameters that are read, for its next operation
 * if this attempt fails: the others may be long.
 */
const credentialsOf = (socket: SocketContext): Pick<Headers, 'get'> => {
  const sent = credentialsIn(socket.connectionParams);
  const read: Record<string, unknown> = {};
  setConnectionParams(socket, read);
  return {
    get(name) {
      const value = sent.get(name);
      if (value !== null) read[name] = value;
      return value;
    },
  };
};

/** graphql-ws declares them read-only. */
const setConnectionParams = (
  socket: { connectionParams?: unknown },
  params: Readonly<Record<string, unknown>> | undefined,
): void => {
  socket.connectionParams = params;
};

/**
 * Closes a socket whose authentication failed, with 4403 after `timeoutMs`, unless a later operation authenticates it.
 * Without that limit, unauthenticated sockets would use up MAX_SOCKETS.
 */
export const closeUnlessAuthenticated = (connection: Connection, timeoutMs: number): void => {
  const timer = setTimeout(() => {
    if (connection.caller === null) close(connection, FORBIDDEN, 'Forbidden');
  }, timeoutMs).unref();
  connection.onDisconnected(() => clearTimeout(timer));
};
