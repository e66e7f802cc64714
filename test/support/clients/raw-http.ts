import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setInterval, setTimeout } from 'node:timers/promises';

/** Sends a request by hand over its own connection. */
export type Attack = (socket: Socket) => void | Promise<void>;

/** Runs an attack. Resolves with all that the gateway sent until either side closed the connection. */
export const attack = async (url: string, how: Attack): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await how(socket);
  await closed;
  return received;
};

/** Runs an attack many times at once. `answers` are those of the ended connections; disposal destroys the others. */
export const crowd = (url: string, count: number, how: Attack) => {
  const answers: string[] = [];
  const sockets: Socket[] = [];
  for (let number = 0; number < count; number += 1)
    void attack(url, (socket) => {
      sockets.push(socket);
      return how(socket);
    }).then((answer) => answers.push(answer));
  return {
    answers,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** Sends the parts, and leaves the connection open. */
export const send =
  (...parts: (string | Uint8Array)[]): Attack =>
  (socket) => {
    for (const part of parts) socket.write(part);
  };

/** Sends `part` as fast as possible, until the gateway closes the connection. */
export const forever =
  (start: string, part: string): Attack =>
  async (socket) => {
    socket.write(start);
    while (socket.writable) {
      socket.write(part);
      await setTimeout(1);
    }
  };

/** Sends `start`, then a byte each half second, until the gateway closes the connection. */
export const drip =
  (start: string): Attack =>
  async (socket) => {
    socket.write(start);
    for await (const _ of setInterval(500)) {
      if (!socket.writable) return;
      socket.write('x');
    }
  };

/** The request line and headers. The host is localhost unless the headers name another. */
export const head = (line: string, ...headers: string[]): string => {
  const host = headers.some((header) => header.startsWith('host:')) ? [] : ['host: localhost'];
  return `${[`${line} HTTP/1.1`, ...host, ...headers].join('\r\n')}\r\n\r\n`;
};

/** The head of a POST of JSON to `/graphql`. */
export const json = (...headers: string[]): string =>
  head('POST /graphql', 'content-type: application/json', ...headers);

const WEB_SOCKET = [
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-protocol: graphql-transport-ws',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** The head of an upgrade request for a WebSocket. */
export const upgrade = (path = '/graphql', ...headers: string[]): string =>
  head(`GET ${path}`, ...WEB_SOCKET, ...headers);
