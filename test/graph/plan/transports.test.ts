import { afterAll, expect, test } from 'vitest';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { addressOf, hashOf, timeAt, transaction } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** Every transport sends the bytes of the executor's answer, whatever its size and its errors. */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());

const fake = made.use(await startFakeWallets());
const settings = {
  UPSTREAM_URL: fake.url,
  DELIVERY_SECRET: 'the same for both gateways',
  CACHE_HEAD_MS: '0',
  CACHE_TAIL_MS: '0',
  MAX_ANSWER_MB: '3',
};
const fast = made.use(await startGateway(settings, { readPath: 'fast' }));
const plain = made.use(await startGateway(settings, { readPath: 'plain' }));

/** `count` transactions with this many bytes of data; each `malformedEvery`th can't be parsed. */
const serve = (wallet: string, count: number, dataBytes: number, malformedEvery: number) => {
  const items = Array.from({ length: count }, (_, index) =>
    transaction({
      hash: (index + 1) % malformedEvery === 0 ? 'no hash' : hashOf(count - index),
      block_time: timeAt(count - index),
      data: `0x${'ab'.repeat(dataBytes)}`,
    }),
  );
  fake.transactions.set(wallet, servingTransactions(items));
};

const LIGHT = addressOf(0x11);
const HEAVY = addressOf(0x12);
const TOO_LARGE = addressOf(0x13);
const MALFORMED = addressOf(0x14);
serve(LIGHT, 3, 10, 2);
serve(HEAVY, 700, 250, 300);
serve(TOO_LARGE, 350, 5000, 300);
serve(MALFORMED, 90, 10, 2);

const documentOf = (wallet: string) => `{
  b: wallet(address: "${wallet}") { transactions(first: 1000) { nodes { hash } edges { cursor node { __typename id } } } }
  a: wallet(address: "${wallet}") { transactions(first: 1000) { pageInfo { endCursor } nodes { hash data logs { topics } } } }
}`;

/** What differs between two requests. */
const VARYING = [/"requestId":"[^"]+"/g, /\["(?:x-request-id|traceparent|date)","[^"]+"\],?/g];
const comparable = (raw: string) => VARYING.reduce((text, varying) => text.replace(varying, ''), raw);

const ANSWERS = [
  ['a light answer', LIGHT, '"errors":[{"message":"The service sent an item'],
  ['a heavy answer', HEAVY, '"hash":'],
  ['an answer above the limit', TOO_LARGE, 'got a larger one'],
  ['an answer with more errors than one may have', MALFORMED, '"nodes",39]'],
] as const;

test.each(
  TRANSPORTS.flatMap(([transport, send]) =>
    ANSWERS.map(([what, wallet, part]) => [what, transport, send, wallet, part] as const),
  ),
)('%s over %s is the same with plans and without', async (_what, _transport, send, wallet, part) => {
  const payload = { query: documentOf(wallet) };
  const { raw } = await send(fast.url, payload);
  expect(raw).toContain(part);
  expect(comparable(raw)).toBe(comparable((await send(plain.url, payload)).raw));
});

test('a GET is answered with the same bytes', async () => {
  const bodyOf = async (url: string) =>
    (await fetch(`${url}/graphql?query=${encodeURIComponent(documentOf(LIGHT))}`)).text();
  const body = await bodyOf(fast.url);
  expect(body).toContain('"hash":');
  expect(body).toBe(await bodyOf(plain.url));
});
