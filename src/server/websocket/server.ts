import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { GraphQLError } from 'graphql';
import { handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { createTaskTracker } from '../../lib/task-tracker.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { IsAllowedOrigin, IsOwnHost } from '../browsers/origin-check.ts';
import { bodyOf, type OriginErrors } from '../browsers/origin-errors.ts';
import type { Documents } from '../graphql/limits/documents.ts';
import { createRequestMemory, estimatedBytesOfText } from '../graphql/limits/request-memory.ts';
import type { Operations } from '../graphql/plugins/operation-observer.ts';
import type { TrustedDocuments } from '../graphql/trusted-documents.ts';
import type { GraphQLServer } from '../graphql/yoga.ts';
import { destroyUnlessClosed } from '../http/force-close.ts';
import { type RuleViolation, ruleViolationOf } from '../http/request-validation.ts';
import type { UnsentLimit } from '../http/unsent-limit.ts';
import { toFormattedError } from '../subscriptions/shared-execution.ts';
import {
  closeUnlessAuthenticated,
  createConnectionAuthentication,
  type VerifyKey,
} from './authentication.ts';
import { pauseReadsWhileBlocked } from './backpressure.ts';
import { type Connection, close, createConnection, type Upgrade, upgradeOf } from './connection.ts';
import { closeGracefully, DRAIN_MS } from './graceful-close.ts';
import { createKeepAlive } from './keep-alive.ts';
import type { SocketObserver } from './observer.ts';
import { prepareOperation, type SocketOperation, startOperation } from './operation.ts';

export type WebSockets = {
  /** Finishes queries and mutations, then closes every socket so that clients resume: 1012, see graceful-close.ts. */
  stop(): Promise<void>;
};

type Options = {
  readonly server: Server;
  readonly graphql: GraphQLServer;
  readonly authenticate: Authenticate;
  readonly documents: Documents;
  readonly verifyKey: VerifyKey;
  /** What a client is told of an error. */
  readonly mask: (error: unknown) => GraphQLError;
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly isOwnHost: IsOwnHost;
  readonly refusals: OriginErrors;
  readonly maxSockets: number;
  /** Of one caller. */
  readonly maxSocketsEach: number;
  readonly operations: Operations;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  readonly unsent: UnsentLimit;
  readonly observer: SocketObserver;
};

const MAX_MESSAGE_BYTES = 256 * 1024;
/** Parsed, a message may take some twenty times as much: as much of one who is not admitted as HTTP takes in headers. */
const MAX_UNAUTHENTICATED_MESSAGE_BYTES = 16 * 1024;
const INIT_TIMEOUT_MS = 3000;
const NO_STATUS = 1005;
const BAD_REQUEST = 4400;
const INTERNAL_ERROR = 4500;
const SERVICE_RESTART = 1012;

/** graphql-transport-ws on `/graphql`, executing through the same pipeline as HTTP. */
export const serveWebSockets = (options: Options): WebSockets => {
  const { server, graphql, authenticate, documents, mask, maxSockets } = options;
  const { operations, trusted, observer } = options;
  const admit = createConnectionAuthentication(authenticate, options.verifyKey, options.maxSocketsEach);
  const running = createTaskTracker();
  // Not that of HTTP, which strangers can fill.
  const requestMemory = createRequestMemory();
  const connections = new Set<Connection>();
  const keepAlive = createKeepAlive();
  let isStopping = false;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, handleProtocols });
  const protocol = makeServer<Record<string, unknown> | undefined, Connection>({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    // Who is not admitted is told why by each of its operations.
    onConnect(socket) {
      socket.extra.operations = socket.subscriptions;
      return admit(socket).then(ignore, () => closeUnlessAuthenticated(socket.extra));
    },
    onSubscribe: (socket, id, payload) =>
      prepareOperation({
        graphql,
        admit,
        documents,
        mask,
        operations,
        trusted,
        running,
        requestMemory,
        socket,
        id,
        payload,
      }),
    execute: (args) => startOperation(args as SocketOperation),
    subscribe: (args) => startOperation(args as SocketOperation),
    // graphql-ws wraps what ended a stream, and with it loses the code.
    onError: (_socket, _id, _payload, errors) =>
      errors.map((error) =>
        toFormattedError(mask(error.cause instanceof GraphQLError ? error.cause : error)),
      ),
  });

  const open = (webSocket: WebSocket, stream: Duplex, { socket }: IncomingMessage, upgrade: Upgrade) => {
    const onAnswer = () => options.unsent.wrote(socket);
    const connection = createConnection(webSocket, stream, upgrade, onAnswer);
    connections.add(connection);
    keepAlive.add(webSocket);
    const observedEnd = observer.opened();
    const closed = protocol.opened(
      {
        protocol: webSocket.protocol,
        send: (data) => {
          webSocket.send(data);
          onAnswer();
        },
        close: (code = NO_STATUS, reason = '') => close(connection, code, reason),
        onMessage: (handle) =>
          webSocket.on('message', (data) => {
            // A peer that was told to go may not have heard it yet.
            if (webSocket.readyState !== webSocket.OPEN) return;
            const text = String(data);
            connection.messageBytes = Buffer.byteLength(text);
            if (connection.caller === null && connection.messageBytes > MAX_UNAUTHENTICATED_MESSAGE_BYTES)
              return close(connection, BAD_REQUEST, 'Expected at most 16 KB before a valid credential');
            connection.messageWeight = estimatedBytesOfText(text);
            handle(text).catch(() => close(connection, INTERNAL_ERROR, 'Internal server error'));
          }),
      },
      connection,
    );
    // A frame that breaks the rules: ws closes the socket with the fitting code by itself.
    webSocket.on('error', () => {});
    webSocket.once('close', () => {
      connections.delete(connection);
      connection.disconnected.abort();
      observedEnd();
    });
    connection.disconnected.signal.addEventListener('abort', () => void closed(NO_STATUS, ''), {
      once: true,
    });
    pauseReadsWhileBlocked(webSocket, stream);
  };

  server.on('upgrade', (request, stream: Duplex, head) => {
    // Node has taken its own listener off: a peer's reset would else be nobody's, and end the process.
    stream.on('error', () => stream.destroy());
    const refusal = refuse(request, options, isStopping || sockets.clients.size >= maxSockets);
    if (refusal !== null) {
      observer.refused(refusal.status);
      stream.end(answerTo(refusal));
      // None of HTTP's time limits hold for what asked for an upgrade.
      destroyUnlessClosed(stream, () => stream.destroy());
      return;
    }
    const upgrade = upgradeOf(request);
    sockets.handleUpgrade(request, stream, head, (webSocket) => open(webSocket, stream, request, upgrade));
  });

  return {
    async stop() {
      isStopping = true;
      const drain = [...connections].map((one) => closeGracefully(one, SERVICE_RESTART, 'Service Restart'));
      // An update of who has gone meanwhile comes to its end too.
      await Promise.all([...drain, running.drain(DRAIN_MS)]);
      keepAlive.stop();
      await allClosed(sockets);
    },
  };
};

