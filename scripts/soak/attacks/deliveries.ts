import { gzipSync } from 'node:zlib';
import { activity, deliver, deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { attack, head, send } from '../../../test/support/clients/raw-http.ts';
import { openRawSocket, type RawSocket, subscribeMessage } from '../../../test/support/clients/raw-socket.ts';
import { ask } from '../ask.ts';
import { type Attack, credentialsOf } from './attack.ts';

const MB = 1024 * 1024;
const BURST = 20;

/**
 * Ends of bodies, compressed once: the beginning, a gzip member of its own, makes each body unlike the others. These
 * two are within the limits of a body; of the second every number is within those of JSON values too.
 */
const dense = [gzipSync(`${'1e1,'.repeat(1_200_000)}1]`), gzipSync(`${'1e99,'.repeat(240_000)}1]`)];
const expensive = [
  gzipSync(`${' '.repeat(4.9 * MB)}1`),
  gzipSync(`${'1e1,'.repeat(10 * MB)}1]`),
  gzipSync(Buffer.alloc(50 * MB, '[')),
];

const denseDeliveries: Attack = {
  name: 'bursts of compressed deliveries',
  holds: 'those within the limits are stored where there is room, and no others',
  ends: /^(200|400|413|503)( and (400|413|503))*$/,
  atOnce: 1,
  pauseMs: 4000,
  async prepare(gatewayUrl) {
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, await credentialsOf('flooded'));
    const headers = { 'content-encoding': 'gzip' };
    return async (number, signal) => {
      const post = async (index: number): Promise<string> => {
        const end = dense[index] ?? expensive[index % expensive.length] ?? Buffer.alloc(0);
        const body = Buffer.concat([gzipSync(`[${number},${index},`), end]);
        return (await ask(deliveryUrl, { headers, body, signal })).outcome;
      };
      const outcomes = await Promise.all(Array.from({ length: BURST }, (_, index) => post(index)));
      return [...new Set(outcomes)].toSorted().join(' and ');
    };
  },
};

/** The largest body that a delivery may have. */
const LARGEST = 5 * MB;

/** Each is cut when its time is over, and then comes again. */
const silentAnnouncements: Attack = {
  name: 'announced deliveries that never come',
  holds: 'each is cut, and takes no room from others',
  ends: /^(404|408|cut)$/,
  atOnce: 150,
  pauseMs: 200,
  async prepare(gatewayUrl) {
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, await credentialsOf('silent'));
    const { pathname } = new URL(deliveryUrl);
    return async (number) => {
      const path = number % 3 === 0 ? `${pathname}x` : pathname;
      const bytes = number % 2 === 0 ? LARGEST : LARGEST >> ((number >> 1) % 16);
      const said = await attack(gatewayUrl, send(head(`POST ${path}`, `content-length: ${bytes}`)));
      return /^HTTP\/1.1 (\d+)/.exec(said)?.[1] ?? 'cut';
    };
  },
};

const SUBSCRIBERS = 300;
/** One attack in ten leaves a subscriber behind, to which nothing is ever delivered. */
const SUBSCRIBES_EVERY = 10;

const manyTenants: Attack = {
  name: 'tenants, each with one delivery',
  holds: 'each is stored',
  ends: /^200$/,
  atOnce: 4,
  pauseMs: 100,
  prepare: (gatewayUrl) => {
    const subscribers: RawSocket[] = [];
    return async (number, signal) => {
      const credentials = await credentialsOf(`tenant-${number}`);
      const { deliveryUrl } = await deliveriesOf(gatewayUrl, credentials);
      if (number % SUBSCRIBES_EVERY === 0) {
        const client = await openRawSocket(gatewayUrl, () => {}, credentials);
        client.write(subscribeMessage('subscription { deliveries { cursor } }'));
        signal.addEventListener('abort', () => client.socket.destroy(), { once: true });
        subscribers.push(client);
        if (subscribers.length > SUBSCRIBERS) subscribers.shift()?.socket.destroy();
      }
      return String(await deliver(deliveryUrl, { body: activity(number) }));
    };
  },
};

/** Attacks by what is posted, or announced, as a delivery. */
export const DELIVERIES: readonly Attack[] = [denseDeliveries, silentAnnouncements, manyTenants];
