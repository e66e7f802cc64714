import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { overEventStream, overHttp, TRANSPORTS } from '../../support/clients/transports.ts';
import { acceptingKeys, byKey, withKey } from '../../support/gateway/keys.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { codesOf } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';

/** A tenant sees its own deliveries and nobody else's, whichever way it tries. */

type Credentials = Record<string, string>;

type Read = {
  deliveries: { head: string; edges: { cursor: string; node: { id: string } }[] };
  deliveryUrl: string;
};

const READ = '{ deliveries { head edges { cursor node { id } } } deliveryUrl }';
const SUBSCRIBE = 'subscription ($after: String) { deliveries(after: $after) { node { payload } } }';
const WEBHOOK = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';

type Mode = [
  mode: string,
  env: Record<string, string | undefined>,
  credentials: (name: string) => Promise<Credentials>,
];

const modes: Mode[] = [
  ['AUTH=key', byKey, async (name) => withKey(`key-of-${name}`)],
  ['AUTH=jwt', byToken, async (sub) => bearer(await tokenOf({ sub }))],
];

/** A cursor of the same log, far ahead of it. */
const beyond = (cursor: string): string => {
  const bytes = Buffer.from(cursor, 'base64url');
  bytes.fill(0x7f, bytes.length - 4);
  return bytes.toString('base64url');
};

/** With what nobody has proven. */
const impostors: Record<string, () => Promise<Credentials>> = {
  'AUTH=key': async () => ({ authorization: 'Bearer key-of-bob' }),
  'AUTH=jwt': async () =>
    bearer(await tokenOf({ sub: 'bob' }, { key: new TextEncoder().encode('x'.repeat(32)) })),
};

