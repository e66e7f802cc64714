import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { json } from '../../../test/support/clients/raw-http.ts';
import { openRawSocket, subscribeMessage } from '../../../test/support/clients/raw-socket.ts';
import { credentialsOf, type Family, times } from '../family.ts';
import { walletOf } from '../wallets.ts';

/** Longer than the gateway may keep an answer of which its client takes nothing. */
const KEPT_MS = 45_000;
/** Time to read what the operating system still holds. */
const LAST_MS = 3000;
const QUERIES = 20;

/** Some megabytes, within what an answer may weigh. */
const BIG = `query { wallet(address: "${walletOf('big', 1)}") { ${times(
  8,
  (index) => `a${index}: transactions(first: 1000) { nodes { hash data logs { data topics } } }`,
)} } }`;

const FEED = `subscription { deliveries { ${times(40, (index) => `c${index}: cursor`)} node { payload id } } }`;

/** Waits for as long as the socket may be kept, then reads: a socket that was cut has an end. */
const outcomeOf = async (socket: Socket, signal: AbortSignal): Promise<string> => {
  try {
    await pause(KEPT_MS, undefined, { signal });
    const cut = once(socket, 'close').then(() => 'cut');
    socket.resume();
    return await Promise.race([cut, pause(LAST_MS, 'kept')]);
  } finally {
    socket.destroy();
  }
};

const byHttp = async (gatewayUrl: string, headers: readonly string[], query: string, signal: AbortSignal) => {
  const { hostname, port } = new URL(gatewayUrl);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  const body = JSON.stringify({ query });
  socket.write(json(`content-length: ${body.length}`, ...headers) + body);
  return outcomeOf(socket, signal);
};

export const unreadAnswers: Family = {
  name: 'answers not read',
  atOnce: 12,
  pauseMs: 1000,
  async prepare(gatewayUrl) {
    const credentials = await credentialsOf('flooded');
    const headers = Object.entries(credentials).map(([name, value]) => `${name}: ${value}`);
    return async (number, signal) => {
      if (number % 3 === 0) return `http ${await byHttp(gatewayUrl, headers, BIG, signal)}`;
      if (number % 3 === 1) {
        const stream = [...headers, 'accept: text/event-stream'];
        return `events ${await byHttp(gatewayUrl, stream, FEED, signal)}`;
      }
      const client = await openRawSocket(gatewayUrl, () => {}, credentials);
      client.stall();
      for (let id = 0; id < QUERIES; id += 1) client.write(subscribeMessage(BIG, {}, String(id)));
      return `websocket ${await outcomeOf(client.socket, signal)}`;
    };
  },
};
