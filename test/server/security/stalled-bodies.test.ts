import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { activity, deliver, deliveriesOf, deliverUntilStored } from '../../support/clients/deliver.ts';
import { attack, crowd, head, json, send } from '../../support/clients/raw-http.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { PRODUCTION, type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { readExposition } from '../../support/gateway/prometheus.ts';

/** Senders that announce a body and are silent, or send a part of it: they must not cost others anything. */

const MEGABYTE = 1024 * 1024;
const CLOSE = 'connection: close';

let bodies = 0;
/** No two are alike: the log would store one of them. */
const small = () => activity(++bodies);
const large = () => ({ ...activity(++bodies), padding: 'x'.repeat(4.5 * MEGABYTE) });

describe('deliveries to the shipped process', () => {
  let shipped: Shipped;
  let attacked: string;
  let other: string;
  beforeAll(async () => {
    shipped = await startGatewayProcess({ ...PRODUCTION, AUTH: 'key' });
    const urlOf = async (key: string) =>
      (await deliveriesOf(shipped.url, { 'x-service-api-key': key })).deliveryUrl;
    [attacked, other] = await Promise.all([urlOf('key-of-one-tenant'), urlOf('key-of-another-tenant')]);
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  const postHead = (length: number) =>
    head(`POST ${new URL(attacked).pathname}`, `content-length: ${length}`);

  /** Those of another tenant at once; those of the attacked one as soon as its bodies have stalled for long enough. */
  const expectAllStored = async () => {
    for (const body of [small, large, small]) expect(await deliver(other, { body: body() })).toBe(200);
    for (const body of [small, large, small]) await deliverUntilStored(attacked, { body: body() });
  };

  /** Begins deliveries that are never complete, and resolves once their parts are sent. */
  const begin = async (count: number, length: number, part: Buffer) => {
    let sent = 0;
    const senders = crowd(shipped.url, count, (socket) => {
      socket.write(postHead(length));
      socket.write(part, () => {
        sent += 1;
      });
    });
    await eventually(() => sent >= count);
    return senders;
  };

  test('are stored while many senders announce bodies that never come', async () => {
    using silent = await begin(60, 5 * MEGABYTE, Buffer.from('{'));
    await expectAllStored();
    expect(silent.answers).toEqual([]);
  });

  test('are stored while many large bodies are half here', async () => {
    using stalled = await begin(30, 5 * MEGABYTE, Buffer.alloc(3 * MEGABYTE, ' '));
    await eventually(() => stalled.answers.length >= 30 - 21);
    await expectAllStored();
    // Stalled ones lost their memory to those, before their time was up.
    const withoutMemory = () =>
      stalled.answers.filter((answer) => /^HTTP\/1.1 503 .*retry-after: \d+/is.test(answer));
    await eventually(() => withoutMemory().length > 30 - 21);
    for (const answer of stalled.answers) expect(answer).toMatch(/^HTTP\/1.1 (503|408) /);
  });

  test('are stored while more small bodies are half here than there is memory for', async () => {
    using stalled = await begin(400, 60_000, Buffer.alloc(59_999, ' '));
    await eventually(() => stalled.answers.length >= 400 - 279);
    await expectAllStored();
    for (const answer of stalled.answers) expect(answer).toMatch(/^HTTP\/1.1 (503|408) /);
  });

  test('that find no memory are counted, and named in one line', async () => {
    const metrics = readExposition(await (await fetch(`${shipped.url}/metrics`)).text());
    const counted = metrics.get('gateway_deliveries_out_of_memory_total')?.series;
    expect(counted?.get('gateway_deliveries_out_of_memory_total')).toBeGreaterThan(10);
    const lines = shipped.lines.filter((line) => line.includes('no memory for their bodies'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', refused: 1 });
  });

  test('are refused without the token before their body is read, also while there is no memory', async () => {
    using stalled = await begin(30, 5 * MEGABYTE, Buffer.alloc(3 * MEGABYTE, ' '));
    const path = new URL(attacked).pathname.replace(/[^/]+$/, 'A'.repeat(43));
    const silent = send(head(`POST ${path}`, `content-length: ${5 * MEGABYTE}`));
    expect(await attack(shipped.url, silent)).toMatch(/^HTTP\/1.1 404 /);
    expect(stalled.answers.length).toBeLessThan(30);
  });
});

describe('requests of GraphQL to the shipped process', () => {
  let shipped: Shipped;
  beforeAll(async () => {
    shipped = await startGatewayProcess({ ...PRODUCTION, AUTH: 'key' });
  });
  beforeEach(() => void shipped.fake.requests.splice(0));
  afterAll(() => shipped[Symbol.asyncDispose]());

  const keyOf = (client: string) => `x-service-api-key: key-of-${client}`;
  const PART = Buffer.alloc(7 * MEGABYTE, ' ');
  const answered = (client: string) => {
    const bytes = Buffer.from(
      JSON.stringify({ query: '{ __typename }', variables: { large: 'x'.repeat(7 * MEGABYTE) } }),
    );
    return attack(shipped.url, send(json(keyOf(client), CLOSE, `content-length: ${bytes.length}`), bytes));
  };

  test.each([
    ['of a known length', `content-length: ${8 * MEGABYTE}`, ''],
    // Yoga reads these.
    ['in chunks', 'transfer-encoding: chunked', `${PART.length.toString(16)}\r\n`],
  ])('are answered while many bodies are half here, %s', async (_how, length, size) => {
    const accept = 'accept: application/graphql-response+json';
    using stalled = crowd(shipped.url, 30, send(json(accept, keyOf('one'), length), size, PART));
    await eventually(() => stalled.answers.length >= 30 - 9);
    for (const client of ['another', 'one', 'another', 'one'])
      expect(await answered(client)).toMatch(/^HTTP\/1.1 200 /);
    for (const answer of stalled.answers)
      expect(answer).toMatch(/^HTTP\/1.1 503 .*retry-after: \d+.*"OPERATION_TOO_COMPLEX"/is);
    // Its memory went to those that needed it.
    await eventually(() => stalled.answers.length > 30 - 9);
  });
});
