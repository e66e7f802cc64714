import { expect, test } from 'vitest';
import { createMemoryStore } from '../../src/backend/dispatch/memory-store.ts';
import { startService } from '../../src/backend/server.ts';
import type { ChainStatus, Holding, Source } from '../../src/backend/source.ts';
import type { Token } from '../../src/backend/types.ts';
import { startGateway } from '../support/gateway/start.ts';
import {
  ALICE,
  APES,
  BASE,
  MAINNET,
  simulator,
  transaction,
  USDC,
  WETH,
  wallet,
} from './dispatch/support/builders.ts';
import { items, type Json } from './support/sandbox.ts';

/** Resolves later, as what is asked from a node does. */
const later = <T>(value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, 1, value));

const UNKNOWN = { trades: null, buyers: null, sellers: null, flagged: null };

const HOLDING: Holding = {
  ...{ chain: MAINNET, contract: APES, standard: 'erc721', symbol: null, tokenId: 7n, balance: 1n },
  ...{ acquiredAt: 0, soldFor: null, place: [1] },
};

/** What a source says that knows little, and that has to be waited for. */
const sourceOf = (source: Partial<Source> = {}): Source => ({
  ...simulator,
  operations: [],
  changes: null,
  protocols: [],
  transactions: () => later({ transactions: [], hasMore: false }),
  transaction: () => later(null),
  revert: () => later({ message: null, data: null, decoded: null }),
  holdings: () => later({ items: [HOLDING], next: null, failed: [] }),
  metadata: () => later(null),
  collection: () => later({ name: null, symbol: null, launchedAt: null, reputation: UNKNOWN, uri: null }),
  balances: () => later({ items: [], next: null, failed: [] }),
  approvals: () => later({ items: [], next: null, failed: [] }),
  holders: () => later(null),
  pool: () => null,
  supply: () => later(null),
  tokens: () => later([]),
  overstated: () => later(new Set()),
  defiPositions: () => later([]),
  status: () => [],
  beginning: () => null,
  onBlock() {},
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  ...source,
});

const open = async (source: Partial<Source> = {}) => {
  const service = await startService(sourceOf(source), {
    apiKey: 'key',
    store: createMemoryStore(Date.now),
  });
  const ask = async (path: string): Promise<{ status: number; json: Json }> => {
    const response = await fetch(`${service.url}${path}`, { headers: { 'x-service-api-key': 'key' } });
    return { status: response.status, json: (await response.json()) as Json };
  };
  return { ask, url: service.url, [Symbol.asyncDispose]: () => service.stop() };
};

test('a collection without any signal is no spam, and what is unknown of it is left out', async () => {
  await using service = await open();
  const answer = await service.ask(`/v1/evm/collectibles/${ALICE}?show_spam_scores=true`);
  expect(items(answer, 'entries')).toEqual([
    {
      ...{ contract_address: APES, token_standard: 'ERC721', token_id: '7', chain: 'ethereum', chain_id: 1 },
      ...{ is_spam: false, spam_score: 0, explanations: [], balance: '1' },
      last_acquired: '1970-01-01T00:00:00.000Z',
    },
  ]);
});

test('a token is no spam because its pool is unknown, but because the token itself is', async () => {
  const { poolSizeUsd: _, ...token } = simulator.token(1, USDC) as Token;
  await using service = await open({
    token: (_chainId, address) => (address === USDC ? token : simulator.token(1, address)),
    balances: () =>
      later({
        items: [USDC, WETH, wallet('777')].map((address) => ({ chain: MAINNET, token: address, amount: 1n })),
        next: null,
        failed: [],
      }),
  });
  const answer = await service.ask(`/v1/evm/balances/${ALICE}?exclude_spam_tokens=true`);
  const [usdc, ...others] = items(answer, 'balances');
  expect(usdc).toMatchObject({ address: USDC, amount: '1' });
  expect(usdc).not.toHaveProperty('low_liquidity');
  expect(usdc).not.toHaveProperty('pool_size');
  expect(others.map(({ address }) => address)).toEqual([WETH]);
});

test('the chains whose balances could not be read are named, beside the balances of the others', async () => {
  await using service = await open({
    balances: () =>
      later({
        items: [{ chain: MAINNET, token: null, amount: 5n }],
        next: null,
        failed: [BASE.id],
      }),
  });
  const { status, json } = await service.ask(`/v1/evm/balances/${ALICE}?chain_ids=1,8453`);
  expect([status, (json.balances as readonly Json[]).length]).toEqual([200, 1]);
  expect(json.errors).toMatchObject({ token_errors: [{ chain_id: BASE.id }] });
});