const ignore = () => {};

/** A peer that does not answer the close is dropped after this long. */
const CLOSE_GRACE_MS = 1000;

const allClosed = async (sockets: WebSocketServer): Promise<void> => {
  const closed = [...sockets.clients].map(
    (socket) => new Promise((resolve) => socket.once('close', resolve)),
  );
  const grace = setTimeout(() => {
    for (const socket of sockets.clients) socket.terminate();
  }, CLOSE_GRACE_MS);
  await Promise.all(closed);
  clearTimeout(grace);
  sockets.close();
};

type Refusal = { readonly status: RuleViolation['status'] | 403 | 404 | 503; readonly body: string };

const refuse = (
  request: IncomingMessage,
  { isAllowedOrigin, isOwnHost, refusals }: Options,
  noMore: boolean,
): Refusal | null => {
  const { url, headers } = request;
  const { origin, host } = headers;
  const violation = ruleViolationOf(request);
  if (violation) return { status: violation.status, body: JSON.stringify({ error: violation.message }) };
  if (url?.split('?')[0] !== '/graphql') return { status: 404, body: '' };
  if (!isAllowedOrigin(origin, host))
    return { status: 403, body: bodyOf(isOwnHost(host) ? refusals.origin(origin) : refusals.host(host)) };
  return noMore ? { status: 503, body: '' } : null;
};

const answerTo = ({ status, body }: Refusal): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    ...(body ? ['Content-Type: application/json'] : []),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
