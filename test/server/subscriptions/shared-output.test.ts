import {
  type ExecutionResult,
  GraphQLError,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  subscribe,
} from 'graphql';
import { expect, test } from 'vitest';
import { FeedCache } from '../../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../../src/deliveries/feed/change-notifier.ts';
import { createDeliverySource } from '../../../src/deliveries/feed/feed.ts';
import { MergedReads } from '../../../src/deliveries/feed/merged-reads.ts';
import type { StoredDelivery } from '../../../src/deliveries/log/log.ts';
import { Answer, createAnswers } from '../../../src/graph/answer/answer.ts';
import { clientError, maskError } from '../../../src/graph/errors.ts';
import { executeFast } from '../../../src/graph/executor.ts';
import { toFormattedError } from '../../../src/server/subscriptions/frame.ts';
import {
  type SubscribeResult,
  useSharedExecution,
} from '../../../src/server/subscriptions/shared-execution.ts';
import {
  address,
  appendNumbers,
  numberOf,
  openLog,
  range,
  TENANT,
} from '../../deliveries/support/builders.ts';
import { iterateSource } from '../../deliveries/support/iterate.ts';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** Live and replayed events, and events that are executed for one subscriber or for many, are the same bytes. */

const WHOLE = `subscription ($after: String, $filter: DeliveryFilter) {
  deliveries(after: $after, filter: $filter) {
    cursor
    node {
      id webhookId type chainId receivedAt dispatchedAt attempt payload
      events {
        __typename
        ... on Activity { typeName value tokenId chainId }
        ... on BalanceChange { tokenSymbol amountDelta }
        ... on TransactionEvent { transaction { hash value logs { address } } }
      }
    }
  }
}`;

const WEBHOOKS = [1, 2].map((number) => `0193f0a0-0000-7000-8000-00000000000${number}`);

const BODIES: readonly ((number: number) => unknown)[] = [
  (number) => activity(number, address(number % 3)),
  (number) => ({
    balance_changes: [
      { subscribed_address: address(number % 3), amount_delta: `${number}`, asset: { symbol: 'ä"\n' } },
    ],
  }),
  (number) => ({ transactions: [{ hash: `0x${number}`, nonsense: true }] }),
  (number) => `{"unknown": ${number}, "exact": 123456789012345678901234567890, "text": "\\u2028 ✓"}`,
  (number) => [number, null, { deep: [[[]]] }],
];

const TYPES = ['activities', 'balances', 'transactions'] as const;

const postAll = async (deliveryUrl: string): Promise<void> => {
  for (const number of range(1, 60)) {
    const body = BODIES[number % BODIES.length]?.(number);
    const webhookId = WEBHOOKS[number % 2];
    const type = TYPES[number % BODIES.length];
    const status = await deliver(deliveryUrl, {
      body,
      chainId: number % 7,
      ...(webhookId && { webhookId }),
      ...(type && { type }),
    });
    expect(status).toBe(200);
  }
};

/** Subscribes, and collects the payload of each frame. */
const framesOf = async (
  gateway: Gateway,
  variables: object,
  clients: AsyncDisposableStack,
): Promise<string[]> => {
  const frames: string[] = [];
  const client = clients.use(
    await openRawSocket(gateway.url, (payload) => frames.push(payload.toString('latin1'))),
  );
  client.write(subscribeMessage(WHOLE, variables));
  return frames;
};

const eventBlocksOf = async (
  gateway: Gateway,
  variables: object,
  clients: AsyncDisposableStack,
): Promise<() => string[]> => {
  const abort = new AbortController();
  clients.defer(() => abort.abort());
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: WHOLE, variables }),
    signal: abort.signal,
  });
  let text = '';
  const read = async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString('latin1');
  };
  read().catch(() => {});
  return () => [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data]) => data ?? '');
};

const FILTERS = [
  {},
  { webhookIds: [WEBHOOKS[0]] },
  { types: ['ACTIVITIES', 'BALANCES'] },
  { chainIds: [1, 2, 5] },
  { address: address(1) },
  { webhookIds: WEBHOOKS, types: ['ACTIVITIES'], chainIds: [0, 1, 2, 3], address: address(2) },
  { chainIds: [] },
];

