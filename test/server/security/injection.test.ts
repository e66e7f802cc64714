import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Attack, attack, crowd, head, json, send } from '../../support/clients/raw-http.ts';
import { listenTo, message, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { PRODUCTION, type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { codesOf, type GraphQLFault } from '../../support/gateway/start.ts';
import { ADDRESS } from '../../support/payloads/expensive-documents.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';

/** Requests that are many times their size once they are read, and are held until a slow service has answered. */

const LOOKUP = `{ wallet(address: "${ADDRESS}") { transactions { nodes { hash } } } }`;
/** Nothing but the service answers; half the usual heap shows what is held, and not what is only not collected yet. */
const SLOW = {
  UPSTREAM_TIMEOUT_MS: '60000',
  CACHE_HEAD_MS: '0',
  CACHE_STALE_MS: '0',
  NODE_OPTIONS: '--max-old-space-size=512',
};
/** More than it ever grew by. */
const MEGABYTES = 500;

/** A list of empty objects, of three bytes and a comma each, that nobody asks for. */
const objects = (count: number) => ({ junk: Array.from({ length: count }, () => ({})) });
/** With the request itself, its query, its variables and the list. */
const AROUND = 4;

const CLOSE = 'connection: close';
const post = (body: string, ...headers: string[]): Attack =>
  send(json(`content-length: ${Buffer.byteLength(body)}`, ...headers), body);
const postInChunks = (body: string, ...headers: string[]): Attack => {
  const middle = Math.floor(body.length / 2);
  const chunks = [body.slice(0, middle), body.slice(middle), ''];
  return send(
    json('transfer-encoding: chunked', ...headers),
    ...chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`),
  );
};
/** Sends the first tenth of a request. */
const postTenth = (body: string): Attack =>
  send(json(`content-length: ${10 * Buffer.byteLength(body)}`), body);
const postFirstChunk = (body: string): Attack =>
  send(json('transfer-encoding: chunked'), `${body.length.toString(16)}\r\n${body}\r\n`);
const bodyOf = (values: number, query = '{ __typename }') =>
  JSON.stringify({ query, variables: objects(values - AROUND) });

describe('the shipped process in production', () => {
  let shipped: Shipped;
  let before: number;
  let answer = () => {};
  beforeAll(async () => {
    shipped = await startGatewayProcess({ ...PRODUCTION, ...SLOW });
    before = await shipped.megabytes();
  });
  beforeEach(() => {
    const gate = Promise.withResolvers<void>();
    answer = gate.resolve;
    shipped.fake.transactions.set(ADDRESS, async (request) => {
      await gate.promise;
      return servingTransactions([])(request);
    });
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  test.each([
    ['said', post, postTenth],
    ['in chunks', postInChunks, postFirstChunk],
  ])('takes a body of 250,000 values, its length %s, and refuses one more', async (_how, bring, begin) => {
    expect(await attack(shipped.url, bring(bodyOf(250_000), CLOSE))).toMatch(/^HTTP\/1.1 200 /);
    const refused = await attack(shipped.url, bring(bodyOf(250_001), CLOSE));
    expect(refused).toMatch(/^HTTP\/1.1 413 .*"OPERATION_TOO_COMPLEX"/s);
    // Closed by the gateway, which does not wait for the rest.
    expect(await attack(shipped.url, begin(bodyOf(250_001)))).toMatch(/^HTTP\/1.1 413 /);
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
  });

  test('holds of bodies of many values no more than it has room for', async () => {
    const big = post(bodyOf(240_000, LOOKUP), CLOSE);
    using crowded = crowd(shipped.url, 60, big);
    // What 64 MB hold of values that count for 32 bytes.
    await eventually(
      () => crowded.answers.length === 52,
      () => crowded.answers.length,
    );
    for (const said of crowded.answers)
      expect(said).toMatch(/^HTTP\/1.1 503 .*retry-after: \d+.*"OPERATION_TOO_COMPLEX"/is);
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
    expect(await attack(shipped.url, post(bodyOf(100), CLOSE))).toMatch(/^HTTP\/1.1 200 /);
    answer();
    await eventually(() => crowded.answers.length === 60);
    expect(crowded.answers.slice(52).every((said) => said.startsWith('HTTP/1.1 200 '))).toBe(true);
    expect(await attack(shipped.url, big)).toMatch(/^HTTP\/1.1 200 /);
  });

  /** Makes lookups whose lists have this many values each, and returns what became of them. */
  const flood = async (count: number, values: number) => {
    const client = await listenTo(shipped);
    const variables = objects(values);
    client.write(...Array.from({ length: count }, (_, id) => subscribeMessage(LOOKUP, variables, `${id}`)));
    const of = (type: string) => client.received.filter((each) => each.type === type);
    return {
      ...client,
      refused: () => of('error').flatMap(({ payload }) => codesOf({ errors: payload as GraphQLFault[] })),
      answered: () => of('next').length,
    };
  };

  type Flood = Awaited<ReturnType<typeof flood>>;

  test.each([
    // A message of 192 KB counts for 2 MB.
    ['as large as they may be', 100, 64_000, 32],
    // One of 48 KB counts for half a MB.
    ['that are not large', 200, 16_000, 131],
  ])('holds of messages %s no more than it has room for', async (_what, count, values, held) => {
    const clients = await Promise.all(
      Array.from({ length: Math.ceil(count / 100) }, () => flood(Math.min(count, 100), values)),
    );
    const refused = () => clients.flatMap((client) => client.refused());
    await eventually(
      () => refused().length >= count - held,
      () => refused().length,
    );
    expect(new Set(refused())).toEqual(new Set(['OPERATION_TOO_COMPLEX']));
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
    using ordinary = await flood(100, 10);
    answer();
    await eventually(() => ordinary.answered() === 100);
    await eventually(() => clients.reduce((sum, client) => sum + client.answered(), 0) === held);
    expect(refused()).toHaveLength(count - held);
    for (const client of clients) client.socket.destroy();
  });

  const WAYS: [how: string, end: (client: Flood) => void][] = [
    [
      'completed',
      ({ write }) =>
        write(...Array.from({ length: 32 }, (_, id) => message({ type: 'complete', id: `${id}` }))),
    ],
    ['left by their client', ({ socket }) => socket.destroy()],
    ['answered', () => answer()],
  ];

  test.each(WAYS)('has the room again of operations that were %s', async (_how, end) => {
    using first = await flood(33, 64_000);
    await eventually(() => first.refused().length === 1);
    end(first);
    // Refused for what they are, they never held any for long.
    using wrong = await listenTo(shipped);
    for (let number = 0; number < 33; number += 1)
      wrong.write(subscribeMessage('{ nope }', objects(64_000), `${number}`));
    await eventually(() => wrong.received.length === 33);
    await expect
      .poll(async () => {
        using again = await flood(32, 64_000);
        const small = await flood(1, 10);
        answer();
        await eventually(() => small.answered() === 1 && again.refused().length + again.answered() === 32);
        small.socket.destroy();
        return again.answered();
      })
      .toBe(32);
  });

  test('is as it was after all of them', async () => {
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
    expect(shipped.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([]);
    expect(await attack(shipped.url, send(head('GET /health/live', CLOSE)))).toMatch(/ 200 /);
  });
});
