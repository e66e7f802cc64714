import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setInterval, setTimeout } from 'node:timers/promises';

/** What can be done with a socket of one's own. */
export type Attack = (socket: Socket) => void | Promise<void>;

/** All that the gateway says until one of the two closes the connection. */
export const attack = async (url: string, how: Attack): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let said = '';
  socket.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await how(socket);
  await closed;
  return said;
};

/** Many at once: `answers` are of those that are over; at its end it lets the others go. */
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

export const send =
  (...parts: (string | Uint8Array)[]): Attack =>
  (socket) => {
    for (const part of parts) socket.write(part);
  };

/** As fast as it goes, until the other side has had enough. */
export const forever =
  (start: string, part: string): Attack =>
  async (socket) => {
    socket.write(start);
    while (socket.writable) {
      socket.write(part);
      await setTimeout(1);
    }
  };

/** A byte every half second. */
export const drip =
  (start: string): Attack =>
  async (socket) => {
    socket.write(start);
    for await (const _ of setInterval(500)) {
      if (!socket.writable) return;
      socket.write('x');
    }
  };

/** A request's line and headers; of localhost, unless they name another host. */
export const head = (line: string, ...headers: string[]): string => {
  const host = headers.some((header) => header.startsWith('host:')) ? [] : ['host: localhost'];
  return `${[`${line} HTTP/1.1`, ...host, ...headers].join('\r\n')}\r\n\r\n`;
};

/** The head of a post of JSON. */
export const json = (...headers: string[]): string =>
  head('POST /graphql', 'content-type: application/json', ...headers);

const WEB_SOCKET = [
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-protocol: graphql-transport-ws',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** The head of a request for a WebSocket. */
export const upgrade = (path = '/graphql', ...headers: string[]): string =>
  head(`GET ${path}`, ...WEB_SOCKET, ...headers);
