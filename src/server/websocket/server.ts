import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ShutdownDeadline } from '../../lib/deadlines.ts';
import { STATUS_CODES } from '../../lib/http.ts';
import { createStaggeredInterval, createTaskTracker, settlesWithin } from '../../lib/tasks.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { VerifyKeyFailOpen } from '../auth/verify-key.ts';
import { type BrowserPolicy, bodyOf } from '../browsers/origin-policy.ts';
import type { Attribute } from '../graphql/attribution.ts';
import type { MaskError } from '../graphql/errors.ts';
import type { GraphQLServer } from '../graphql/graphql.ts';
import type { Documents } from '../graphql/limits/documents.ts';
import { createRequestMemory } from '../graphql/limits/request-memory.ts';
import type { Operations } from '../graphql/observe.ts';
import type { PersistedQueries } from '../graphql/persisted-queries.ts';
import type { TrustedDocuments } from '../graphql/trusted-documents.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { type RuleViolation, ruleViolationOf } from '../http/server.ts';
import { destroyUnlessClosed } from '../http/shutdown.ts';
import type { UnsentLimit } from '../http/unsent-limit.ts';
import { createConnectionAuthentication, type VerifyKey } from './authentication.ts';
import { Connection, type SocketObserver, upgradeOf } from './connection.ts';
import { closeGracefully } from './operation-streams.ts';
import { createProtocol, type SocketTimes } from './protocol.ts';

export type WebSockets = {
  /**
   * Graceful shutdown: finishes queries and mutations, then closes every socket with 1012, at which clients reconnect and
   * resume; see `closeGracefully`.
   */
  stop(deadline: ShutdownDeadline): Promise<void>;
};

type Options = UpgradePolicy & {
  readonly server: Server;
  readonly graphql: GraphQLServer;
  readonly authenticate: Authenticate;
  readonly clientAddress: ClientAddress;
  readonly attribute: Attribute;
  readonly documents: Documents;
  readonly verifyKey: VerifyKey;
  readonly verifyKeyFailOpen: VerifyKeyFailOpen;
  readonly mask: MaskError;
  /** The most open sockets, of all callers. */
  readonly maxSockets: number;
  /** The most open sockets of one caller. */
  readonly maxSocketsEach: number;
  readonly operations: Operations;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  readonly persisted: PersistedQueries;
  readonly unsent: UnsentLimit;
  readonly observer: SocketObserver;
  readonly times?: SocketTimes | undefined;
  /** How long a peer may take to close its socket, in milliseconds. */
  readonly closeMs?: number | undefined;
};

const MAX_MESSAGE_BYTES = 256 * 1024;
const SERVICE_RESTART = 1012;

/** graphql-transport-ws on `/graphql`, executing through the same pipeline as HTTP. */
export const serveWebSockets = (options: Options): WebSockets => {
  const { server, maxSockets, observer, closeMs } = options;
  const running = createTaskTracker();
  const connections = new Set<Connection>();
  const keepAlive = createKeepAlive();
  let isStopping = false;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    clientTracking: false,
    handleProtocols,
  });
  const { authenticate, verifyKey, verifyKeyFailOpen, maxSocketsEach } = options;
  const pipeline = {
    ...options,
    authenticate: createConnectionAuthentication(authenticate, verifyKey, verifyKeyFailOpen, maxSocketsEach),
    running,
    // Separate from the memory of HTTP requests, which clients without a credential can fill.
    requestMemory: createRequestMemory(),
  };
  const speakProtocol = createProtocol(pipeline, options.times);

  const open = (webSocket: WebSocket, request: IncomingMessage): void => {
    const upgrade = upgradeOf(request, options.clientAddress, options.attribute);
    const connection = new Connection(webSocket, request.socket, upgrade, options.unsent.wrote, closeMs);
    connections.add(connection);
    keepAlive.add(webSocket);
    const onClosed = observer.opened?.();
    speakProtocol(connection);
    // ws closes the socket with the right code by itself after a frame that breaks the protocol.
    webSocket.on('error', ignore);
    webSocket.on('close', () => {
      connections.delete(connection);
      connection.disconnect();
      onClosed?.();
    });
  };

  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head) => {
    // Node removes its own error listener before `upgrade`: without one, a reset by the peer would end the process.
    stream.on('error', destroy);
    const rejection = upgradeRejectionOf(request, options, isStopping || connections.size >= maxSockets);
    if (rejection === null)
      return sockets.handleUpgrade(request, stream, head, (webSocket) => open(webSocket, request));
    observer.refused?.(rejection.status);
    rejectUpgrade(stream, rejection, closeMs);
  });

  return {
    async stop(deadline) {
      isStopping = true;
      const drainMs = deadline.drainMs();
      const closing = [...connections].map((one) =>
        closeGracefully(one, SERVICE_RESTART, 'Service Restart', drainMs),
      );
      // A mutation whose client has left is finished too.
      await Promise.all([...closing, running.drain(drainMs)]);
      keepAlive.stop();
      await allClosed([...connections], deadline.closeMs());
      sockets.close();
    },
  };
};

