import { afterAll, expect, test } from 'vitest';
import { postEncoded } from '../../support/clients/encoded.ts';
import { askInParts, MULTIPART, mergeParts, NEWEST, type Part } from '../../support/clients/parts.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { plainOf } from '../../support/lookups/portfolio.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** Parts are compressed, and each can be read when it comes. */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const fake = made.use(await startFakeWallets());
const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_TIMEOUT_MS: '60000' }));

const QUERY = `query ($address: Address!) { wallet(address: $address) { transactions(first: 300) {
  nodes @stream(initialCount: 20) { id hash from to value }
} } }`;

/** A wallet of three pages, of which those behind the first are held until `release`. */
const heldWallet = () => {
  const gate = Promise.withResolvers<void>();
  const address = freshAddress();
  const answer = servingTransactions(history(300));
  fake.transactions.set(address, async (request) => {
    if (request.query.get('offset') !== null) await gate.promise;
    return answer(request);
  });
  return { address, release: () => gate.resolve() };
};

test.each(
  ['gzip', 'br', 'zstd'].flatMap((coding) =>
    [MULTIPART, NEWEST, 'multipart/mixed'].flatMap((accept) =>
      (['POST', 'GET'] as const).map((method) => ({ coding, accept, method })),
    ),
  ),
)('the first parts come in $coding while others are being made ($accept, $method)', async (asked) => {
  const { coding, accept, method } = asked;
  const { address, release } = heldWallet();
  const headers = { 'accept-encoding': coding };
  const answer = await askInParts(gateway.url, {
    query: QUERY,
    variables: { address },
    accept,
    method,
    headers,
  });
  expect(answer.response.headers.get('content-encoding')).toBe(coding);
  expect(answer.response.headers.get('vary')).toContain('Accept-Encoding');
  const first = [await answer.next(), await answer.next()];
  release();
  const all = [...first, ...(await answer.rest())] as Part[];
  expect(all.at(-1)).toMatchObject({ hasNext: false });
  if (accept !== NEWEST) expect(mergeParts(all)).toEqual(await gateway.data(plainOf(QUERY), { address }));
});

test('they take a fraction of the bytes', async () => {
  const { address, release } = heldWallet();
  release();
  const asked = { query: QUERY, variables: { address } };
  const bytesIn = async (coding: string) =>
    (await postEncoded(gateway.url, asked, { accept: MULTIPART, 'accept-encoding': coding })).bytes;
  const plain = await bytesIn('identity');
  for (const coding of ['gzip', 'br', 'zstd']) expect(await bytesIn(coding)).toBeLessThan(plain / 3);
});

test.each([
  ['in an event stream', 'text/event-stream', {}],
  ['with COMPRESSION=off', MULTIPART, { COMPRESSION: 'off' }],
])('%s they are not compressed', async (_when, accept, settings) => {
  await using other = await startGateway({ UPSTREAM_URL: fake.url, ...settings });
  const { address, release } = heldWallet();
  release();
  const answer = await askInParts(other.url, { query: QUERY, variables: { address }, accept });
  expect(['none', null]).toContain(answer.response.headers.get('content-encoding'));
  expect((await answer.rest()).length).toBeGreaterThan(1);
});
