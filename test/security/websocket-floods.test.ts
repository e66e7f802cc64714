import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { attack, send, upgrade } from '../support/clients/raw-http.ts';
import {
  clientFrame,
  listenTo,
  message,
  openRawSocket,
  subscribeMessage,
} from '../support/clients/raw-socket.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { byKey, withKey } from '../support/gateway/keys.ts';
import { CONFIGURATIONS, type Shipped, startGatewayProcess } from '../support/gateway/process.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { codesOf, type GraphQLFault } from '../support/gateway/start.ts';
import { readersToBe } from '../support/gateway/wait-for-readers.ts';

/** What a client that keeps to no rule does to the process as shipped: it harms itself. */

const ALL = 'subscription ($after: String) { deliveries(after: $after) { cursor } }';
const TEXT = 0x81;
const MASKED = 0x80;
const PING = 0x89;
const CONTINUED = 0x01;
const CONTINUATION = 0x00;
const LAST = 0x80;
const COMPRESSED = 0x40;

/** So much a socket may say before it has shown a credential. */
const BEFORE_ADMISSION = 16 * 1024;

/** A text of so many bytes that takes some twenty times as many once it is parsed. */
const bulkOf = (bytes: number) => ({ x: Array<object>(Math.floor(bytes / 3)).fill({}) });

/** A close frame of 1002 at the end of what was said, read as UTF-8. */
const PROTOCOL_ERROR = '\u0002\u0003\ufffd';

const codes = (received: readonly { type: string; payload?: unknown }[]) => [
  ...new Set(
    received
      .filter(({ type }) => type === 'error')
      .flatMap(({ payload }) => codesOf({ errors: payload as GraphQLFault[] })),
  ),
];

/** Asks nobody, whatever the gateway serves. */
const ANSWERED_AT_LENGTH = `{ ${Array.from({ length: 30 }, (_, n) => `${'a'.repeat(100)}${n}: __typename`).join(' ')} }`;

/** By number, as an id is used once. */
const FLOODS: readonly (readonly [name: string, frame: (number: number) => Buffer])[] = [
  ['pings', () => message({ type: 'ping', payload: { filler: 'p'.repeat(2000) } })],
  ['queries', (id) => subscribeMessage(ANSWERED_AT_LENGTH, {}, `${id}`)],
  ['refused operations', (id) => subscribeMessage(`{ ${'x'.repeat(2000)} }`, {}, `${id}`)],
];

const announcing = (...length: number[]) => Buffer.from([TEXT, MASKED | 127, ...length, 0, 0, 0, 0]);
const subscribeTwice = [subscribeMessage(ALL, {}, 'a'), subscribeMessage('{ __typename }', {}, 'a')];

const BREACHES: readonly (readonly [name: string, frames: readonly Buffer[], code: number])[] = [
  ['a frame as long as can be said', [announcing(0x7f, ...Array(7).fill(0xff))], 1009],
  ['a frame of a terabyte', [announcing(0, 0, 1, 0, 0, 0, 0, 0)], 1009],
  ['a frame of 256 KB and a byte', [clientFrame(' '.repeat(256 * 1024 + 1))], 1009],
  [
    'fragments without end',
    [clientFrame('', CONTINUED), ...Array(30).fill(clientFrame(' '.repeat(10_000), CONTINUATION))],
    1009,
  ],
  ['a frame without a mask', [Buffer.from([TEXT, 2, 0x7b, 0x7d])], 1002],
  ['a frame of no kind', [clientFrame('{}', LAST | 3)], 1002],
  ['a long ping', [clientFrame('p'.repeat(126), PING)], 1002],
  ['text that is none', [clientFrame(Buffer.from([0xff]))], 1007],
  ['what is no JSON', [clientFrame('[')], 4400],
  ['a message of no kind', [message({ type: '__proto__' })], 4400],
  ['a second greeting', [message({ type: 'connection_init' })], 4429],
  ['an id that is in use', subscribeTwice, 4409],
];

