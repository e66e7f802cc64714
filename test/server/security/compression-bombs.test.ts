import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { crowd, head, send } from '../../support/clients/raw-http.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { overHttp } from '../../support/clients/transports.ts';
import { watchLiveness } from '../../support/gateway/liveness.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';

/** Bodies of a few kilobytes that come to much more once they are inflated or read. */

const MEGABYTE = 1024 * 1024;
/** In milliseconds that the gateway runs; thirty of these bodies took 53 s. */
const LONGEST_WAIT_MS = 3000;

let bodies = 0;

/** No two are alike: the log would store one of them. */
const listOf = (part: string, bytes: number) =>
  `{"number":${++bodies},"activities":[${part.repeat(Math.floor(bytes / part.length) - 20)}1]}`;

const GIVEN = '{ deliveries(last: 1) { nodes { type payload events { __typename } } } }';

describe('the shipped process', () => {
  let shipped: Shipped;
  let url: string;
  let path: string;
  let before: number;
  beforeAll(async () => {
    shipped = await startGatewayProcess();
    ({ deliveryUrl: url } = await deliveriesOf(shipped.url));
    path = new URL(url).pathname;
    await deliver(url, { body: listOf('{},', 4.9 * MEGABYTE) });
    before = await shipped.megabytes();
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  /** Posts all at once, compressed; the statuses. */
  const bomb = async (texts: readonly string[]): Promise<number[]> => {
    const posts = texts.map(async (text) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(gzipSync(text)) });
      await response.arrayBuffer();
      return response.status;
    });
    return Promise.all(posts);
  };

  test.each([
    ['numbers with exponents', '1e1,'],
    ['numbers beyond floats', '1e400,'],
    ['empty objects', '{},'],
  ])('stores bodies of a million %s, and answers others meanwhile', async (_what, part) => {
    await using liveness = await watchLiveness(shipped);
    const texts = Array.from({ length: 4 }, () => listOf(part, 4.7 * MEGABYTE));
    expect(new Set(await bomb(texts))).toEqual(new Set([200]));
    expect(await liveness.longestWait()).toBeLessThan(LONGEST_WAIT_MS);
    const { data } = await overHttp(shipped.url, { query: GIVEN });
    const [node] = (data as { deliveries: { nodes: { type: null; payload: string; events: [] }[] } })
      .deliveries.nodes;
    expect(node).toMatchObject({ type: null, events: [] });
    expect(texts).toContain(node?.payload);
  });

  test('refuses one that is not JSON after all', async () => {
    const broken = listOf('1e1,', 2 * MEGABYTE).replace(',1]}', ',1e]}');
    expect(await bomb([broken, listOf('1,', 2 * MEGABYTE).slice(0, -1)])).toEqual([400, 400]);
  });

  test('takes no more memory for many bombs than for few', async () => {
    await using liveness = await watchLiveness(shipped);
    const zeros = gzipSync(Buffer.alloc(5 * MEGABYTE, ' '));
    const post = send(
      head(`POST ${path}`, `content-length: ${zeros.length}`, 'content-encoding: gzip', 'connection: close'),
      zeros,
    );
    let most = 0;
    using senders = crowd(shipped.url, 100, post);
    await eventually(
      () => {
        void shipped.megabytes().then((megabytes) => {
          most = Math.max(most, megabytes);
        });
        return senders.answers.length === 100;
      },
      () => senders.answers.map((answer) => answer.slice(0, 12)).join(),
    );
    // It is no JSON; those for which there is no room get 503.
    for (const answer of senders.answers) expect(answer).toMatch(/^HTTP\/1.1 (400|503) /);
    expect(most - before).toBeLessThan(512);
    expect(await liveness.longestWait()).toBeLessThan(LONGEST_WAIT_MS);
  });

  test('takes a burst of three hundred small compressed deliveries', async () => {
    const texts = Array.from({ length: 300 }, () =>
      JSON.stringify({ number: ++bodies, activities: Array(20).fill({ type: 'receive', value: '1' }) }),
    );
    expect(new Set(await bomb(texts))).toEqual(new Set([200]));
  });
});
