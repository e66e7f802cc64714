import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overHttp } from '../support/clients/transports.ts';
import { watchLiveness } from '../support/gateway/liveness.ts';
import { type Shipped, startGatewayProcess } from '../support/gateway/process.ts';
import { codesOf, startGateway } from '../support/gateway/start.ts';
import {
  collectible,
  collectiblesEnvelope,
  freshAddress,
  transaction,
  transactionsEnvelope,
} from '../support/upstream/builders.ts';
import type { Answer } from '../support/upstream/fake-service.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Responses by which a faulty or hostile upstream, or a proxy before it, could harm the gateway. */

const MEGABYTE = 1024 * 1024;
/** A heap so small that reading an answer without limits ends the process. */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=384' };
/** A busy machine reads large answers slowly, one after the other. */
const NO_TIMEOUT = { UPSTREAM_TIMEOUT_MS: '240000' };
/** In milliseconds that the gateway runs. Without limits the attacks blocked the process for six seconds and more. */
const LONGEST_WAIT_MS = 3000;

const items = (field: string, bytes: number) =>
  `{"${field}":[${'{},'.repeat(Math.floor(bytes / 3))}{}],"next_offset":null}`;
const beside = (rest: string) =>
  `${JSON.stringify(transactionsEnvelope([transaction()])).slice(0, -1)},${rest}}`;
const nested = (levels: number, inside = '1') => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;

const TRANSACTIONS =
  'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash decoded { inputs { value } } } partialErrors } } }';
const COLLECTIBLES =
  'query ($address: Address!) { wallet(address: $address) { collectibles(first: 5000) { nodes { tokenId metadata { attributes { value } } explanations { value } } partialErrors } } }';

type Reply = {
  data: { wallet: Record<'transactions' | 'collectibles', { nodes: unknown[]; partialErrors: unknown }> };
  errors?: { message: string; path: unknown; extensions: { code: string; field?: string } }[];
};

