import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { attack, send, upgrade } from '../../support/clients/raw-http.ts';
import {
  clientFrame,
  listenTo,
  message,
  openRawSocket,
  subscribeMessage,
} from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { byKey, withKey } from '../../support/gateway/keys.ts';
import { PRODUCTION, type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { codesOf, type GraphQLFault } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** Clients that break the protocol, or flood it, harm only themselves. */

const ALL = 'subscription ($after: String) { deliveries(after: $after) { cursor } }';
const TEXT = 0x81;
const MASKED = 0x80;
const PING = 0x89;
const CONTINUED = 0x01;
const CONTINUATION = 0x00;
const LAST = 0x80;
const COMPRESSED = 0x40;

/** The largest message before authentication. */
const MAX_UNAUTHENTICATED_BYTES = 16 * 1024;

/** A value whose JSON has that many bytes, and takes some twenty times as many once it is parsed. */
const bulkOf = (bytes: number) => ({ x: Array<object>(Math.floor(bytes / 3)).fill({}) });

/** The last bytes of an answer that ends with a close frame of 1002, decoded as UTF-8. */
const PROTOCOL_ERROR = '\u0002\u0003\ufffd';

const codes = (received: readonly { type: string; payload?: unknown }[]) => [
  ...new Set(
    received
      .filter(({ type }) => type === 'error')
      .flatMap(({ payload }) => codesOf({ errors: payload as GraphQLFault[] })),
  ),
];

/** A query that needs no upstream request. */
const LONG_ANSWER = `{ ${Array.from({ length: 30 }, (_, n) => `${'a'.repeat(100)}${n}: __typename`).join(' ')} }`;

/** The number makes the id, which is used once. */
const FLOODS: readonly (readonly [name: string, frame: (number: number) => Buffer])[] = [
  ['pings', () => message({ type: 'ping', payload: { filler: 'p'.repeat(2000) } })],
  ['queries', (id) => subscribeMessage(LONG_ANSWER, {}, `${id}`)],
  ['refused operations', (id) => subscribeMessage(`{ ${'x'.repeat(2000)} }`, {}, `${id}`)],
];

const announcing = (...length: number[]) => Buffer.from([TEXT, MASKED | 127, ...length, 0, 0, 0, 0]);
const subscribeTwice = [subscribeMessage(ALL, {}, 'a'), subscribeMessage('{ __typename }', {}, 'a')];

const BREACHES: readonly (readonly [name: string, frames: readonly Buffer[], code: number])[] = [
  ['a frame of the largest length', [announcing(0x7f, ...Array(7).fill(0xff))], 1009],
  ['a frame of a terabyte', [announcing(0, 0, 1, 0, 0, 0, 0, 0)], 1009],
  ['a frame of 256 KB and a byte', [clientFrame(' '.repeat(256 * 1024 + 1))], 1009],
  [
    'fragments without end',
    [clientFrame('', CONTINUED), ...Array(30).fill(clientFrame(' '.repeat(10_000), CONTINUATION))],
    1009,
  ],
  ['a frame without a mask', [Buffer.from([TEXT, 2, 0x7b, 0x7d])], 1002],
  ['a frame of a reserved opcode', [clientFrame('{}', LAST | 3)], 1002],
  ['a long ping', [clientFrame('p'.repeat(126), PING)], 1002],
  ['text that is not UTF-8', [clientFrame(Buffer.from([0xff]))], 1007],
  ['text that is not JSON', [clientFrame('[')], 4400],
  ['a message of an unknown type', [message({ type: '__proto__' })], 4400],
  ['a second connection_init', [message({ type: 'connection_init' })], 4429],
  ['an id that is in use', subscribeTwice, 4409],
];

describe('the shipped process in production', () => {
  let gateway: Shipped;
  let url: string;
  let head: string;
  beforeAll(async () => {
    gateway = await startGatewayProcess(PRODUCTION);
    ({ deliveryUrl: url, head } = await deliveriesOf(gateway.url));
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const listen = () => listenTo(gateway);

  test('a hundred subscriptions with different documents on one socket each receive their own result', async () => {
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

  test('of 20,000 subscriptions on one socket a hundred begin, the others are rejected, and memory stays bounded', async () => {
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

  test('an id of 200 KB is rejected, and the socket stays open', async () => {
    using client = await listen();
    client.write(subscribeMessage(ALL, {}, 'x'.repeat(200_000)), message({ type: 'ping' }));
    await eventually(() => client.received.length === 2);
    expect(codes(client.received)).toEqual(['OPERATION_TOO_COMPLEX']);
    await readersToBe(gateway.url, 0);
  });

  test('frames that arrive byte by byte, and fragmented messages with pings between the fragments, are read', async () => {
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
    const messagesOf = (id: string) => client.received.filter((one) => one.id === id);
    await eventually(
      () => messagesOf('parts').length >= 2 && messagesOf('bytes').length === messagesOf('parts').length,
    );
    expect(messagesOf('parts').map(({ payload }) => payload)).toEqual(
      messagesOf('bytes').map(({ payload }) => payload),
    );
  });

  test.each(FLOODS)(
    'a client that sends %s and reads no answer is no longer read from',
    async (_name, frame) => {
      const before = await gateway.megabytes();
      using client = await listen();
      client.stall();
      let sent = 0;
      let taken = 0;
      const batch = () => Buffer.concat(Array.from({ length: 250 }, () => frame(sent++)));
      // The answers to 200,000 would take at least some hundred megabytes.
      while (sent < 200_000 && sent - taken < 20_000) {
        const number = sent;
        client.socket.write(batch(), () => {
          taken = number;
        });
        await scrape(gateway.url);
      }
      expect(sent).toBeLessThan(200_000);
      expect((await gateway.megabytes()) - before).toBeLessThan(100);
      client.resume();
      await eventually(() => client.received.length >= 1000);
    },
  );

  test('a client that sends ping frames without end, and reads no pong, is disconnected', async () => {
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

  test.each(BREACHES)('a client that sends %s is disconnected', async (_name, frames, code) => {
    using client = await listen();
    client.write(...frames);
    expect(await client.closed).toBe(code);
  });

  test('a compression bomb is not decompressed, although its client offers compression', async () => {
    const before = await gateway.megabytes();
    const bomb = clientFrame(deflateRawSync(Buffer.alloc(200 * 1024 * 1024)), TEXT | COMPRESSED);
    const offer = upgrade('/graphql', 'sec-websocket-extensions: permessage-deflate');
    const reply = await attack(gateway.url, send(offer, bomb));
    expect(reply).not.toMatch(/sec-websocket-extensions/i);
    expect(reply.slice(-3)).toBe(PROTOCOL_ERROR);
    expect((await gateway.megabytes()) - before).toBeLessThan(50);
  });

  test('a client whose connection_init has more than 16 KB is disconnected, and one with less is served', async () => {
    const params = (bytes: number) => ({ x: 'x'.repeat(bytes) });
    using much = await openRawSocket(gateway.url, () => {}, params(MAX_UNAUTHENTICATED_BYTES));
    expect(await much.closed).toBe(4400);
    const received: string[] = [];
    using less = await openRawSocket(
      gateway.url,
      (text) => received.push(`${text}`),
      params(MAX_UNAUTHENTICATED_BYTES - 100),
    );
    less.write(subscribeMessage('{ __typename }', { filler: 'x'.repeat(MAX_UNAUTHENTICATED_BYTES) }));
    await eventually(() => received.length === 2);
    expect(received[0]).toContain('"Query"');
  });

  test('it sends no upstream request and logs no warning for all of them, and still works', async () => {
    expect(gateway.fake.requests).toEqual([]);
    expect(gateway.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([]);
    await readersToBe(gateway.url, 0);
    expect(await deliver(url, { body: { name: 'after all' } })).toBe(200);
  });
});

describe('the shipped process in production, with clients that send no key,', () => {
  let gateway: Shipped;
  beforeAll(async () => {
    gateway = await startGatewayProcess({ ...PRODUCTION, ...byKey });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const connectAll = (count: number, params: object) =>
    Promise.all(Array.from({ length: count }, () => openRawSocket(gateway.url, () => {}, params)));

  test('disconnects those whose connection_init is large', async () => {
    const before = await gateway.megabytes();
    for (let round = 0; round < 20; round += 1) {
      const clients = await connectAll(10, bulkOf(255 * 1024));
      expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual(Array(10).fill(4400));
    }
    // Parsed, the messages would take more than a gigabyte.
    expect((await gateway.megabytes()) - before).toBeLessThan(150);
  });

  test('keeps nothing of the connection_init of the others', async () => {
    const before = await gateway.megabytes();
    using open = new DisposableStack();
    for (let round = 0; round < 20; round += 1)
      for (const client of await connectAll(100, bulkOf(MAX_UNAUTHENTICATED_BYTES - 100))) open.use(client);
    // Parsed, the messages would take some 700 megabytes.
    expect((await gateway.megabytes()) - before).toBeLessThan(350);
  });

  test('disconnects those that send a large operation, and rejects a smaller operation', async () => {
    using less = await listenTo(gateway);
    less.write(subscribeMessage(ALL, { filler: 'x'.repeat(MAX_UNAUTHENTICATED_BYTES - 300) }));
    await eventually(() => less.received.length === 1);
    expect(codes(less.received)).toEqual(['UNAUTHENTICATED']);
    less.write(subscribeMessage(ALL, { filler: 'x'.repeat(MAX_UNAUTHENTICATED_BYTES) }));
    expect(await less.closed).toBe(4400);
    expect(less.received).toHaveLength(1);
  });

  test('serves a client that sends a key beside them', async () => {
    using client = await openRawSocket(gateway.url, () => {}, withKey('a-key'));
    client.write(subscribeMessage(ALL));
    await readersToBe(gateway.url, 1);
  });
});
