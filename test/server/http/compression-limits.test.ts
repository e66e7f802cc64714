import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNSENT_TIMES } from '../../../src/server/http/unsent-limit.ts';
import { postEncoded } from '../../support/clients/encoded.ts';
import { json } from '../../support/clients/raw-http.ts';
import { overHttp } from '../../support/clients/transports.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** Answers of 8 MB a list, of which each coding leaves more than a half. */
const WALLET = addressOf(0xb16);
const items = history(100).map((item) => ({ ...item, data: `0x${randomBytes(40_000).toString('hex')}` }));
const LIST = 'transactions(first: 100) { nodes { data } }';
const queryOf = (...aliases: string[]): string =>
  `{ wallet(address: "${WALLET}") { ${aliases.map((alias) => `${alias}: ${LIST}`).join(' ')} } }`;

/** Less than the defaults: a test waits for these times. */
const TIMES = { ...UNSENT_TIMES, stallMs: 3000, checkEveryMs: 200 };

let fake: FakeWallets;
let gateway: Gateway;
beforeAll(async () => {
  fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(items));
  gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '3600000' });
  await overHttp(gateway.url, { query: queryOf('a') });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const requestOf = (query: string, coding: string): string => {
  const body = JSON.stringify({ query });
  return `${json(`content-length: ${body.length}`, `accept-encoding: ${coding}`)}${body}`;
};

/** Opens a connection that sends a request and reads nothing. */
const stalled = async (url: string, request: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  socket.write(request);
  return socket;
};

const expectWhole = async (coding: string, ...aliases: string[]): Promise<void> => {
  const headers = { 'accept-encoding': coding };
  const answer = await postEncoded(gateway.url, { query: queryOf(...aliases) }, headers);
  expect(answer.headers['content-encoding']).toBe(coding);
  const nodes = items.map(({ data }) => ({ data }));
  const { wallet } = JSON.parse(answer.text).data;
  expect(Object.keys(wallet)).toEqual(aliases);
  // Compared as texts: a difference would be shown in full.
  for (const alias of aliases)
    expect(JSON.stringify(wallet[alias].nodes) === JSON.stringify(nodes)).toBe(true);
};

test.each(['zstd', 'br', 'gzip'])('a large answer comes whole as %s', async (coding) => {
  await expectWhole(coding, 'a', 'b');
});

test('a client that reads nothing of a compressed answer is cut', async () => {
  const env = { UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '3600000' };
  await using impatient = await startGateway(env, { times: { unsent: TIMES } });
  await overHttp(impatient.url, { query: queryOf('a') });
  using open = new DisposableStack();
  const codings = ['zstd', 'br', 'gzip'];
  for (const coding of codings) {
    // Together they stay below the limit for unsent answers, even if one is sent uncompressed.
    const socket = await stalled(impatient.url, requestOf(queryOf('a', 'b'), coding));
    open.defer(() => void socket.destroy());
  }
  const cuts = () => impatient.logLines.filter((line) => line.includes('slow reader disconnected'));
  await expect.poll(cuts).toHaveLength(codings.length);
  for (const line of cuts()) expect(JSON.parse(line)).toMatchObject({ reason: 'stalled' });
});

test('answers stay whole when clients leave while theirs are compressed', async () => {
  const queries = ['zstd', 'br', 'gzip'].flatMap((coding) =>
    Array.from({ length: 4 }, (_, number) => [coding, number] as const),
  );
  await Promise.all(
    queries.map(async ([coding, number]) => {
      const socket = await stalled(gateway.url, requestOf(queryOf(`${coding}${number}`), coding));
      setTimeout(() => socket.destroy(), 80 * number);
      await once(socket, 'close');
    }),
  );
  // A busy gateway notices later that the last of them have left: until then answers come as they are.
  const headers = { 'accept-encoding': 'gzip' };
  const ask = () => postEncoded(gateway.url, { query: queryOf('a', 'b') }, headers);
  await expect.poll(async () => (await ask()).headers['content-encoding']).toBe('gzip');
  for (const coding of ['zstd', 'br', 'gzip']) await expectWhole(coding, 'a', 'b');
});

test('while too much is compressed, further answers come as they are', async () => {
  const ask = () =>
    postEncoded(gateway.url, { query: queryOf('a', 'b', 'c') }, { 'accept-encoding': 'gzip' });
  const answers = await Promise.all(Array.from({ length: 3 }, ask));
  const codings = answers.map(({ headers }) => headers['content-encoding'] ?? 'identity');
  expect(new Set(codings)).toEqual(new Set(['gzip', 'identity']));
  const [first] = answers;
  const { data } = JSON.parse(first?.text ?? '');
  for (const { text } of answers) expect(JSON.stringify(JSON.parse(text).data)).toBe(JSON.stringify(data));
});