/** Resolves when all sockets are closed. A peer that does not answer the close frame within `ms` is terminated. */
const allClosed = async (connections: readonly Connection[], ms: number): Promise<void> => {
  const closed = connections.map(
    ({ webSocket }) => new Promise((resolve) => webSocket.once('close', resolve)),
  );
  if (!(await settlesWithin(closed, ms))) for (const { webSocket } of connections) webSocket.terminate();
  await Promise.all(closed);
};

const ignore = () => {};

/** All streams share it: a listener of each one's own would be a closure, which keeps what is around it in memory. */
const destroy = function (this: Duplex): void {
  this.destroy();
};

const PING_EVERY_MS = 12_000;
/** The operating system of a slow reader may still hold the data in front of its ping. */
const MAX_MISSED_PONGS = 5;

/**
 * Pings each socket once in an interval, and terminates a socket whose peer has been silent for about a minute. A socket
 * with unsent data is not pinged, since the ping would queue behind it; server/http/unsent-limit.ts cuts peers that stall.
 */
export type KeepAlive = {
  /** Pings the socket from now on, until it closes. */
  add(socket: WebSocket): void;
  stop(): void;
};

/** The pings of 20,000 sockets are spread over the interval: that many writes in one turn would block the event loop. */
export const createKeepAlive = (everyMs = PING_EVERY_MS): KeepAlive => {
  const interval = createStaggeredInterval(everyMs);
  return {
    add(socket) {
      let missedPongs = 0;
      const remove = interval.add(() => {
        if (socket.bufferedAmount > 0) missedPongs = 0;
        else if (missedPongs === MAX_MISSED_PONGS) socket.terminate();
        else {
          missedPongs += 1;
          if (socket.readyState === socket.OPEN) socket.ping();
        }
      });
      socket.on('pong', () => {
        missedPongs = 0;
      });
      socket.on('close', remove);
    },
    stop: interval.stop,
  };
};

type UpgradePolicy = Pick<BrowserPolicy, 'rejectionOf'>;

type Rejection = { readonly status: RuleViolation['status'] | 403 | 404 | 503; readonly body: string };

/** Returns why an upgrade request gets no WebSocket, or null if it gets one. `isFull`: no further socket may open. */
const upgradeRejectionOf = (
  request: IncomingMessage,
  { rejectionOf }: UpgradePolicy,
  isFull: boolean,
): Rejection | null => {
  const { url, headers } = request;
  const violation = ruleViolationOf(request);
  if (violation) return { status: violation.status, body: JSON.stringify({ error: violation.message }) };
  if (url?.split('?')[0] !== '/graphql') return { status: 404, body: '' };
  // A client without Origin is not a browser.
  const rejection =
    headers.origin === undefined ? null : rejectionOf({ get: (name) => headers[name]?.toString() ?? null });
  if (rejection) return { status: 403, body: bodyOf(rejection) };
  return isFull ? { status: 503, body: '' } : null;
};

/** Answers an upgrade request with the status and the body, and closes its connection within `closeMs`. */
const rejectUpgrade = (stream: Duplex, { status, body }: Rejection, closeMs?: number): void => {
  stream.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      ...(body ? ['Content-Type: application/json'] : []),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
  // Node's HTTP timeouts do not apply to the connection of an upgrade request.
  destroyUnlessClosed(stream, () => stream.destroy(), closeMs);
};
