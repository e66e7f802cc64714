// What the gateway is measured against: the same schema under stock graphql-ws, with events by pub/sub.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import type { StoredDelivery } from '../../src/deliveries/log/log.ts';
import { schema } from '../../src/schema.ts';
import { announce } from '../harness/processes.ts';
import { deliveryOf } from './delivery.ts';

const pubSub = createPubSub<{ delivery: [StoredDelivery] }>();
const field = schema.getSubscriptionType()?.getFields().deliveries;
if (field === undefined) throw new Error('Expected a subscription to deliveries in the schema, got none.');
field.subscribe = () => pubSub.subscribe('delivery');

let sequence = 0;
const server = createServer(async (request, response) => {
  const body = await buffer(request);
  sequence += 1;
  const cursor = sequence.toString(36).padStart(20, '0');
  pubSub.publish('delivery', { ...deliveryOf(sequence), addresses: [], body, sequence, cursor });
  response.end();
});
useServer({ schema }, new WebSocketServer({ server, path: '/graphql' }));
announce(server);
