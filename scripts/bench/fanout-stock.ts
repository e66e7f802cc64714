// What the gateway is measured against: the same schema under stock graphql-ws, with events by pub/sub. It reads an event
// once, and resolves its fields as plain properties.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { announce } from '../harness/processes.ts';

type ActivityBody = Readonly<Record<string, unknown>>;

const pubSub = createPubSub<{ delivery: [{ deliveries: object }] }>();
const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
const field = schema.getSubscriptionType()?.getFields().deliveries;
if (field === undefined) throw new Error('Expected a subscription to deliveries in the schema, got none.');
field.subscribe = () => pubSub.subscribe('delivery');

const activityOf = ({ type, tx_hash, from, to, token_address, value }: ActivityBody) => ({
  __typename: 'Activity',
  typeName: type,
  transactionHash: tx_hash,
  from,
  to,
  tokenAddress: token_address,
  value,
});

let sequence = 0;
const server = createServer(async (request, response) => {
  const { activities } = (await json(request)) as { readonly activities: readonly ActivityBody[] };
  sequence += 1;
  const cursor = sequence.toString(36).padStart(20, '0');
  const node = {
    id: cursor,
    type: 'ACTIVITIES',
    chainId: 8453,
    receivedAt: new Date().toISOString(),
    events: activities.map(activityOf),
  };
  pubSub.publish('delivery', { deliveries: { cursor, node } });
  response.end();
});
useServer({ schema }, new WebSocketServer({ server, path: '/graphql' }));
announce(server);
