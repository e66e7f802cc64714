import type { Caller } from '../../context.ts';
import { clientError } from '../../graph/errors.ts';
import type { Trace } from '../../lib/trace-context.ts';
import { type Authenticate, type Credentials, credentialsIn } from '../auth/authenticate.ts';
import { onExpiry } from '../auth/expiry.ts';
import { isUnknownKey, verifyKeyFailOpen } from '../auth/verify-key.ts';
import { traceOf } from '../http/request-id.ts';
import { type Connection, close, type SocketContext } from './connection.ts';
import { closeGracefully } from './graceful-close.ts';

/**
 * Whom a socket acts for. Rejects with UNAUTHENTICATED, with OPERATION_TOO_COMPLEX for who has too many open, or with
 * UpstreamError when the service does not know the caller's own key.
 */
export type AuthenticateConnection = (socket: SocketContext) => Promise<Caller>;

const FORBIDDEN = 4403;
const TRY_AGAIN_LATER = 1013;

/** Resolves when the service takes the caller's own key, see `verifyKey` of webhooks. */
export type VerifyKey = (caller: Caller, trace: Trace, signal: AbortSignal) => Promise<void>;

/**
 * Admits each socket once: from then on it acts for its caller, until the caller's rights end, and with them the socket.
 * `maxSocketsEach` is how many one caller may have open.
 */
export const createConnectionAuthentication = (
  authenticate: Authenticate,
  verifyKey: VerifyKey,
  maxSocketsEach: number,
): AuthenticateConnection => {
  const open = new Map<string, number>();
  /** Those under way, and those whose key was refused: the service is not asked again by the same socket. */
  const admissions = new WeakMap<Connection, Promise<Caller>>();

  const countConnection = (connection: Connection, billingKey: string): void => {
    const count = open.get(billingKey) ?? 0;
    if (count >= maxSocketsEach) {
      close(connection, TRY_AGAIN_LATER, 'Too many sockets');
      throw clientError('OPERATION_TOO_COMPLEX', `Expected at most ${maxSocketsEach} sockets of a client.`);
    }
    open.set(billingKey, count + 1);
    connection.disconnected.signal.addEventListener('abort', () => {
      const left = (open.get(billingKey) ?? 0) - 1;
      if (left > 0) open.set(billingKey, left);
      else open.delete(billingKey);
    });
  };

  const admit: AuthenticateConnection = async (socket) => {
    const connection = socket.extra;
    const { signal } = connection.disconnected;
    const caller = await authenticate(credentialsOf(socket), connection.address);
    const trace = traceOf(connection.traceparent, undefined);
    const closeForbidden = () => void closeGracefully(connection, FORBIDDEN, 'Forbidden');
    await verifyKeyFailOpen((enough) => verifyKey(caller, trace, enough), signal, closeForbidden);
    if (signal.aborted) return caller;
    if (Number.isFinite(maxSocketsEach)) countConnection(connection, caller.billingKey);
    connection.caller = caller;
    // What it showed is not needed any more.
    keep(socket, undefined);
    if (caller.expiresAt !== null) {
      const stop = onExpiry(caller.expiresAt, closeForbidden);
      connection.disconnected.signal.addEventListener('abort', stop);
    }
    return caller;
  };

  return async (socket) => {
    const connection = socket.extra;
    if (connection.caller !== null) return connection.caller;
    const connectionAuthentication = admissions.get(connection) ?? admit(socket);
    admissions.set(connection, connectionAuthentication);
    try {
      return await connectionAuthentication;
    } catch (error) {
      if (!isUnknownKey(error)) admissions.delete(connection);
      throw error;
    }
  };
};

/**
 * What a socket shows by name. Only what is asked for is kept, for its next operation if it is refused: the rest may be
 * long.
 */
const credentialsOf = (socket: SocketContext): Credentials => {
  const shown = credentialsIn(socket.connectionParams);
  const asked: Record<string, unknown> = {};
  keep(socket, asked);
  return {
    get(name) {
      const value = shown.get(name);
      if (value !== null) asked[name] = value;
      return value;
    },
  };
};

const keep = (
  socket: { connectionParams?: unknown },
  params: Readonly<Record<string, unknown>> | undefined,
): void => {
  socket.connectionParams = params;
};

/** Time to show a credential that is valid by then; sockets of nobody would else take the places of all others. */
const ADMISSION_MS = 10_000;

/** Closes a socket that has been refused, with 4403, unless it is admitted by one of its later operations. */
export const closeUnlessAuthenticated = (connection: Connection): void => {
  const drop = () => {
    if (connection.caller === null) close(connection, FORBIDDEN, 'Forbidden');
  };
  const timer = setTimeout(drop, ADMISSION_MS).unref();
  connection.disconnected.signal.addEventListener('abort', () => clearTimeout(timer));
};