describe('the shipped process over a hostile upstream', () => {
  let shipped: Shipped;
  beforeAll(async () => {
    shipped = await startGatewayProcess({ ...SMALL_HEAP, ...NO_TIMEOUT });
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  const ask = async (answers: { transactions?: Answer; collectibles?: Answer }): Promise<Reply> => {
    const address = freshAddress();
    if (answers.transactions) shipped.fake.transactions.set(address, answers.transactions);
    if (answers.collectibles) shipped.fake.collectibles.set(address, answers.collectibles);
    const query = answers.transactions ? TRANSACTIONS : COLLECTIBLES;
    return (await overHttp(shipped.url, { query, variables: { address } })) as Reply;
  };

  const staysResponsive = async (during: () => Promise<void>) => {
    await using liveness = await watchLiveness(shipped);
    await during();
    expect(await liveness.longestWait()).toBeLessThan(LONGEST_WAIT_MS);
  };

  test.each([
    ['more transactions than were asked for', items('transactions', 900_000)],
    ['a million transactions', items('transactions', 3 * MEGABYTE)],
    ['ten million transactions', items('transactions', 30 * MEGABYTE)],
    ['a list of numbers in a field that is not read', beside(`"other":[${'1e1,'.repeat(1.5 * MEGABYTE)}1]`)],
    ['a million levels in a field that is not read', beside(`"other":${nested(2 * MEGABYTE)}`)],
    ['more than 32 MB', beside(`"other":"${'x'.repeat(33 * MEGABYTE)}"`)],
  ])('rejects %s', async (_what, text) => {
    await staysResponsive(async () => {
      const reply = await ask({ transactions: () => ({ text }) });
      expect(codesOf(reply as never)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    });
  });

  test('the error states how many items were expected, and how many came', async () => {
    const many = Array.from({ length: 251 }, () => collectible());
    const { errors } = await ask({ collectibles: () => ({ json: collectiblesEnvelope(many) }) });
    expect(errors?.[0]?.message).toMatch(/entries: expected at most 250, as requested, got 251/);
  });

  test('reads a large and unusual answer that is within the limits', async () => {
    await staysResponsive(async () => {
      const text = beside(`"other":[${'1e1,'.repeat(800_000)}1],"long":"${'x'.repeat(20 * MEGABYTE)}"`);
      const { data, errors } = await ask({ transactions: () => ({ text }) });
      expect(errors).toBeUndefined();
      expect(data.wallet.transactions.nodes).toHaveLength(1);
    });
  });

  test('reads eight concurrent answers of 24 MB within a heap of 384 MB', async () => {
    const text = beside(`"other":"${'x'.repeat(24 * MEGABYTE)}"`);
    await staysResponsive(async () => {
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => ask({ transactions: () => ({ text }) })),
      );
      for (const reply of replies) expect(reply.data.wallet.transactions.nodes).toHaveLength(1);
    });
  });

  test('reads no more of an error response than its message needs', async () => {
    await staysResponsive(async () => {
      const { errors } = await ask({
        transactions: () => ({ status: 400, text: `["${'x'.repeat(100)}"${',{}'.repeat(10 * MEGABYTE)}]` }),
      });
      expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_REJECTED');
      expect(errors?.[0]?.message.length).toBeLessThan(600);
    });
  });

  test('rejects all items of a malformed page at little cost', async () => {
    await staysResponsive(async () => {
      const bad = (index: number) => ({ token_id: index, metadata: 'x'.repeat(2000) });
      const { data, errors } = await ask({
        collectibles: ({ query }) => {
          const page = Array.from({ length: Number(query.get('limit')) }, (_, index) => bad(index));
          return { json: { entries: page, next_offset: query.has('offset') ? null : 'next' } };
        },
      });
      expect(data.wallet.collectibles.nodes.length).toBeGreaterThan(2000);
      expect(data.wallet.collectibles.nodes.every((node) => node === null)).toBe(true);
      expect(errors).toHaveLength(data.wallet.collectibles.nodes.length);
    });
  });

  test.each([
    ['a decoded value', 'decoded', { name: 'call', inputs: [{ name: 'a', type: 'b', value: '?' }] }],
    ['a field that is none of these', 'to', '?'],
  ])('makes no more than one transaction malformed by %s of 5,000 levels', async (_what, field, value) => {
    const page = transactionsEnvelope([transaction({ [field]: value }), transaction()]);
    const text = JSON.stringify(page).replace('"?"', nested(5000));
    const { data, errors } = await ask({ transactions: () => ({ text }) });
    expect(data.wallet.transactions.nodes).toMatchObject([null, { hash: transaction().hash }]);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
  });

  test.each([
    ['an attribute', { metadata: { uri: null, attributes: [{ key: 'a', value: '?' }] } }],
    ['an explanation', { explanations: [{ feature: 'a', value: '?' }] }],
  ])('makes no more than one collectible malformed by %s of 5,000 levels', async (_what, fields) => {
    const page = collectiblesEnvelope([collectible(fields), collectible({ token_id: '7' })]);
    const text = JSON.stringify(page).replace('"?"', nested(5000));
    const { data, errors } = await ask({ collectibles: () => ({ text }) });
    expect(data.wallet.collectibles.nodes).toMatchObject([null, { tokenId: '7' }]);
    expect(errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_INVALID_RESPONSE', field: expect.stringContaining('entries[0]') } },
    ]);
  });

  test.each([
    ['5,000 levels', nested(5000)],
    ['a million characters', `["${'x'.repeat(MEGABYTE)}"]`],
  ])('leaves out errors of %s with a note, and returns the page', async (_what, problems) => {
    const { data, errors } = await ask({ transactions: () => ({ text: beside(`"errors":${problems}`) }) });
    expect(errors).toBeUndefined();
    expect(data.wallet.transactions.nodes).toHaveLength(1);
    expect(data.wallet.transactions.partialErrors).toEqual({
      errors: 'Upstream sent errors of more than 65536 characters or 200 levels, which are left out.',
    });
  });

  test('has not grown, and logged no error, after all of them', async () => {
    expect(await shipped.megabytes()).toBeLessThan(900);
    expect(shipped.lines.filter((line) => line.startsWith('{"level":"error"'))).toEqual([]);
  });
});

