import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway/start.ts';
import { index, pageOf } from '../../support/kernel/pages.ts';
import { freshAddress, hashOf, history, transactionsEnvelope } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The memory of pages and of written lists is reused once nothing reads them any longer, and not before. */

test('the memory of a page is that of another once all users have released it', () => {
  const page = index(pageOf(100));
  const { buffer } = page.image;
  page.retain();
  page.retain();
  page.release();
  const beside = index(pageOf(100));
  expect(beside.image.buffer.buffer).not.toBe(buffer.buffer);
  expect(page.identity(0)).toBe(beside.identity(0));
  page.release();
  expect(index(pageOf(101)).image.buffer.buffer).toBe(buffer.buffer);
});

test('a released page can not be read, and a page that is never released stays', () => {
  const page = index(pageOf(100));
  const other = index(pageOf(100));
  page.retain();
  page.release();
  for (let further = 0; further < 20; further += 1) index(pageOf(100 + further));
  expect(() => page.identity(0)).toThrow();
  expect(() => page.json(0)).toThrow();
  expect(() => page.image).toThrow(/released/);
  expect(other.identity(99)).toContain(hashOf(1));
});

test('whichever pages are evicted meanwhile, each wallet has its own items', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway(
    { UPSTREAM_URL: fake.url, CACHE_MAX_MB: '1', CACHE_HEAD_MS: '50' },
    { readPath: 'fast' },
  );
  const wallets = Array.from({ length: 24 }, (_, place) => ({ address: freshAddress(), place }));
  for (const { address, place } of wallets) {
    const data = `0x${String(place).padStart(2, '0').repeat(600)}`;
    const items = history(100).map((item) => ({ ...item, data }));
    fake.transactions.set(address, () => ({ json: transactionsEnvelope(items) }));
  }
  const document = `query ($one: Address!, $other: Address!) {
    one: wallet(address: $one) { transactions(first: 100) { nodes { data } pageInfo { endCursor } } }
    other: wallet(address: $other) { transactions(first: 90) { edges { cursor node { data } } } }
  }`;
  const ask = async (turn: number): Promise<void> => {
    const one = wallets[(turn * 7) % wallets.length] ?? expect.fail();
    const other = wallets[(turn * 5 + 3) % wallets.length] ?? expect.fail();
    const answer = await gateway.query(document, { one: one.address, other: other.address });
    expect(answer.errors).toBeUndefined();
    const data = JSON.stringify(answer.data);
    const counts = wallets.map(
      ({ place }) => data.split(`"0x${String(place).padStart(2, '0').repeat(600)}"`).length - 1,
    );
    const expected = wallets.map((wallet) => (wallet === one ? 100 : 0) + (wallet === other ? 90 : 0));
    expect(counts).toEqual(expected);
  };
  for (let turn = 0; turn < 96; turn += 8)
    await Promise.all(Array.from({ length: 8 }, (_, place) => ask(turn + place)));
});

test('an answer that its client reads late is whole, whatever is answered meanwhile', async () => {
  await using fake = await startFakeWallets();
  // Less than the answer: it is not kept.
  await using gateway = await startGateway(
    { UPSTREAM_URL: fake.url, CACHE_MAX_MB: '8' },
    { readPath: 'fast' },
  );
  const [slow, ...others] = Array.from({ length: 12 }, (_, place) => ({
    address: freshAddress(),
    data: `0x${String(place).padStart(2, '0').repeat(500)}`,
  }));
  for (const { address, data } of [slow, ...others].flatMap((wallet) => wallet ?? [])) {
    const items = history(250).map((item) => ({ ...item, data }));
    fake.transactions.set(address, servingTransactions(items));
  }
  const lists = Array.from(
    { length: 40 },
    (_, alias) => `l${alias}: transactions(first: 250) { nodes { data } }`,
  );
  const many = `query ($address: Address!) { wallet(address: $address) { ${lists.join(' ')} } }`;
  const one = `query ($address: Address!) { wallet(address: $address) { ${lists[0]} } }`;
  const variables = { address: slow?.address };
  const expected = await gateway.query(many, variables);
  const body = JSON.stringify({ query: many, variables });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).pause();
  await once(socket, 'connect');
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  for (let turn = 0; turn < 3; turn += 1)
    for (const { address } of others) await gateway.query(one, { address });
  const received = Buffer.concat(await socket.toArray()).toString();
  const { data } = JSON.parse(received.slice(received.indexOf('\r\n\r\n')));
  expect(data).toEqual(expected.data);
});
