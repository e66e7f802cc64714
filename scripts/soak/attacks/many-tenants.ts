import { activity, deliver, deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { openRawSocket, type RawSocket, subscribeMessage } from '../../../test/support/clients/raw-socket.ts';
import { credentialsOf, type Family } from '../family.ts';

const SUBSCRIBERS = 300;
/** One attack in so many leaves a subscriber behind, to which nothing is ever delivered. */
const SUBSCRIBES_EVERY = 10;

/** A new tenant each time, with one delivery. */
export const manyTenants: Family = {
  name: 'tenants, each with one delivery',
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
