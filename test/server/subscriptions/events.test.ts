import { expect, test } from 'vitest';
import { activity, type Delivery, deliver, deliverUntilStored } from '../../support/clients/deliver.ts';
import { type Edge, eventually, subscribe } from '../../support/clients/subscribe.ts';
import { describeEachInstallation, type Installation } from '../../support/gateway/installations.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

const WEBHOOK = '0193f0a0-0000-7000-8000-000000000001';
const OTHER_WEBHOOK = '0193f0a0-0000-7000-8000-000000000002';
const NOWHERE = { UPSTREAM_URL: nowhere };

const urlOf = async (gateway: Gateway) =>
  (await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }')).deliveryUrl;

/** Each delivery may arrive at another gateway. */
const post = async (gateways: Installation, delivery: Delivery) =>
  deliverUntilStored(await urlOf(gateways.any()), delivery);

/** Resolves once it waits at the head of the log. */
const subscribeAtHead = async (gateways: Installation, filter?: object) => {
  const { url } = gateways.any();
  const dashboard = subscribe(url, filter && { filter });
  await readersToBe(url, 1);
  return dashboard;
};

const blocksOf = (edges: readonly Edge[]) =>
  edges.map(({ node }) => (node.payload as ReturnType<typeof activity>).activities[0]?.block_number);

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describeEachInstallation((install) => {
  test('a delivery reaches the open subscriptions once, also when upstream sends it again', async () => {
    await using gateways = await install();
    await using dashboard = await subscribeAtHead(gateways);
    const all = { webhookId: WEBHOOK, chainId: 1 };
    await post(gateways, { ...all, type: 'activities', body: activity(1) });
    await post(gateways, { ...all, attempt: 1, body: activity(1) });
    await post(gateways, { ...all, body: activity(2) });
    await eventually(() => dashboard.edges.length >= 2);
    expect(blocksOf(dashboard.edges)).toEqual([1, 2]);
    expect(dashboard.edges[0]?.node).toMatchObject({ webhookId: WEBHOOK, type: 'ACTIVITIES' });
  });

  test('a subscriber that resumes after its last cursor has no gap and no duplicate, over a restart too', async () => {
    await using gateways = await install();
    await using before = await subscribeAtHead(gateways);
    for (const number of range(1, 3)) await post(gateways, { webhookId: WEBHOOK, body: activity(number) });
    await eventually(() => before.edges.length === 3);
    await before[Symbol.asyncDispose]();
    for (const number of range(4, 6)) await post(gateways, { webhookId: WEBHOOK, body: activity(number) });

    await gateways.restart();
    const after = before.edges.at(-1)?.cursor ?? '';
    await using resumed = subscribe(gateways.any().url, { after });
    await eventually(() => resumed.edges.length === 3);
    await post(gateways, { webhookId: WEBHOOK, body: activity(7) });
    await eventually(() => resumed.edges.length >= 4);
    expect(blocksOf(resumed.edges)).toEqual(range(4, 7));
  });

  test('no delivery is missing between a page of the log and a subscription after its head', async () => {
    await using gateways = await install();
    type Page = { deliveries: { head: string; edges: Edge[]; pageInfo: { endCursor: string | null } } };
    const page = '{ deliveries { head edges { cursor node { payload } } pageInfo { endCursor } } }';
    const empty = await gateways.any().data<Page>(page);
    expect(empty.deliveries.pageInfo.endCursor).toBeNull();
    await post(gateways, { body: activity(1) });
    await using fromStart = subscribe(gateways.any().url, { after: empty.deliveries.head });
    await eventually(() => fromStart.edges.length === 1);
    const full = await gateways.any().data<Page>(page);
    expect(blocksOf(full.deliveries.edges)).toEqual([1]);
    expect(full.deliveries.head).toBe(full.deliveries.pageInfo.endCursor);
  });

  test('the log is paged forward and backward, from either end to the other', async () => {
    await using gateways = await install();
    for (const number of range(1, 7)) await post(gateways, { body: activity(number) });
    const page = `query ($first: Int, $after: String, $last: Int, $before: String) {
      deliveries(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { payload } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }`;
    type Page = {
      deliveries: {
        edges: Edge[];
        pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
      };
    };
    const { deliveries: oldest } = await gateways.any().data<Page>(page, { first: 3 });
    expect(blocksOf(oldest.edges)).toEqual([1, 2, 3]);
    expect(oldest.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const { deliveries: rest } = await gateways.any().data<Page>(page, {
      first: 10,
      after: oldest.pageInfo.endCursor,
    });
    expect(blocksOf(rest.edges)).toEqual([4, 5, 6, 7]);
    expect(rest.pageInfo.hasNextPage).toBe(false);
    const { deliveries: newest } = await gateways.any().data<Page>(page, { last: 2 });
    expect(blocksOf(newest.edges)).toEqual([6, 7]);
    expect(newest.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const { deliveries: before } = await gateways.any().data<Page>(page, {
      last: 10,
      before: newest.pageInfo.startCursor,
    });
    expect(blocksOf(before.edges)).toEqual([1, 2, 3, 4, 5]);
    expect(codesOf(await gateways.any().query(page, { first: 1, last: 1 }))).toEqual(['BAD_USER_INPUT']);
    expect(codesOf(await gateways.any().query(page, { first: 1001 }))).toEqual(['BAD_USER_INPUT']);
    expect(codesOf(await gateways.any().query(page, { after: 'nonsense' }))).toEqual(['INVALID_CURSOR']);
  });

  test('a filter applies to stored and to arriving deliveries', async () => {
    await using gateways = await install();
    const mine = '0x00000000000000000000000000000000000000dd';
    await post(gateways, { webhookId: WEBHOOK, body: activity(1, mine) });
    await post(gateways, { webhookId: OTHER_WEBHOOK, body: activity(2, mine) });
    await post(gateways, { webhookId: WEBHOOK, body: activity(3) });
    const { deliveries } = await gateways
      .any()
      .data<{ deliveries: { head: string } }>('{ deliveries(first: 0) { head } }');
    await using live = await subscribeAtHead(gateways, { webhookIds: [WEBHOOK], address: mine });
    const start = (
      await gateways.any().data<{ deliveries: { edges: Edge[] } }>('{ deliveries { edges { cursor } } }')
    ).deliveries.edges[0]?.cursor;
    await using replay = subscribe(gateways.any().url, { after: start ?? '', filter: { address: mine } });
    await post(gateways, { webhookId: OTHER_WEBHOOK, body: activity(4, mine) });
    await post(gateways, { webhookId: WEBHOOK, body: activity(5, mine) });
    await eventually(() => live.edges.length === 1 && replay.edges.length === 3);
    expect(blocksOf(live.edges)).toEqual([5]);
    expect(blocksOf(replay.edges)).toEqual([2, 4, 5]);
    expect(deliveries.head).not.toBe('');
  });

  test("a malformed cursor, or another log's, ends the subscription with its code", async () => {
    await using gateways = await install();
    await using others = await install();
    const { deliveries } = await others
      .any()
      .data<{ deliveries: { head: string } }>('{ deliveries { head } }');
    await using nonsense = subscribe(gateways.any().url, { after: 'nonsense' });
    await using foreign = subscribe(gateways.any().url, { after: deliveries.head });
    await Promise.all([nonsense.ended, foreign.ended]);
    expect(nonsense.faults.map(({ extensions }) => extensions?.code)).toEqual(['INVALID_CURSOR']);
    expect(foreign.faults.map(({ extensions }) => extensions?.code)).toEqual(['CURSOR_EXPIRED']);
  });

  test('a delivery can be found again by its id', async () => {
    await using gateways = await install();
    await post(gateways, { webhookId: WEBHOOK, body: activity(1) });
    const { deliveries } = await gateways
      .any()
      .data<{ deliveries: { nodes: { id: string }[] } }>('{ deliveries { nodes { id } } }');
    const { node } = await gateways
      .any()
      .data<{ node: unknown }>(
        'query ($id: ID!) { node(id: $id) { ... on WebhookDelivery { webhookId attempt dispatchedAt } } }',
        { id: deliveries.nodes[0]?.id },
      );
    expect(node).toEqual({ webhookId: WEBHOOK, attempt: 0, dispatchedAt: '2026-01-02T03:04:05.678Z' });
  });
});

test('a gateway that stops closes its sockets so that clients reconnect, and sends no complete', async () => {
  await using gateway = await startGateway(NOWHERE);
  await using dashboard = subscribe(gateway.url);
  await dashboard.opened;
  let completed = false;
  void dashboard.ended.then(() => {
    completed = dashboard.faults.length === 0 && dashboard.closes.length === 0;
  });
  await gateway.stop();
  await eventually(() => dashboard.closes.length > 0);
  expect(dashboard.closes).toEqual([1012]);
  expect(completed).toBe(false);
});

test('however many pages an operation asks for, their bodies come to about 32 MB', async () => {
  await using gateway = await startGateway(NOWHERE);
  const url = await urlOf(gateway);
  const note = 'x'.repeat(4.5 * 1024 * 1024);
  for (const number of range(1, 9)) expect(await deliver(url, { body: { number, note } })).toBe(200);
  type Page = { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean } };
  const page = (first: number) => `deliveries(first: ${first}) { nodes { id } pageInfo { hasNextPage } }`;
  const reply = await gateway.query<Record<'a' | 'b' | 'c' | 'd', Page | null>>(
    `{ a: ${page(3)} b: ${page(1000)} c: ${page(1000)} d: ${page(1)} }`,
  );
  const { a, b, c, d } = reply.data ?? expect.fail(reply.body);
  // A page ends once its bodies exceed a third of the size limit of an answer.
  expect([a, b, c].map((read) => read?.nodes.length)).toEqual([3, 3, 2]);
  expect(b?.pageInfo.hasNextPage).toBe(true);
  expect(d).toBeNull();
  expect(reply.errors).toEqual([
    expect.objectContaining({
      path: ['d'],
      extensions: expect.objectContaining({ code: 'OPERATION_TOO_COMPLEX' }),
    }),
  ]);
});
