import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { overHttp } from '../../support/clients/transports.ts';
import { watchLiveness } from '../../support/gateway/liveness.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { codesOf } from '../../support/gateway/start.ts';
import { freshAddress, transaction, transactionsEnvelope } from '../../support/upstream/builders.ts';

/** JSON of few megabytes that takes the engine seconds to parse: by its names, or by its digits. */

/** In milliseconds that the gateway runs. In one go, the worst of these took two seconds and more. */
const LONGEST_WAIT_MS = 1500;

const list = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join();
/** This many members in objects of a hundred, no two with the same name. */
const differentNames = (count: number) =>
  `[${list(count / 100, (row) => `{${list(100, (index) => `"${row}_${index}":1`)}}`)}]`;
/** As many members, all in one object. */
const manyNames = (count: number) => `{${list(count, (index) => `"name ${index}":1`)}}`;
const digits = (count: number) => `[${list(count, () => '1e20')}]`;

const TRANSACTIONS =
  'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }';
type Reply = {
  data: { wallet: { transactions: { nodes: unknown[] } } };
  errors?: { message: string; extensions: { code: string } }[];
};
type Page = { deliveries: { nodes: { type: string | null; payload: unknown; events: unknown[] }[] } };

describe('the shipped process', () => {
  let shipped: Shipped;
  let deliveryUrl: string;
  beforeAll(async () => {
    // A busy machine reads large answers slowly.
    shipped = await startGatewayProcess({ UPSTREAM_TIMEOUT_MS: '240000' });
    ({ deliveryUrl } = await deliveriesOf(shipped.url));
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  const isInGoodHealth = async (during: () => Promise<void>) => {
    await using liveness = await watchLiveness(shipped);
    await during();
    expect(await liveness.longestWait()).toBeLessThan(LONGEST_WAIT_MS);
  };

  const storeCompressed = async (body: string) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const response = await fetch(deliveryUrl, {
      method: 'POST',
      headers,
      body: new Uint8Array(gzipSync(body)),
    });
    await response.arrayBuffer();
    return response.status;
  };

  test.each([
    ['objects of names that are all different', differentNames(240_000)],
    ['one object of as many', manyNames(240_000)],
  ])('stores deliveries of %s, as their text', async (_what, junk) => {
    const bodies = Array.from(
      { length: 4 },
      (_, index) => `{"number":${index},"activities":[],"junk":${junk}}`,
    );
    await isInGoodHealth(async () => {
      expect(await Promise.all(bodies.map(storeCompressed))).toEqual([200, 200, 200, 200]);
      const query = '{ deliveries(last: 1) { nodes { type payload events { __typename } } } }';
      const { data } = await overHttp(shipped.url, { query });
      const [node] = (data as Page).deliveries.nodes;
      expect(bodies).toContain(node?.payload);
      expect(node).toMatchObject({ type: null, events: [] });
    });
  });

  test('refuses such a delivery that is no JSON', async () => {
    expect(await deliver(deliveryUrl, { body: `${differentNames(100_000)}]` })).toBe(400);
    expect(await deliver(deliveryUrl, { body: manyNames(100_000).slice(0, -1) })).toBe(400);
  });

  test('gives deliveries of numbers beyond 2^53, with all their digits', async () => {
    for (let number = 0; number < 5; number += 1)
      await storeCompressed(`{"number":${number},"activities":[],"junk":${digits(240_000)}}`);
    await isInGoodHealth(async () => {
      const { data } = await overHttp(shipped.url, {
        query: '{ deliveries(last: 5) { nodes { payload } } }',
      });
      const { nodes } = (data as Page).deliveries;
      expect(nodes).toHaveLength(5);
      for (const { payload } of nodes) {
        const { junk } = payload as { junk: string[] };
        expect(junk).toHaveLength(240_000);
        expect(new Set(junk)).toEqual(new Set(['100000000000000000000']));
      }
    });
  });

  test('looks through no more items of a delivery than it gives', async () => {
    const address = freshAddress();
    const beyond = freshAddress();
    const activities = [...Array(10_000).fill({ from: address }), { from: beyond }];
    await isInGoodHealth(async () => {
      expect(await deliver(deliveryUrl, { body: { activities } })).toBe(200);
      const having = async (concerned: string) => {
        const query = `{ deliveries(last: 1, filter: { address: "${concerned}" }) { nodes { type events { __typename } } } }`;
        return ((await overHttp(shipped.url, { query })).data as Page).deliveries.nodes;
      };
      const [node] = await having(address);
      expect(node?.type).toBe('ACTIVITIES');
      expect(node?.events).toHaveLength(10_000);
      expect(await having(beyond)).toEqual([]);
    });
  });

  const ask = async (junk: string): Promise<Reply> => {
    const address = freshAddress();
    const page = JSON.stringify(transactionsEnvelope([transaction()]));
    const text = `${page.slice(0, -1)},"other":${junk}}`;
    shipped.fake.transactions.set(address, () => ({ text }));
    return (await overHttp(shipped.url, { query: TRANSACTIONS, variables: { address } })) as Reply;
  };

  test.each([
    ['objects of names that are all different', differentNames(900_000)],
    ['one object of as many', manyNames(900_000)],
  ])('refuses an answer of the service with %s', async (_what, junk) => {
    await isInGoodHealth(async () => {
      const { errors } = await ask(junk);
      expect(errors).toMatchObject([
        {
          message: expect.stringMatching(
            /Expected an answer from upstream whose objects have at most 50000 shapes/,
          ),
          extensions: { code: 'UPSTREAM_INVALID_RESPONSE' },
        },
      ]);
    });
  });

  test('reads an answer of the service with numbers beyond 2^53', async () => {
    await isInGoodHealth(async () => {
      const replies = await Promise.all(Array.from({ length: 3 }, () => ask(digits(900_000))));
      for (const { data } of replies) expect(data.wallet.transactions.nodes).toHaveLength(1);
    });
  });

  test.each([
    ['objects of names that are all different', differentNames(240_000)],
    ['one object of as many', manyNames(240_000)],
  ])('refuses a request whose variables have %s', async (_what, junk) => {
    await isInGoodHealth(async () => {
      const response = await fetch(`${shipped.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"query":"{ __typename }","variables":{"junk":${junk}}}`,
      });
      expect(response.status).toBe(413);
      const reply = (await response.json()) as { errors: { message: string }[] };
      expect(codesOf(reply as never)).toEqual(['OPERATION_TOO_COMPLEX']);
      expect(reply.errors[0]?.message).toBe(
        'Expected a body whose JSON objects have at most 50000 shapes, got more.',
      );
    });
  });

  test('is as it was after all of them', async () => {
    expect(await shipped.megabytes()).toBeLessThan(1500);
    expect(shipped.lines.filter((line) => !/^\{"level":"(info|debug|warn)"/.test(line))).toEqual([]);
  });
});
