import { createClient as createEventStreamClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { overHttp, TRANSPORTS } from '../../support/clients/transports.ts';
import { PRODUCTION, type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { codesOf } from '../../support/gateway/start.ts';
import { UNHURRIED } from '../../support/gateway/unhurried.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** What one operation can make of bodies that are stored already. */

const MEGABYTE = 1024 * 1024;
/** Half of what is usual: what is held is then seen, and what is only not collected yet is not. */
const SMALL_HEAP = { NODE_OPTIONS: `--max-old-space-size=512 ${UNHURRIED}` };
/** More than it ever grew by. */
const MEGABYTES = 800;

/** The number of bodies of 4.9 MB, of which one operation may read seven. */
const LONG_TEXTS = 10;

let bodies = 0;

/** About as many values as fit in this number of bytes. No two bodies are alike: the log would store one of them. */
const dense = (bytes: number, key = 'x') =>
  `{"number":${++bodies},"${key}":[${'{},'.repeat(Math.floor(bytes / 3) - 20)}{}]}`;
const long = () => JSON.stringify({ number: ++bodies, text: 'x'.repeat(4.9 * MEGABYTE) });
const small = () => JSON.stringify({ number: ++bodies });

const ITEMS = Array.from({ length: 500 }, (_, number) => ({
  type: 'receive',
  tx_hash: `0x${String(number).padStart(64, '0')}`,
  value: String(number),
  block_number: number,
  text: 'x'.repeat(300),
}));
const ordinary = () => JSON.stringify({ number: ++bodies, activities: ITEMS });

/** A field under many names. */
const times = (count: number, field: string) =>
  Array.from({ length: count }, (_, number) => `a${number}: ${field}`).join(' ');

type Node = Record<string, unknown> | null;
type Read = { deliveries: { nodes: Node[] } };
type IdPage = { deliveries: { nodes: { id: string }[]; pageInfo: { endCursor: string } } };
type Result = object;

/** Subscribes, and goes on after errors. Returns the function that unsubscribes. */
type Listen = (gatewayUrl: string, query: string, received: Result[], ended: () => void) => () => void;

const bySocket: Listen = (url, query, received, ended) => {
  const client = createSocketClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  client.subscribe({ query }, { next: (result) => received.push(result), error: ended, complete: ended });
  return () => void client.dispose();
};

const byEventStream: Listen = (url, query, received, ended) => {
  const client = createEventStreamClient({ url: `${url}/graphql`, retryAttempts: 0 });
  client.subscribe({ query }, { next: (result) => received.push(result), error: ended, complete: ended });
  return () => client.dispose();
};

describe('the shipped process in production', () => {
  let shipped: Shipped;
  let url: string;
  let before: number;
  beforeAll(async () => {
    shipped = await startGatewayProcess({ ...PRODUCTION, ...SMALL_HEAP });
    ({ deliveryUrl: url } = await deliveriesOf(shipped.url));
    // What it takes to store and to read a body of the largest size.
    await store([dense(4.9 * MEGABYTE), long()]);
    before = await shipped.megabytes();
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  const store = async (bodies: readonly string[]) => {
    for (const body of bodies) expect(await deliver(url, { body })).toBe(200);
  };
  const headOf = async () => (await deliveriesOf(shipped.url)).head;
  const ask = async (query: string, send = overHttp) => {
    const { data, errors } = await send(shipped.url, { query });
    return { nodes: (data as Read).deliveries.nodes, errors };
  };

  test('gives a body of more than 250,000 values as its text', async () => {
    const [after, body] = [await headOf(), dense(4.9 * MEGABYTE, 'activities')];
    await store([body]);
    const page = `deliveries(first: 1, after: "${after}")`;
    expect(await ask(`{ ${page} { nodes { payload events { __typename } } } }`)).toEqual({
      nodes: [{ payload: body, events: [] }],
      errors: undefined,
    });
  });

  test.each([
    ['of more values than are read', () => dense(4.9 * MEGABYTE)],
    ['of as many as are read', () => dense(740_000)],
    ['of a long text', long],
  ])('gives a body %s no more often than one operation may', async (_what, make) => {
    const after = await headOf();
    await store([make()]);
    const { nodes, errors } = await ask(
      `{ deliveries(first: 1, after: "${after}") { nodes { ${times(49, 'payload')} } } }`,
    );
    expect(nodes).toEqual([null]);
    expect(codesOf({ errors })).toEqual(['OPERATION_TOO_COMPLEX']);
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
  });

  test.each(TRANSPORTS)(
    'gives the events of a body no more often than one operation may, over %s',
    async (_transport, send) => {
      const after = await headOf();
      await store([dense(30_000, 'activities')]);
      const { nodes, errors } = await ask(
        `{ deliveries(first: 1, after: "${after}") { nodes { ${times(49, 'events { __typename }')} } } }`,
        send,
      );
      expect(nodes).toEqual([null]);
      expect(codesOf({ errors })).toEqual(['OPERATION_TOO_COMPLEX']);
      expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
    },
  );

  /** How many of these bodies are asked for: more than one operation may read. */
  test.each([
    ['payload', 40],
    ['events { __typename }', 25],
  ])('gives of a page of many values no more %s than one operation may', async (field, count) => {
    const after = await headOf();
    await store(Array.from({ length: count }, () => dense(200_000, 'activities')));
    const { nodes, errors } = await ask(
      `{ deliveries(first: ${count}, after: "${after}") { nodes { ${field} } } }`,
    );
    expect(nodes).toHaveLength(count);
    const given = nodes.filter((node) => node !== null).length;
    expect(given).toBeGreaterThan(5);
    expect(given).toBeLessThan(count - 5);
    expect(new Set(codesOf({ errors }))).toEqual(new Set(['OPERATION_TOO_COMPLEX']));
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
  });

  test.each([
    ['WebSocket', bySocket],
    ['server-sent events', byEventStream],
  ])(
    'sends a subscriber by %s an error for a body that it asks for too often, and goes on with the next',
    async (_by, listen) => {
      const received: Result[] = [];
      let ends = 0;
      const query = `subscription { deliveries { cursor node { ${times(49, 'payload')} } } }`;
      const stop = listen(shipped.url, query, received, () => {
        ends += 1;
      });
      await readersToBe(shipped.url, 1);
      await store([dense(4.9 * MEGABYTE), small()]);
      await eventually(() => received.length === 2);
      const { data } = await overHttp(shipped.url, { query: '{ deliveries(last: 2) { edges { cursor } } }' });
      const [big, next] = (data as { deliveries: { edges: { cursor: string }[] } }).deliveries.edges;
      expect(received[0]).toMatchObject({
        data: null,
        errors: [{ extensions: { code: 'OPERATION_TOO_COMPLEX', cursor: big?.cursor } }],
      });
      expect(received[1]).toMatchObject({
        data: {
          deliveries: { cursor: next?.cursor, node: { a0: { number: bodies }, a48: { number: bodies } } },
        },
      });
      expect(ends).toBe(0);
      expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
      stop();
      await readersToBe(shipped.url, 0);
    },
  );

  test('reads by ids no more than one operation may', async () => {
    const ids: string[] = [];
    let after = await headOf();
    await store(Array.from({ length: LONG_TEXTS }, long));
    while (ids.length < LONG_TEXTS) {
      const query = `{ deliveries(first: 5, after: "${after}") { nodes { id } pageInfo { endCursor } } }`;
      const { deliveries } = (await overHttp(shipped.url, { query })).data as IdPage;
      ids.push(...deliveries.nodes.map(({ id }) => id));
      after = deliveries.pageInfo.endCursor;
    }
    const all = await overHttp(shipped.url, {
      query: `query ($ids: [ID!]!, $id: ID!) { ${times(3, 'nodes(ids: $ids) { id }')} last: node(id: $id) { id } }`,
      variables: { ids, id: ids.at(-1) },
    });
    const [first, ...others] = Object.values(all.data as Record<string, unknown>);
    expect(first).toEqual([...ids.slice(0, 7).map((id) => ({ id })), ...Array(LONG_TEXTS - 7).fill(null)]);
    expect(others.at(-1)).toBeNull();
    expect(new Set(codesOf(all))).toEqual(new Set(['OPERATION_TOO_COMPLEX']));
    const again = await overHttp(shipped.url, {
      query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on WebhookDelivery { payload } } }',
      variables: { ids: Array(100).fill(ids[0]) },
    });
    expect(new Set(codesOf(again))).toEqual(new Set(['OPERATION_TOO_COMPLEX']));
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
  });

  test('gives events and payload of a page of ordinary bodies, as much as is read at a time', async () => {
    const head = await headOf();
    await store(Array.from({ length: 60 }, ordinary));
    const page = 'nodes { payload events { ... on Activity { value } } }';
    const { data, errors } = await overHttp(shipped.url, {
      query: `{ deliveries(first: 1000, after: "${head}") { ${page} } }`,
    });
    expect(errors).toBeUndefined();
    const { nodes } = (data as Read).deliveries;
    // As many as bring a third of what an answer may weigh.
    expect(nodes.length).toBeGreaterThan(30);
    expect(nodes.length).toBeLessThan(60);
    for (const node of nodes) expect(node?.events).toHaveLength(500);
  });

  test('is as it was after all of them', async () => {
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
    expect(shipped.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([]);
    expect(shipped.fake.requests).toEqual([]);
  });
});