test('live and replayed frames are the same bytes, under any filter, by WebSocket and by event stream', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  await using clients = new AsyncDisposableStack();
  const { deliveryUrl, deliveries } = await gateway.data<{
    deliveryUrl: string;
    deliveries: { head: string };
  }>('{ deliveryUrl deliveries { head } }');
  const live = await Promise.all(FILTERS.map((filter) => framesOf(gateway, { filter }, clients)));
  await readersToBe(gateway.url, FILTERS.length);
  await postAll(deliveryUrl);
  const after = deliveries.head;
  const replayed = await Promise.all(FILTERS.map((filter) => framesOf(gateway, { after, filter }, clients)));
  const streamed = await Promise.all(
    FILTERS.map((filter) => eventBlocksOf(gateway, { after, filter }, clients)),
  );
  const query = `query ($after: String, $filter: DeliveryFilter) { deliveries(first: 1000, after: $after, filter: $filter) { edges { cursor } } }`;
  for (const [index, filter] of FILTERS.entries()) {
    const page = await gateway.data<{ deliveries: { edges: { cursor: string }[] } }>(query, {
      after,
      filter,
    });
    const cursors = page.deliveries.edges.map(({ cursor }) => cursor);
    const [one = [], other = [], events = () => []] = [live[index], replayed[index], streamed[index]];
    await eventually(() => [one, other, events()].every(({ length }) => length >= cursors.length));
    expect(other).toEqual(one);
    expect(events().map((data) => `{"id":"1","type":"next","payload":${data}}`)).toEqual(one);
    expect(one.map((frame) => /"cursor":"([^"]*)"/.exec(frame)?.[1])).toEqual(cursors);
  }
  expect(live.map(({ length }) => length)).toEqual([60, 30, 24, 26, 8, 2, 0]);
});

const Event = new GraphQLObjectType<StoredDelivery>({
  name: 'Event',
  fields: {
    number: { type: GraphQLString, resolve: (delivery) => `${numberOf(delivery)}` },
    stranger: {
      type: GraphQLString,
      resolve: () => {
        throw new Error('a secret of the database');
      },
    },
    known: {
      type: GraphQLString,
      resolve: async () => {
        throw clientError('NOT_FOUND', 'Expected something, got nothing.', { http: { status: 404 } });
      },
    },
    many: {
      type: new GraphQLList(GraphQLString),
      resolve: () => Array.from({ length: 30 }, () => new GraphQLError('each')),
    },
    never: { type: new GraphQLNonNull(GraphQLString), resolve: () => null },
  },
});

test("a shared frame is byte for byte what graphql's own subscribe returns to each subscriber", async () => {
  const log = await openLog();
  const after = await log.head(TENANT);
  await appendNumbers(log, range(1, 20));
  const source = () =>
    createDeliverySource({
      log,
      reads: new MergedReads(log),
      changeNotifier: new ChangeNotifier(log),
      tenant: TENANT,
      cache: new FeedCache(1e6),
      after,
      filter: {},
    });
  const iterableSource = () => {
    const read = source();
    return { ...read, [Symbol.asyncIterator]: () => iterateSource(read) };
  };
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { a: { type: GraphQLString } } }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: { deliveries: { type: Event, subscribe: iterableSource, resolve: (delivery) => delivery } },
    }),
  });
  const mask = (error: unknown) => maskError(error, () => {});
  const upstream = { requests: 0, computeUnits: 0, cached: 0 };
  const answers = createAnswers(1e6, () => false);
  const forEvent = () => ({ upstream, answer: new Answer(answers, null) });
  const trace = { requestId: 'id', traceparent: null };
  const contextValue = { authorizationKey: () => '', trace, ...forEvent(), forEvent };
  const start = {} as { executeFn: (args: object) => Promise<SubscribeResult> };
  const plugin = useSharedExecution(executeFast, mask, {});
  plugin.onSubscribe?.(start as never);
  const codes: unknown[] = [];

  for (const fields of [
    'number',
    'number stranger known',
    'many number',
    'number never',
    '...F @include(if: true)',
  ]) {
    const document = parse(
      `subscription { deliveries { ${fields} } } fragment F on Event { number __typename }`,
    );
    const args = { schema, document, contextValue };
    const { subscription } = await start.executeFn(args);
    const own = (await subscribe(args)) as AsyncGenerator<ExecutionResult>;
    const woken = { call: () => {} };
    const reader = subscription?.open(null, () => woken.call());
    for (const _number of range(1, 20)) {
      let frame = reader?.take();
      while (!frame) {
        await new Promise<void>((resolve) => {
          woken.call = resolve;
        });
        frame = reader?.take();
      }
      const { data, errors } = (await own.next()).value as ExecutionResult;
      const formatted = errors?.map((error) => toFormattedError(mask(error)));
      expect(String(Buffer.concat(frame.parts))).toBe(
        JSON.stringify({ data, ...(formatted && { errors: formatted }), extensions: { upstream } }),
      );
      expect(String(Buffer.concat(frame.parts))).not.toContain('secret');
      codes.push(...(formatted ?? []).map(({ extensions }) => extensions?.code));
    }
    reader?.close();
    await own.return(undefined);
  }
  expect(new Set(codes)).toEqual(new Set(['INTERNAL_SERVER_ERROR', 'NOT_FOUND', 'BAD_USER_INPUT']));
});
