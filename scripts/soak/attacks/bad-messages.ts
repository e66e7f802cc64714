import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  clientFrame,
  message,
  openRawSocket,
  subscribeMessage,
} from '../../../test/support/clients/raw-socket.ts';
import { credentialsOf, type Family } from '../family.ts';

const BINARY = 0x82;
const PING = 0x89;
const UNMASKED = Buffer.from([0x81, 0x02, 0x7b, 0x7d]);
const FLOOD = 300;
const HEARD_MS = 3000;

/** What no client of the protocol sends, or none so often. */
const MESSAGES: readonly ((number: number) => Buffer)[] = [
  () => clientFrame('{'),
  () => clientFrame(randomBytes(200), BINARY),
  () => UNMASKED,
  () => clientFrame('x'.repeat(200_000)),
  () => clientFrame('x'.repeat(300_000)),
  () => clientFrame('', PING),
  () => message({ type: 'ping' }),
  () => message({ type: 'connection_init' }),
  () => message({ type: 'complete', id: 'none' }),
  () => message({ type: 'subscribe', id: 'one', payload: {} }),
  (number) => subscribeMessage(`{ x${number} }`, {}, String(number)),
  () => subscribeMessage('subscription { deliveries { cursor } }', {}, 'same'),
];

export const badMessages: Family = {
  name: 'floods of bad messages',
  atOnce: 4,
  pauseMs: 300,
  async prepare(gatewayUrl) {
    const credentials = await credentialsOf('noisy');
    return async (number, signal) => {
      using client = await openRawSocket(gatewayUrl, () => {}, credentials);
      const make = MESSAGES[number % MESSAGES.length];
      for (let sent = 0; make && sent < FLOOD && !client.socket.destroyed; sent += 1) {
        client.write(make(sent));
        if (sent % 50 === 0) await pause(5, undefined, { signal });
      }
      return Promise.race([
        client.closed.then((code) => (code === null ? 'cut' : `closed with ${code}`)),
        pause(HEARD_MS, 'stays open', { signal }),
      ]);
    };
  },
};