describe.each(CONFIGURATIONS)('the shipped process in %s', (_name, env) => {
  let gateway: Shipped;
  let url: string;
  let head: string;
  beforeAll(async () => {
    gateway = await startGatewayProcess(env);
    ({ deliveryUrl: url, head } = await deliveriesOf(gateway.url));
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const listen = () => listenTo(gateway);

  test('a hundred subscriptions of a hundred documents on one socket are served, each by itself', async () => {
    using client = await listen();
    const documents = Array.from(
      { length: 100 },
      (_, n) => `subscription S${n} { deliveries { cursor node { n${n}: id } } }`,
    );
    client.write(...documents.map((query, n) => subscribeMessage(query, {}, `s${n}`)));
    await readersToBe(gateway.url, 100);
    await deliver(url, { body: { name: 'for a hundred' } });
    await eventually(() => client.received.length === 100);
    expect(new Set(client.received.map(({ id }) => id)).size).toBe(100);
    for (const { id, payload } of client.received)
      expect(JSON.stringify(payload)).toContain(`"n${id?.slice(1)}":`);
  });

  test('of 20,000 subscriptions on one socket a hundred are begun, the others are refused, and memory stays', async () => {
    const before = await gateway.megabytes();
    using client = await listen();
    for (let batch = 0; batch < 20; batch += 1) {
      const ids = Array.from({ length: 1000 }, (_, n) => `${batch}-${n}`);
      client.write(...ids.map((id) => subscribeMessage(ALL, {}, id)));
    }
    await eventually(() => client.received.length === 19_900);
    expect(codes(client.received)).toEqual(['OPERATION_TOO_COMPLEX']);
    await readersToBe(gateway.url, 100);
    expect((await gateway.megabytes()) - before).toBeLessThan(150);
  });

  test('an id of 200 KB is refused, and the socket lives on', async () => {
    using client = await listen();
    client.write(subscribeMessage(ALL, {}, 'x'.repeat(200_000)), message({ type: 'ping' }));
    await eventually(() => client.received.length === 2);
    expect(codes(client.received)).toEqual(['OPERATION_TOO_COMPLEX']);
    await readersToBe(gateway.url, 0);
  });

  test('frames that come byte by byte, and messages in fragments with pings between them, are understood', async () => {
    using client = await listen();
    for (const byte of subscribeMessage(ALL, { after: head }, 'bytes')) client.write(Buffer.from([byte]));
    const text = JSON.stringify({
      id: 'parts',
      type: 'subscribe',
      payload: { query: ALL, variables: { after: head } },
    });
    client.write(clientFrame(text.slice(0, 10), CONTINUED), clientFrame('?', PING));
    for (const character of text.slice(10)) client.write(clientFrame(character, CONTINUATION));
    client.write(clientFrame('!', PING), clientFrame('', CONTINUATION | LAST));
    await readersToBe(gateway.url, 2);
    await deliver(url, { body: { name: 'in parts' } });
    const heard = (id: string) => client.received.filter((one) => one.id === id);
    await eventually(() => heard('parts').length >= 2 && heard('bytes').length === heard('parts').length);
    expect(heard('parts').map(({ payload }) => payload)).toEqual(
      heard('bytes').map(({ payload }) => payload),
    );
  });

  test.each(FLOODS)(
    'of a client that sends %s and takes no answer nothing more is read',
    async (_name, frame) => {
      const before = await gateway.megabytes();
      using client = await listen();
      client.stall();
      let sent = 0;
      let taken = 0;
      const batch = () => Buffer.concat(Array.from({ length: 250 }, () => frame(sent++)));
      // Answers to 200,000 would be some hundred megabytes at least.
      while (sent < 200_000 && sent - taken < 20_000) {
        const number = sent;
        client.socket.write(batch(), () => {
          taken = number;
        });
        await scrape(gateway.url);
      }
      expect(sent).toBeLessThan(200_000);
      expect((await gateway.megabytes()) - before).toBeLessThan(100);
      client.readOn();
      await eventually(() => client.received.length >= 1000);
    },
  );

  test('a client that sends pings of the socket without end, and takes no answer, is dropped', async () => {
    const before = await gateway.megabytes();
    using client = await listen();
    client.stall();
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => clientFrame('p'.repeat(125), PING)));
    while (!client.socket.destroyed) {
      client.socket.write(pings);
      await scrape(gateway.url);
    }
    expect((await gateway.megabytes()) - before).toBeLessThan(50);
  });

  test.each(BREACHES)('a client that sends %s is dropped', async (_name, frames, code) => {
    using client = await listen();
    client.write(...frames);
    expect(await client.closed).toBe(code);
  });

  test('a bomb of a message is not inflated, though its client offers compression', async () => {
    const before = await gateway.megabytes();
    const bomb = clientFrame(deflateRawSync(Buffer.alloc(200 * 1024 * 1024)), TEXT | COMPRESSED);
    const offer = upgrade('/graphql', 'sec-websocket-extensions: permessage-deflate');
    const said = await attack(gateway.url, send(offer, bomb));
    expect(said).not.toMatch(/sec-websocket-extensions/i);
    expect(said.slice(-3)).toBe(PROTOCOL_ERROR);
    expect((await gateway.megabytes()) - before).toBeLessThan(50);
  });

  test('a client that greets with more than 16 KB is dropped, and one that greets with less is served', async () => {
    const params = (bytes: number) => ({ x: 'x'.repeat(bytes) });
    using much = await openRawSocket(gateway.url, () => {}, params(BEFORE_ADMISSION));
    expect(await much.closed).toBe(4400);
    const received: string[] = [];
    using less = await openRawSocket(
      gateway.url,
      (text) => received.push(`${text}`),
      params(BEFORE_ADMISSION - 100),
    );
    less.write(subscribeMessage('{ __typename }', { filler: 'x'.repeat(BEFORE_ADMISSION) }));
    await eventually(() => received.length === 2);
    expect(received[0]).toContain('"Query"');
  });

  test('it asks nothing of the service for all of them, says nothing of them, and goes on', async () => {
    expect(gateway.fake.requests).toEqual([]);
    expect(gateway.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([]);
    await readersToBe(gateway.url, 0);
    expect(await deliver(url, { body: { name: 'after all' } })).toBe(200);
  });
});

describe.each(CONFIGURATIONS)('the shipped process in %s, of clients that show no key,', (_name, env) => {
  let gateway: Shipped;
  beforeAll(async () => {
    gateway = await startGatewayProcess({ ...env, ...byKey });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const greet = (count: number, params: object) =>
    Promise.all(Array.from({ length: count }, () => openRawSocket(gateway.url, () => {}, params)));

  test('drops those that greet with much', async () => {
    const before = await gateway.megabytes();
    for (let round = 0; round < 20; round += 1) {
      const clients = await greet(10, bulkOf(255 * 1024));
      expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual(Array(10).fill(4400));
    }
    // Parsed, they would be more than a gigabyte.
    expect((await gateway.megabytes()) - before).toBeLessThan(150);
  });

  test('keeps nothing of what those have said that greet with less', async () => {
    const before = await gateway.megabytes();
    using open = new DisposableStack();
    for (let round = 0; round < 20; round += 1)
      for (const client of await greet(100, bulkOf(BEFORE_ADMISSION - 100))) open.use(client);
    // Parsed, they would be some 700 megabytes.
    expect((await gateway.megabytes()) - before).toBeLessThan(350);
  });

  test('drops those that ask for much, and refuses those that ask for less', async () => {
    using less = await listenTo(gateway);
    less.write(subscribeMessage(ALL, { filler: 'x'.repeat(BEFORE_ADMISSION - 300) }));
    await eventually(() => less.received.length === 1);
    expect(codes(less.received)).toEqual(['UNAUTHENTICATED']);
    less.write(subscribeMessage(ALL, { filler: 'x'.repeat(BEFORE_ADMISSION) }));
    expect(await less.closed).toBe(4400);
    expect(less.received).toHaveLength(1);
  });

  test('serves who shows one beside them', async () => {
    using client = await openRawSocket(gateway.url, () => {}, withKey('a-key'));
    client.write(subscribeMessage(ALL));
    await readersToBe(gateway.url, 1);
  });
});
