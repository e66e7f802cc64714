import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import type { StoredDelivery } from '../../src/deliveries/log/log.ts';
import { schema } from '../../src/schema.ts';

/** What the gateway is measured against: the same schema under stock graphql-ws, with events by pub/sub. */

const pubSub = createPubSub<{ delivery: [StoredDelivery] }>();
const field = schema.getSubscriptionType()?.getFields().deliveries;
if (field === undefined) throw new Error('the schema has no deliveries to subscribe to');
field.subscribe = () => pubSub.subscribe('delivery');

let sequence = 0;
const server = createServer(async (request, response) => {
  const body = await text(request);
  sequence += 1;
  pubSub.publish('delivery', {
    tenant: 'default',
    webhookId: null,
    type: 'activities',
    chainId: 8453,
    receivedAt: Date.now(),
    dispatchedAt: null,
    attempt: 0,
    body: Buffer.from(body),
    addresses: [],
    subscribedAddress: null,
    sequence,
    cursor: sequence.toString(36).padStart(20, '0'),
  });
  response.end();
});
useServer({ schema }, new WebSocketServer({ server, path: '/graphql' }));
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stderr.write(`${JSON.stringify({ msg: 'listening', url })}\n`);
});