describe.each(modes)('the shipped process with %s', (mode, env, credentials) => {
  let shipped: Shipped;
  let before: number;
  let alice: Credentials;
  let bob: Credentials;
  let alices: Read;
  let bobs: Read;
  const secret = freshAddress();

  const read = async (who: Credentials) => (await overHttp(shipped.url, { query: READ }, who)).data as Read;

  beforeAll(async () => {
    shipped = await startGatewayProcess(env);
    shipped.fake.script.other = acceptingKeys;
    before = await shipped.megabytes();
    [alice, bob] = [await credentials('alice'), await credentials('bob')];
    const own = activity(1);
    expect(await deliver((await read(alice)).deliveryUrl, { webhookId: WEBHOOK, body: own })).toBe(200);
    const foreign = activity(2, secret);
    expect(await deliver((await read(bob)).deliveryUrl, { webhookId: WEBHOOK, body: foreign })).toBe(200);
    [alices, bobs] = [await read(alice), await read(bob)];
    shipped.fake.requests.length = 0;
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  const idsOf = ({ deliveries }: Read) => deliveries.edges.map(({ node }) => node.id);

  test.each(TRANSPORTS)('each tenant reads its own, over %s', async (_transport, send) => {
    for (const [who, whose] of [
      [alice, alices],
      [bob, bobs],
    ] as const) {
      expect(idsOf(whose)).toHaveLength(1);
      expect((await send(shipped.url, { query: READ }, who)).data).toEqual(whose);
    }
    expect(idsOf(alices)).not.toEqual(idsOf(bobs));
  });

  test.each(TRANSPORTS)(
    "another's cursor leads nowhere, nor a forged one, over %s",
    async (_transport, send) => {
      const { head, edges } = bobs.deliveries;
      for (const cursor of [head, edges[0]?.cursor, beyond(alices.deliveries.head)])
        for (const argument of ['after', 'before']) {
          const query = `query ($cursor: String) { deliveries(${argument}: $cursor) { nodes { payload } } }`;
          const reply = await send(shipped.url, { query, variables: { cursor } }, alice);
          expect(codesOf(reply)).toEqual(['CURSOR_EXPIRED']);
          expect(reply.data).toEqual({ deliveries: null });
        }
    },
  );

  test.each(TRANSPORTS.slice(1))(
    "a subscription does not resume from another's cursor, over %s",
    async (_transport, send) => {
      const { head, edges } = bobs.deliveries;
      for (const after of [head, edges[0]?.cursor ?? '', beyond(alices.deliveries.head)]) {
        const by = { query: SUBSCRIBE, variables: { after } };
        expect(codesOf(await send(shipped.url, by, alice))).toEqual(['CURSOR_EXPIRED']);
        const byId = { ...alice, 'last-event-id': after };
        if (send === overEventStream)
          expect(codesOf(await send(shipped.url, { query: SUBSCRIBE }, byId))).toEqual(['CURSOR_EXPIRED']);
      }
    },
  );

  test.each(TRANSPORTS)("another's id finds nothing, over %s", async (_transport, send) => {
    const [id] = idsOf(bobs);
    const query = 'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }';
    const asked = { query, variables: { id } };
    expect((await send(shipped.url, asked, alice)).data).toEqual({ node: null, nodes: [null] });
    expect((await send(shipped.url, asked, bob)).data).toEqual({ node: { id }, nodes: [{ id }] });
  });

  test.each(TRANSPORTS)("a filter finds one's own alone, over %s", async (_transport, send) => {
    const query = 'query ($filter: DeliveryFilter) { deliveries(filter: $filter) { nodes { id } } }';
    const found = async (filter: object) =>
      (await send(shipped.url, { query, variables: { filter } }, alice)).data;
    const [id] = idsOf(alices);
    expect(await found({ webhookIds: [WEBHOOK] })).toEqual({ deliveries: { nodes: [{ id }] } });
    expect(await found({ address: secret })).toEqual({ deliveries: { nodes: [] } });
  });

  test("a delivery url is one tenant's: its token opens no other", async () => {
    const [tenant, token] = new URL(alices.deliveryUrl).pathname.split('/').slice(2);
    const [other] = new URL(bobs.deliveryUrl).pathname.split('/').slice(2);
    for (const path of [`${other}/${token}`, `nobody/${token}`, `${tenant}%2f..%2f${other}/${token}`])
      expect(await deliver(`${shipped.url}/deliveries/${path}`, { body: activity(9) })).toBe(404);
    expect([await read(alice), await read(bob)]).toEqual([alices, bobs]);
  });

  test.each(TRANSPORTS)('who poses as another is nobody, over %s', async (_transport, send) => {
    const reply = await send(shipped.url, { query: READ }, await impostors[mode]?.());
    expect(new Set(codesOf(reply))).toEqual(new Set(['UNAUTHENTICATED']));
    expect(JSON.stringify(reply)).not.toContain(bobs.deliveryUrl);
  });

  test.each(TRANSPORTS)("a wallet's cursor leads nowhere in another's, over %s", async (_transport, send) => {
    const wallet = freshAddress();
    shipped.fake.transactions.set(wallet, servingTransactions(history(3)));
    const query =
      'query ($wallet: Address!, $after: String) { wallet(address: $wallet) { transactions(first: 1, after: $after) { pageInfo { endCursor } } } }';
    type Page = { wallet: { transactions: { pageInfo: { endCursor: string } } } };
    const { data } = await send(shipped.url, { query, variables: { wallet } }, bob);
    const after = (data as Page).wallet.transactions.pageInfo.endCursor;
    const asked = shipped.fake.requests.length;
    for (const who of [alice, bob]) {
      const elsewhere = { query, variables: { wallet: freshAddress(), after } };
      expect(codesOf(await send(shipped.url, elsewhere, who))).toEqual(['INVALID_CURSOR']);
    }
    expect(asked).toBe(1);
    expect(shipped.fake.requests.splice(0)).toHaveLength(asked);
  });

  test('a subscription shows what its own tenant gets, by WebSocket and by server-sent events', async () => {
    const after = alices.deliveries.head;
    await using socket = subscribe(shipped.url, { after, connectionParams: alice });
    const stream = await fetch(`${shipped.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...alice },
      body: JSON.stringify({ query: SUBSCRIBE, variables: { after } }),
    });
    await readersToBe(shipped.url, 2);
    for (const number of [10, 12]) {
      await deliver(bobs.deliveryUrl, { webhookId: WEBHOOK, body: activity(number, secret) });
      await deliver(alices.deliveryUrl, { webhookId: WEBHOOK, body: activity(number + 1) });
    }
    await eventually(() => socket.edges.length > 1);
    const overSocket = JSON.stringify(socket.edges);
    let streamed = '';
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      streamed += chunk;
      if (streamed.includes('"block_number":13')) break;
    }
    for (const text of [overSocket, streamed]) {
      expect(text.match(/"block_number":\d+/g)).toEqual(['"block_number":11', '"block_number":13']);
      expect(text).not.toContain(secret);
    }
  });

  test('all of that asks nothing of the service, and leaves the process as it was', async () => {
    expect(shipped.fake.requests).toEqual([]);
    expect((await shipped.megabytes()) - before).toBeLessThan(256);
    expect(shipped.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([]);
    expect(idsOf(await read(bob))).toHaveLength(3);
  });
});
