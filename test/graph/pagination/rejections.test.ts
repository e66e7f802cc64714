import { createHmac, hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { pageAt } from '../../support/clients/walk.ts';
import { codesOf, type GraphQLReply, startGateway } from '../../support/gateway/start.ts';
import {
  addressOf,
  collection,
  freshAddress,
  history,
  numbered,
  transactionsEnvelope,
} from '../../support/upstream/builders.ts';
import { withoutCache } from '../../support/upstream/cache-configs.ts';
import type { Answer } from '../../support/upstream/fake-service.ts';
import { servingCollectibles, servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

const transactions = `query ($address: Address!, $first: Int, $after: String, $chainIds: [ChainId!], $chainTags: [String!]) {
  wallet(address: $address) {
    transactions(first: $first, after: $after, chainIds: $chainIds, chainTags: $chainTags) { nodes { hash } }
  }
}`;

const collectibles = `query ($address: Address!, $first: Int, $after: String, $includeSpam: Boolean = false) {
  wallet(address: $address) {
    collectibles(first: $first, after: $after, includeSpam: $includeSpam) { nodes { tokenId } }
  }
}`;

const SIGNATURE_BYTES = 12;
const CONTRACT = addressOf(0xc011);

const forge = (cursor: string, change: (fields: unknown[]) => void): string => {
  const bytes = Buffer.from(cursor, 'base64url');
  const fields: unknown[] = JSON.parse(bytes.subarray(SIGNATURE_BYTES).toString());
  change(fields);
  const signature = bytes.subarray(0, SIGNATURE_BYTES);
  return Buffer.concat([signature, Buffer.from(JSON.stringify(fields))]).toString('base64url');
};

describe('a cursor is bound to its list and filters', () => {
  const cases = [
    { of: 'another wallet', document: transactions, variables: () => ({ address: freshAddress() }) },
    {
      of: 'other chains',
      document: transactions,
      variables: (address: string) => ({ address, chainIds: [1] }),
    },
    {
      of: 'other tags',
      document: transactions,
      variables: (address: string) => ({ address, chainTags: ['testnet'] }),
    },
    { of: 'another lookup', document: collectibles, variables: (address: string) => ({ address }) },
  ];

  test.each(cases)(
    'used for $of it is INVALID_CURSOR, and nothing is requested',
    async ({ document, variables }) => {
      await using fake = await startFakeWallets();
      await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
      const address = freshAddress();
      fake.transactions.set(address, servingTransactions(history(5)));
      const { pageInfo } = await pageAt(gateway, 'transactions', address, 2);
      const requestsBefore = fake.requests.length;
      const reply = await gateway.query(document, { ...variables(address), after: pageInfo.endCursor });
      expect(codesOf(reply)).toEqual(['INVALID_CURSOR']);
      expect(fake.requests).toHaveLength(requestsBefore);
      expect(reply.extensions.upstream.requests).toBe(0);
    },
  );

  test('the same holds for collectibles with and without spam', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.collectibles.set(address, servingCollectibles(collection(5)));
    const { pageInfo } = await pageAt(gateway, 'collectibles', address, 2);
    const requestsBefore = fake.requests.length;
    const after = pageInfo.endCursor;
    const reply = await gateway.query(collectibles, { address, after, includeSpam: true });
    expect(codesOf(reply)).toEqual(['INVALID_CURSOR']);
    expect(fake.requests).toHaveLength(requestsBefore);
  });

  test.each<[what: string, forged: (cursor: string) => string]>([
    ['another item', (cursor) => forge(cursor, (fields) => fields.splice(2, 2, 'nowhere', 1))],
    ['another page', (cursor) => forge(cursor, (fields) => fields.splice(0, 1, '../../admin'))],
    ['another index', (cursor) => forge(cursor, (fields) => fields.splice(1, 1, 99))],
    ['another signature', (cursor) => `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`],
    [
      'no signature',
      (cursor) => Buffer.from(cursor, 'base64url').subarray(SIGNATURE_BYTES).toString('base64url'),
    ],
    ['no content', (cursor) => cursor.slice(0, 16)],
    ['one bit more', (cursor) => `${cursor}A`],
    ['padding', (cursor) => `${cursor}=`],
  ])('one with %s is INVALID_CURSOR, and nothing is requested', async (_what, forged) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(5)));
    const { pageInfo } = await pageAt(gateway, 'transactions', address, 2);
    fake.requests.length = 0;
    const after = forged(pageInfo.endCursor ?? '');
    expect(codesOf(await gateway.query(transactions, { address, after }))).toEqual(['INVALID_CURSOR']);
    expect(fake.requests).toEqual([]);
    const genuine = await gateway.query(transactions, { address, after: pageInfo.endCursor });
    expect(genuine.errors).toBeUndefined();
  });

  test('a cursor of the first release is accepted on its own list, and continues behind its item', async () => {
    await using fake = await startFakeWallets();
    const secret = 'shared-with-the-first-release';
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, DELIVERY_SECRET: secret });
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(5)));
    const { edges, pageInfo } = await pageAt(gateway, 'transactions', address, 2);
    const content = Buffer.from(pageInfo.endCursor ?? '', 'base64url').subarray(SIGNATURE_BYTES);
    const key = createHmac('sha256', secret).update('cursors').digest();
    const cursorOf = (list: readonly unknown[]): string => {
      const signature = createHmac('sha256', key).update(JSON.stringify(list)).update(content).digest();
      return Buffer.concat([signature.subarray(0, SIGNATURE_BYTES), content]).toString('base64url');
    };
    const after = cursorOf([2, 'transactions', address, null]);
    expect(after).not.toBe(pageInfo.endCursor);
    const rest = await pageAt(gateway, 'transactions', address, 10, after);
    const whole = await pageAt(gateway, 'transactions', address, 10);
    expect([...edges, ...rest.edges]).toEqual(whole.edges);
    const foreign = cursorOf([2, 'transactions', freshAddress(), null]);
    expect(codesOf(await gateway.query(transactions, { address, after: foreign }))).toEqual([
      'INVALID_CURSOR',
    ]);
  });

  test.each([
    ['the next item', 4, (ids: readonly string[]) => ({ identity: `1:${CONTRACT}:${ids[5]}` })],
    ['the next page', 9, () => ({ offset: 'taken from the new cursor' })],
    ['nothing, behind the last item', 19, () => null],
  ])(
    'a cursor of collectibles of an earlier release, which names %s, continues',
    async (_what, index, around) => {
      await using fake = await startFakeWallets();
      const secret = 'the secret that both releases have';
      await using gateway = await startGateway({ UPSTREAM_URL: fake.url, DELIVERY_SECRET: secret });
      const address = freshAddress();
      const items = collection(20);
      const ids = items.map(({ token_id }) => token_id);
      fake.collectibles.set(address, servingCollectibles(items, { by: 'item', sizes: [10] }));
      const { pageInfo } = await pageAt(gateway, 'collectibles', address, index + 1);
      const fields = JSON.parse(
        String(Buffer.from(pageInfo.endCursor ?? '', 'base64url').subarray(SIGNATURE_BYTES)),
      );
      const nextOffset = fields[4][3];
      const earlier = around(ids);
      fields[4] = earlier && 'offset' in earlier ? { offset: nextOffset } : earlier;
      const content = JSON.stringify(fields);
      const key = createHmac('sha256', secret).update('cursors').digest();
      const list = createHmac('sha256', key).update(
        JSON.stringify([3, 'collectibles', address, null, false]),
      );
      const signature = hash('sha256', list.digest('base64url') + content, 'base64url').slice(0, 16);
      const after = signature + Buffer.from(content).toString('base64url');
      const { edges } = await pageAt(gateway, 'collectibles', address, 20, after);
      expect(edges.map((edge) => edge?.node?.key)).toEqual(ids.slice(index + 1));
    },
  );

  test.each([
    ['whose item is there, continues', [0, 1, 2, 3], [2, 3]],
    ['whose item is gone, continues where no other has its time', [0, 2, 3], [2, 3]],
    ['whose item is gone, is CURSOR_EXPIRED where others have its time', [0, 2, 3, 4], 'CURSOR_EXPIRED'],
  ] as const)('a cursor of transactions of an earlier release, %s', async (_what, now, rest) => {
    await using fake = await startFakeWallets();
    const secret = 'the secret that both releases have';
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      DELIVERY_SECRET: secret,
      ...withoutCache.env,
    });
    const address = freshAddress();
    const made = history(4);
    const items = [...made, { ...numbered(9), block_time: String(made[1]?.block_time) }];
    fake.transactions.set(address, servingTransactions(items.slice(0, 4)));
    const { pageInfo } = await pageAt(gateway, 'transactions', address, 2);
    const fields = JSON.parse(
      String(Buffer.from(pageInfo.endCursor ?? '', 'base64url').subarray(SIGNATURE_BYTES)),
    );
    fields[4] = null;
    const content = JSON.stringify(fields);
    const key = createHmac('sha256', secret).update('cursors').digest('base64url');
    const list = JSON.stringify([4, 'transactions', address, null]);
    const signature = hash('sha256', key + list + content, 'base64url').slice(0, 16);
    const after = signature + Buffer.from(content).toString('base64url');
    const left = now.flatMap((index) => items[index] ?? []);
    left.sort((one, other) => other.block_time.localeCompare(one.block_time));
    fake.transactions.set(address, servingTransactions(left));
    const reply = await gateway.query<PageAnswer>(transactions, { address, first: 9, after });
    const hashes = reply.data?.wallet.transactions?.nodes.map((node) => node.hash);
    if (typeof rest === 'string') expect(codesOf(reply)).toEqual([rest]);
    else expect(hashes).toEqual(rest.map((index) => items[index]?.hash));
  });

  test('a cursor of another gateway is accepted only where the two share a secret', async () => {
    await using fake = await startFakeWallets();
    const env = { UPSTREAM_URL: fake.url, DELIVERY_SECRET: 'shared-by-two-gateways' };
    await using gateway = await startGateway(env);
    await using sibling = await startGateway(env);
    await using stranger = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(5)));
    const { pageInfo } = await pageAt(gateway, 'transactions', address, 2);
    const after = pageInfo.endCursor;
    expect((await sibling.query(transactions, { address, after })).errors).toBeUndefined();
    expect(codesOf(await stranger.query(transactions, { address, after }))).toEqual(['INVALID_CURSOR']);
  });

  test.each(['0', '100', 'not a cursor', 'bm9wZQ', '{}', 'e30', '\u0000', 'x'.repeat(5000)])(
    'one that the gateway never made (%j) is INVALID_CURSOR',
    async (after) => {
      await using fake = await startFakeWallets();
      await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
      for (const document of [transactions, collectibles]) {
        expect(codesOf(await gateway.query(document, { address: freshAddress(), after }))).toEqual([
          'INVALID_CURSOR',
        ]);
      }
      expect(fake.requests).toEqual([]);
    },
  );

  test('a truncated cursor is INVALID_CURSOR', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(5)));
    const { pageInfo } = await pageAt(gateway, 'transactions', address, 2);
    const cut = (pageInfo.endCursor ?? '').slice(0, -6);
    expect(codesOf(await gateway.query(transactions, { address, after: cut }))).toEqual(['INVALID_CURSOR']);
  });
});

