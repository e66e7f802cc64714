import WebSocket from 'ws';
import type { GraphQLFault } from '../gateway/start.ts';

/** What a client sends, whatever it is: a document, its variables, or anything else that an attacker thinks of. */
type Payload = Readonly<Record<string, unknown>>;

type Answer = {
  data?: unknown;
  errors: GraphQLFault[] | undefined;
  /** All that came: the body and its headers, or the message. */
  said: string;
};

/** Sends a payload to a gateway and gives its first answer. `credentials` go as headers, or as connectionParams. */
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
  return { ...JSON.parse(body), said: body + headersOf(response) };
};

export const overEventStream: Send = async (url, payload, credentials) => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...credentials },
    body: toBody(payload),
  });
  const body = await response.text();
  const [, data = '{}'] = /^data: (\{.*\})$/m.exec(body) ?? [];
  return { ...JSON.parse(data), said: body + headersOf(response) };
};

/** By the protocol itself, so that no client's own checks come before the gateway's. */
const overWebSocket: Send = (url, payload, credentials) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: credentials })));
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)));
    socket.on('message', (message) => {
      const { type, payload: answer } = JSON.parse(String(message));
      if (type === 'connection_ack')
        socket.send(`{"type":"subscribe","id":"1","payload":${toBody(payload)}}`);
      if (type !== 'next' && type !== 'error') return;
      resolve({ ...(type === 'next' ? answer : { errors: answer }), said: String(message) });
      socket.terminate();
    });
  });

const headersOf = ({ headers }: Response): string => JSON.stringify([...headers]);

/** JSON as it stands in `$json`, for what JSON.stringify would not write. */
const toBody = ({ $json, ...payload }: Payload): string =>
  typeof $json === 'string' ? $json : JSON.stringify(payload);

export const TRANSPORTS: readonly (readonly [name: string, send: Send])[] = [
  ['HTTP', overHttp],
  ['server-sent events', overEventStream],
  ['WebSocket', overWebSocket],
];
