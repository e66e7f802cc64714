import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { activity, deliver, deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { json } from '../../../test/support/clients/raw-http.ts';
import { message, openRawSocket, subscribeMessage } from '../../../test/support/clients/raw-socket.ts';
import { ask } from '../ask.ts';
import { walletOf } from '../wallets.ts';
import { type Attack, credentialsOf, times } from './attack.ts';

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
const endOf = async (socket: Socket, signal: AbortSignal): Promise<string> => {
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
  return endOf(socket, signal);
};

const unreadAnswers: Attack = {
  name: 'answers that nobody reads',
  // What the operating system takes of an answer may be all of it. Memory shows what the gateway keeps.
  holds: 'such a client is disconnected once its answers wait',
  ends: /^((http|events|websocket) (cut|kept)|ECONNRESET)$/,
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
      return `websocket ${await endOf(client.socket, signal)}`;
    };
  },
};

const SUBSCRIPTIONS = 100;
const DELIVERIES = 2;
const HELD_MS = 10_000;

/** Shared with no other, and with many tokens. */
const different = (socket: number, number: number): string =>
  `subscription S${socket}x${number} { deliveries { cursor node { ${times(
    45,
    (index) => `a${index}: events { ... on Activity { transactionHash from to value } }`,
  )} } } }`;

const subscriptionDocuments: Attack = {
  name: 'subscriptions, each another document',
  holds: 'those beyond the rate limit are refused',
  ends: /^(all held|some refused|all refused|closed)$/,
  atOnce: 5,
  pauseMs: 2000,
  async prepare(gatewayUrl) {
    const credentials = await credentialsOf('manifold');
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, credentials);
    return async (number, signal) => {
      let refused = 0;
      const onText = (text: Buffer) => {
        if (text.includes('"type":"error"')) refused += 1;
      };
      using client = await openRawSocket(gatewayUrl, onText, credentials);
      for (let index = 0; index < SUBSCRIPTIONS; index += 1)
        client.write(subscribeMessage(different(number, index), {}, String(index)));
      for (let index = 0; index < DELIVERIES; index += 1) {
        await pause(HELD_MS / DELIVERIES, undefined, { signal });
        await deliver(deliveryUrl, { body: activity(number * DELIVERIES + index) });
      }
      if (client.socket.destroyed) return 'closed';
      return refused === 0 ? 'all held' : refused === SUBSCRIPTIONS ? 'all refused' : 'some refused';
    };
  },
};

/** Less than the service takes to answer for a slow wallet. */
const LEAVES_AFTER_MS = 120;

const SLOW = `query ($address: Address!) { wallet(address: $address) {
  transactions(first: 1) { nodes { hash } } collectibles(first: 1) { nodes { tokenId } }
} }`;

/** By WebSocket, and by HTTP as an answer and as a stream. That all they have spent is counted, the soak itself compares. */
const leavers: Attack = {
  name: 'clients that leave before their answer',
  holds: 'what was sent is counted',
  ends: /^left$/,
  atOnce: 6,
  pauseMs: 100,
  async prepare(gatewayUrl) {
    const credentials = await credentialsOf('leaver');
    return async (number, signal) => {
      const variables = { address: walletOf('slow', number) };
      if (number % 3 === 0) {
        using client = await openRawSocket(gatewayUrl, () => {}, credentials);
        client.write(subscribeMessage(SLOW, variables));
        await pause(LEAVES_AFTER_MS, undefined, { signal });
        client.write(message({ id: '1', type: 'complete' }));
        return 'left';
      }
      const accept = number % 3 === 1 ? 'text/event-stream' : 'application/json';
      const leaving = AbortSignal.timeout(LEAVES_AFTER_MS);
      const answer = ask(`${gatewayUrl}/graphql`, {
        headers: { ...credentials, accept },
        body: { query: SLOW, variables },
        signal: AbortSignal.any([signal, leaving]),
      });
      return answer.then(
        ({ outcome }) => outcome,
        (error: unknown) => (leaving.aborted ? 'left' : String(error)),
      );
    };
  },
};

/** Attacks by how an answer is received, or not. */
export const SOCKETS: readonly Attack[] = [unreadAnswers, subscriptionDocuments, leavers];