describe('first has bounds, and beyond them no upstream request is sent', () => {
  const cases = [
    { lookup: 'transactions', document: transactions, first: -1 },
    { lookup: 'transactions', document: transactions, first: 1001 },
    { lookup: 'collectibles', document: collectibles, first: -1 },
    { lookup: 'collectibles', document: collectibles, first: 5001 },
  ];

  test.each(cases)('$lookup(first: $first) is BAD_USER_INPUT', async ({ document, first }) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    expect(codesOf(await gateway.query(document, { address: freshAddress(), first }))).toEqual([
      'BAD_USER_INPUT',
    ]);
    expect(fake.requests).toEqual([]);
  });

  test('a page may have 1000 transactions or 5000 collectibles', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    expect((await gateway.query(transactions, { address, first: 1000 })).errors).toBeUndefined();
    expect((await gateway.query(collectibles, { address, first: 5000 })).errors).toBeUndefined();
  });
});

const page = `query ($address: Address!, $first: Int, $after: String) {
  wallet(address: $address) {
    transactions(first: $first, after: $after) { nodes { hash } pageInfo { endCursor } }
  }
}`;

type PageAnswer = {
  wallet: { transactions: { nodes: { hash: string }[]; pageInfo: { endCursor: string | null } } | null };
};

describe('offsets that go in circles end the walk with UPSTREAM_INVALID_RESPONSE', () => {
  const items = [numbered(2), numbered(1)];
  const selfLoop: Answer = () => ({ json: transactionsEnvelope(items, { next_offset: 'again' }) });
  const emptySelfLoop: Answer = () => ({ json: transactionsEnvelope([], { next_offset: 'again' }) });
  const cycleOfTwo: Answer = ({ query }) => ({
    json: transactionsEnvelope(items, { next_offset: query.get('offset') === 'left' ? 'right' : 'left' }),
  });

  test.each([
    { kind: 'an offset that leads to itself', answer: selfLoop },
    { kind: 'an empty page that leads to itself', answer: emptySelfLoop },
    { kind: 'two offsets that lead to each other', answer: cycleOfTwo },
  ])('$kind', async ({ answer }) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, answer);
    const reply = await gateway.query<{ wallet: { transactions: unknown } }>(transactions, {
      address,
      first: 50,
    });
    expect(codesOf(reply)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    expect(reply.data?.wallet.transactions).toBeNull();
    expect(fake.requests.length).toBeLessThan(10);
  });

  test.each([1, 3, 100])('a circle of twenty pages, walked by %i', async (first) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CACHE_HEAD_MS: '0',
      CACHE_TAIL_MS: '0',
    });
    const address = freshAddress();
    const twenty = history(20);
    fake.transactions.set(address, ({ query }) => {
      const place = Number(query.get('offset') ?? 0);
      const next_offset = String((place + 1) % twenty.length);
      return { json: transactionsEnvelope(twenty.slice(place, place + 1), { next_offset }) };
    });
    const seen: (string | undefined)[] = [];
    let codes: string[] = [];
    for (let after: string | null = null, turn = 0; codes.length === 0 && turn < 60; turn += 1) {
      const reply: GraphQLReply<PageAnswer> = await gateway.query<PageAnswer>(page, {
        address,
        first,
        after,
      });
      codes = codesOf(reply);
      const connection = reply.data?.wallet.transactions;
      seen.push(...(connection?.nodes ?? []).map(({ hash }) => hash));
      after = connection?.pageInfo.endCursor ?? after;
    }
    expect(codes).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('offsets that never end and bring no item end the walk as well', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    let page = 0;
    fake.transactions.set(address, () => {
      page += 1;
      return { json: transactionsEnvelope([], { next_offset: `page-${page}` }) };
    });
    const reply = await gateway.query(transactions, { address, first: 10 });
    expect(reply.status).toBe(200);
    expect(reply.extensions.upstream.requests).toBe(fake.requests.length);
  });
});
