import { setTimeout as pause } from 'node:timers/promises';
import { activity, deliver, deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../../test/support/clients/raw-socket.ts';
import { credentialsOf, type Family, times } from '../family.ts';

const SUBSCRIPTIONS = 100;
const DELIVERIES = 2;
const HELD_MS = 10_000;

/** Shared with no other, and with many tokens. */
const different = (socket: number, number: number): string =>
  `subscription S${socket}x${number} { deliveries { cursor node { ${times(
    45,
    (index) => `a${index}: events { ... on Activity { transactionHash from to value } }`,
  )} } } }`;

/** A socket with a hundred subscriptions, each with a document of its own, while deliveries arrive for all of them. */
export const subscriptionDocuments: Family = {
  name: 'subscriptions, each another document',
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
      const isClosed = client.socket.destroyed;
      if (isClosed) return 'closed';
      return refused === 0 ? 'all held' : refused === SUBSCRIPTIONS ? 'all refused' : 'some refused';
    };
  },
};
