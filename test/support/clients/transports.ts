import WebSocket from 'ws';
import type { GraphQLFault, Upstream } from '../gateway/start.ts';

/** The body that a client sends: a document and variables, or anything else. */
type Payload = Readonly<Record<string, unknown>>;

type Answer = {
  data?: unknown;
  errors: GraphQLFault[] | undefined;
  extensions?: { upstream: Upstream };
  /** The whole answer as text: body and headers, or the message. */
  raw: string;
};

/** Sends a payload, and resolves with the first answer. `credentials` are sent as headers, or as connectionParams. */
export type Send = (
  gatewayUrl: string,
  payload: Payload,
  credentials?: Record<string, string>,
) => Promise<Answer>;

export const overHttp: Send = async (url, payload, credentials) => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...credentials },
    body: toBody(payload),
  });
  const body = await response.text();
  return { ...JSON.parse(body), raw: body + headersOf(response) };
};

export const overEventStream: Send = async (url, payload, credentials) => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...credentials },
    body: toBody(payload),
  });
  const body = await response.text();
  const [, data = '{}'] = /^data: (\{.*\})$/m.exec(body) ?? [];
  return { ...JSON.parse(data), raw: body + headersOf(response) };
};

/**
 * Writes the protocol by hand, so that the checks of no client library come before the gateway's. `options` are those of the
 * upgrade request.
 */
export const overWebSocket = (
  url: string,
  payload: Payload,
  credentials?: Record<string, string>,
  options: WebSocket.ClientOptions = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', options);
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: credentials })));
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)));
    socket.on('message', (message) => {
      const { type, payload: answer } = JSON.parse(String(message));
      if (type === 'connection_ack')
        socket.send(`{"type":"subscribe","id":"1","payload":${toBody(payload)}}`);
      if (type !== 'next' && type !== 'error') return;
      resolve({ ...(type === 'next' ? answer : { errors: answer }), raw: String(message) });
      socket.terminate();
    });
  });

const headersOf = ({ headers }: Response): string => JSON.stringify([...headers]);

/** Returns `$json` itself if it is given, for text that JSON.stringify would not write. */
const toBody = ({ $json, ...payload }: Payload): string =>
  typeof $json === 'string' ? $json : JSON.stringify(payload);

export const TRANSPORTS: readonly (readonly [name: string, send: Send])[] = [
  ['HTTP', overHttp],
  ['server-sent events', overEventStream],
  ['WebSocket', overWebSocket],
];