const INDEX = {
  ...{ head: 12, headTime: Date.UTC(2026, 5, 1, 12), indexedFrom: 3, indexedTo: 10, behind: 2 },
  traces: { behind: 1, problem: 'no traces' },
};

test.each<[string, ChainStatus, object, number]>([
  [
    'is followed',
    { chainId: 1, index: INDEX, problem: null },
    { ...INDEX, headTime: '2026-06-01T12:00:00+00:00' },
    200,
  ],
  [
    'is not followed now',
    { chainId: 1, index: INDEX, problem: 'no answer' },
    { ...INDEX, headTime: '2026-06-01T12:00:00+00:00', problem: 'no answer' },
    503,
  ],
  ['was never reached', { chainId: 1, index: null, problem: 'no answer' }, { problem: 'no answer' }, 503],
  ['has no block yet', { chainId: 1, index: null, problem: null }, {}, 503],
])('a chain that %s is shown so in the list of chains and in /health', async (_, status, index, health) => {
  await using service = await open({ status: () => [status] });
  const [listed, other] = items(await service.ask('/v1/evm/supported-chains'), 'chains');
  expect([listed?.index, other]).toEqual([index, expect.not.objectContaining({ index: expect.anything() })]);
  const answer = await service.ask('/health');
  expect(answer.status).toBe(health);
  expect(answer.json.chains).toEqual([{ chain_id: 1, index }]);
  if (health === 503) expect(answer.json.problems).toEqual([expect.stringMatching(/^chain 1: ./)]);
});

test('a page that would be larger than clients take is shorter, and the walk goes on behind it', async () => {
  const data = `0x${'5a'.repeat(170_000)}` as const;
  const all = Array.from({ length: 100 }, (_, at) => ({
    place: [99 - at],
    transaction: transaction({ hash: `0x${String(at).padStart(64, '0')}`, blockNumber: 99 - at, data }),
  }));
  const sizes: number[] = [];
  await using service = await open({
    transactions: (_wallet, _chainIds, limit, start) => {
      const first = start === null ? 0 : 100 - Number(start.place[0]);
      return later({ transactions: all.slice(first, first + limit), hasMore: first + limit < 100 });
    },
  });
  for (let offset = ''; ; ) {
    const answer = await service.ask(`/v1/evm/transactions/${ALICE}?limit=100${offset}`);
    sizes.push(items(answer, 'transactions').length);
    if (answer.json.next_offset === undefined) break;
    offset = `&offset=${answer.json.next_offset}`;
  }
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
  expect(Math.max(...sizes) * 2 * 170_000).toBeLessThan(8_000_000);

  await using gateway = await startGateway({ UPSTREAM_URL: service.url, UPSTREAM_API_KEY: 'key' });
  const { wallet: found } = await gateway.data<{ wallet: { transactions: { nodes: { hash: string }[] } } }>(
    `{ wallet(address: "${ALICE}") { transactions(first: 100) { nodes { hash } } } }`,
  );
  expect(found.transactions.nodes.map(({ hash }) => hash)).toEqual(all.map((each) => each.transaction.hash));
});

test('transactions and activities are walked by places that only the source understands', async () => {
  const places = [3, 2, 1].map((at) => [`t${at}`, 'x', at]);
  const all = places.map((place, at) => ({
    place,
    transaction: transaction({ nonce: 3 - at, data: '0x00' }),
  }));
  await using service = await open({
    transactions: (_wallet, _chainIds, limit, start) => {
      const from = start === null ? 0 : places.findIndex((place) => `${place}` === `${start.place}`);
      const first = start === null || start.including ? from : from + 1;
      return later({
        transactions: all.slice(first, first + limit),
        hasMore: first + limit < all.length,
      });
    },
  });
  for (const [lookup, member] of [
    ['transactions', 'transactions'],
    ['activity', 'activity'],
  ] as const) {
    const pages: number[] = [];
    let offset = '';
    do {
      const answer = await service.ask(`/v1/evm/${lookup}/${ALICE}?limit=1${offset}`);
      pages.push(items(answer, member).length);
      offset = answer.json.next_offset === undefined ? '' : `&offset=${answer.json.next_offset}`;
    } while (offset !== '');
    expect(pages).toEqual([1, 1, 1]);
  }
});
