import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliver } from './support/deliver.ts';
import { scrape } from './support/exposition.ts';
import { clientFrame, message, openRawSocket, subscribeMessage } from './support/raw-socket.ts';
import { readersToBe } from './support/readers.ts';
import { type Shipped, startShipped } from './support/shipped.ts';
import { eventually } from './support/subscribe.ts';

/** What a client that keeps to no rule does to the process as shipped: it harms itself. */

const ALL = 'subscription ($after: String) { deliveries(after: $after) { cursor } }';
const PING = 0x89;
const CONTINUED = 0x01;
const CONTINUATION = 0x00;
const LAST = 0x80;

let gateway: Shipped;
let url: string;
let head: string;

beforeAll(async () => {
  gateway = await startShipped();
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ deliveryUrl deliveries { head } }' }),
  });
  const { data } = (await response.json()) as { data: { deliveryUrl: string; deliveries: { head: string } } };
  url = data.deliveryUrl;
  head = data.deliveries.head;
});

afterAll(() => gateway[Symbol.asyncDispose]());

type Told = { id?: string; type: string; payload?: { extensions: { code: string } }[] };

const listen = async () => {
  const told: Told[] = [];
  const client = await openRawSocket(gateway.url, (payload) => told.push(JSON.parse(String(payload))));
  return Object.assign(client, { told });
};

const codes = (told: readonly Told[]) => [
  ...new Set(
    told
      .flatMap(({ type, payload }) => (type === 'error' ? (payload ?? []) : []))
      .map((e) => e.extensions.code),
  ),
];

test('a hundred subscriptions of a hundred documents on one socket are served, each by itself', async () => {
  using client = await listen();
  const documents = Array.from(
    { length: 100 },
    (_, n) => `subscription S${n} { deliveries { cursor node { n${n}: id } } }`,
  );
  client.write(...documents.map((query, n) => subscribeMessage(query, {}, `s${n}`)));
  await readersToBe(gateway.url, 100);
  await deliver(url, { body: { name: 'for a hundred' } });
  await eventually(() => client.told.length === 100);
  expect(new Set(client.told.map(({ id }) => id)).size).toBe(100);
  for (const { id, payload } of client.told) expect(JSON.stringify(payload)).toContain(`"n${id?.slice(1)}":`);
});

test('of 20,000 subscriptions on one socket a hundred are begun, the others are refused, and memory stays', async () => {
  const before = await gateway.megabytes();
  using client = await listen();
  for (let batch = 0; batch < 20; batch += 1) {
    const ids = Array.from({ length: 1000 }, (_, n) => `${batch}-${n}`);
    client.write(...ids.map((id) => subscribeMessage(ALL, {}, id)));
  }
  await eventually(() => client.told.length === 19_900);
  expect(codes(client.told)).toEqual(['OPERATION_TOO_COMPLEX']);
  await readersToBe(gateway.url, 100);
  expect((await gateway.megabytes()) - before).toBeLessThan(150);
});

test('an id of 200 KB is refused, and the socket lives on', async () => {
  using client = await listen();
  client.write(subscribeMessage(ALL, {}, 'x'.repeat(200_000)), message({ type: 'ping' }));
  await eventually(() => client.told.length === 2);
  expect(codes(client.told)).toEqual(['OPERATION_TOO_COMPLEX']);
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
  const heard = (id: string) => client.told.filter((one) => one.id === id);
  await eventually(() => heard('parts').length >= 2 && heard('bytes').length === heard('parts').length);
  expect(heard('parts').map(({ payload }) => payload)).toEqual(heard('bytes').map(({ payload }) => payload));
});

/** By number, as an id is used once. */
const FLOODS: readonly (readonly [name: string, frame: (number: number) => Buffer])[] = [
  ['pings', () => message({ type: 'ping', payload: { filler: 'p'.repeat(2000) } })],
  ['queries', (id) => subscribeMessage('{ __schema { types { name description } } }', {}, `${id}`)],
  ['refused operations', (id) => subscribeMessage(`{ ${'x'.repeat(2000)} }`, {}, `${id}`)],
];

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
    await eventually(() => client.told.length >= 1000);
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