const PAGE =
  'query ($address: Address!, $after: String) { wallet(address: $address) { transactions(first: 1, after: $after) { nodes { hash } pageInfo { endCursor hasNextPage } } } }';
type Transactions = {
  nodes: { hash: string }[];
  pageInfo: { endCursor: string; hasNextPage: boolean };
};
type Page = { wallet: { transactions: Transactions | null } };

const hashesOf = ({ nodes }: Transactions) => nodes.map(({ hash }) => hash);

test.each([60, 3100, 4000])('a walk can continue after a next_offset of %i characters', async (length) => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const next = 'o'.repeat(length);
  const [first, second, third] = [1, 2, 3].map((digit) =>
    transaction({ hash: `0x${String(digit).repeat(64)}` }),
  );
  fake.transactions.set(address, ({ query }) => ({
    json: query.has('offset')
      ? transactionsEnvelope(query.get('offset') === next ? [second, third] : [])
      : { ...transactionsEnvelope([first]), next_offset: next },
  }));
  const pageAfter = async (after: string | null) => {
    const { wallet } = await gateway.data<Page>(PAGE, { address, after });
    if (!wallet.transactions) throw new Error('expected a page');
    return wallet.transactions;
  };
  const hashes: string[] = [];
  let page = await pageAfter(null);
  for (hashes.push(...hashesOf(page)); page.pageInfo.hasNextPage; hashes.push(...hashesOf(page)))
    page = await pageAfter(page.pageInfo.endCursor);
  expect(hashes).toEqual([first?.hash, second?.hash, third?.hash]);
});

test('a next_offset that is too long for a cursor is rejected with its page', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, () => ({
    json: { ...transactionsEnvelope([transaction()]), next_offset: 'o'.repeat(4096) },
  }));
  const { errors } = await gateway.query(PAGE, { address });
  expect(errors).toMatchObject([
    {
      message: expect.stringMatching(/next_offset: expected at most 4096 bytes, got 4096 characters/),
      extensions: { code: 'UPSTREAM_INVALID_RESPONSE' },
    },
  ]);
});

/** An upstream that writes its HTTP responses as raw text. */
const startRawService = async (answer: (socket: Socket) => void) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => answer(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
};

const body = JSON.stringify(transactionsEnvelope([transaction()]));
const FINAL = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n';

test('after interim responses, also byte by byte, the answer is read and the connection is reused', async () => {
  await using service = await startRawService(async (socket) => {
    for (const part of [...HINTS, HINTS + HINTS, FINAL])
      await new Promise((resolve) => socket.write(part, resolve));
  });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url, UPSTREAM_CONNECTIONS: '1' });
  for (let round = 0; round < 3; round += 1) {
    const { data, errors } = await gateway.query<Page>(PAGE, { address: freshAddress() });
    expect(errors).toBeUndefined();
    expect(data?.wallet.transactions?.nodes).toHaveLength(1);
  }
});

test('a 100 Continue that was not asked for fails the request, and is no answer', async () => {
  const unasked = 'HTTP/1.1 100 Continue\r\n\r\n';
  await using service = await startRawService((socket) => void socket.write(unasked + FINAL));
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  expect(codesOf(await gateway.query(PAGE, { address: freshAddress() }))).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test('endless interim responses end the connection', async () => {
  await using service = await startRawService((socket) => void socket.write(HINTS.repeat(1000)));
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  expect(codesOf(await gateway.query(PAGE, { address: freshAddress() }))).toEqual(['UPSTREAM_UNAVAILABLE']);
});
