import { expect, test } from 'vitest';
import type { ChainStatus, Source } from '../../src/backend/source.ts';
import type { ListedTransaction, Token } from '../../src/backend/types.ts';
import { startGateway } from '../support/gateway/start.ts';
import {
  ALICE,
  APES,
  BASE,
  MAINNET,
  simulator,
  transaction,
  transfer,
  USDC,
  WETH,
  wallet,
} from './dispatch/support/builders.ts';
import { items, type Json } from './support/sandbox.ts';
import { HOLDING, later, openSource as open } from './support/source.ts';

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
        items: [USDC, WETH, wallet('777')].map((address) => ({
          ...{ chain: MAINNET, token: address, amount: 1n, place: [address] },
        })),
        next: null,
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
        items: [{ chain: MAINNET, token: null, amount: 5n, place: [1] }],
        next: null,
        failed: [{ chainId: BASE.id, reason: null }],
      }),
  });
  const { status, json } = await service.ask(`/v1/evm/balances/${ALICE}?chain_ids=1,8453`);
  expect([status, (json.balances as readonly Json[]).length]).toEqual([200, 1]);
  expect(json.errors).toMatchObject({ token_errors: [{ chain_id: BASE.id }] });
});

const LISTED: ListedTransaction = {
  ...transaction(),
  ...{ blockHash: null, gasPrice: null, gasUsed: null, effectiveGasPrice: null, fee: null, type: null },
  logs: null,
};
const FAILED = [{ chainId: BASE.id, reason: 'it did not answer within 8 s' }];
const found = <Item>(...items: readonly Item[]) => later({ items, next: null, failed: FAILED });
const noApprovals = () => later({ items: [], next: null, failed: FAILED, unread: [] });

test.each<[string, string, Partial<Source>]>([
  ['transactions', 'The transactions', { transactions: () => found({ transaction: LISTED, place: [1] }) }],
  ['activity', 'The activities', { effects: () => found({ transaction: transaction(), place: [1] }) }],
  ['collectibles', 'The collectibles', { holdings: () => found(HOLDING) }],
  ['approvals', 'The approvals', { approvals: noApprovals }],
])(
  '%s of the other chains come with a warning that names one that could not be read',
  async (path, subject, source) => {
    await using service = await open(source);
    const { status, json } = await service.ask(`/v1/evm/${path}/${ALICE}?chain_ids=1,8453`);
    expect([status, json.warnings]).toEqual([
      200,
      [
        {
          code: 'CHAIN_UNAVAILABLE',
          message: `${subject} of base could not be read: it did not answer within 8 s`,
          chain_ids: [BASE.id],
        },
      ],
    ]);
  },
);

test.each<[string, Partial<Source>]>([
  [`transactions/${ALICE}?chain_ids=8453`, { transactions: () => found() }],
  [`activity/${ALICE}?chain_ids=8453`, { effects: () => found() }],
  [`collectibles/${ALICE}?chain_ids=8453`, { holdings: () => found() }],
  [`approvals/${ALICE}?chain_ids=8453`, { approvals: noApprovals }],
  ['search/tokens?query=usdc&chain_ids=8453', { search: () => later({ tokens: [], failed: FAILED }) }],
])('%s is refused where nothing could be read: it would look empty', async (path, source) => {
  await using service = await open(source);
  const response = await fetch(`${service.url}/v1/evm/${path}`, { headers: { 'x-service-api-key': 'key' } });
  expect([response.status, Number(response.headers.get('retry-after')) > 2]).toEqual([503, true]);
  expect(await response.text()).toContain('of base could not be read: it did not answer within 8 s');
});

test('a transaction says nothing of what is not known of it, and no logs that were not asked for', async () => {
  const asked: (readonly string[])[] = [];
  await using service = await open({
    transactions: (_wallet, _chainIds, _limit, _start, details) => {
      asked.push([...details]);
      return later({ items: [{ transaction: LISTED, place: [1] }], next: null });
    },
  });
  for (const query of ['', '&logs=false', '&logs=false&block_hash=false']) {
    const answer = await service.ask(`/v1/evm/transactions/${ALICE}?chain_ids=1${query}`);
    const [item] = items(answer, 'transactions');
    expect(item).toMatchObject({ gas_price: null, gas_used: null, fee: null, transaction_type: null });
    expect(item).not.toHaveProperty('logs');
  }
  expect(asked).toEqual([['logs', 'block_hash'], ['block_hash'], []]);
});

test('the activity of a transaction that is known by a transfer alone has none of its own members', async () => {
  const seen = { ...transaction({ effects: [transfer()] }), from: null, to: null, value: null, data: null };
  await using service = await open({
    effects: () => later({ items: [{ transaction: seen, place: [1] }], next: null }),
  });
  const [item, ...others] = items(await service.ask(`/v1/evm/activity/${ALICE}?chain_ids=1`), 'activity');
  expect([item?.type, others]).toEqual(['send', []]);
  for (const absent of ['tx_from', 'tx_to', 'tx_value']) expect(item).not.toHaveProperty(absent);
});

test('what is flagged as spam is spam, and when something was acquired is left out where it is not known', async () => {
  const flagged = { ...(simulator.token(1, WETH) as Token), flagged: true, marketCapUsd: 7 };
  await using service = await open({
    token: (_chainId, address) => (address === WETH ? flagged : simulator.token(1, address)),
    balances: () =>
      later({
        items: [USDC, WETH].map((token) => ({ chain: MAINNET, token, amount: 1n, place: [token] })),
        next: null,
      }),
    supply: () => later(5n),
    holdings: () => later({ items: [{ ...HOLDING, acquiredAt: null }], next: null }),
    holders: () =>
      later({
        items: [{ account: ALICE, amount: 5n, acquiredAt: null, hasSent: null, place: [1] }],
        next: null,
        isWhole: true,
      }),
  });
  const balances = await service.ask(`/v1/evm/balances/${ALICE}?chain_ids=1&exclude_spam_tokens=true`);
  expect(items(balances, 'balances').map(({ address }) => address)).toEqual([USDC]);
  const [held] = items(await service.ask(`/v1/evm/collectibles/${ALICE}?chain_ids=1`), 'entries');
  expect(held).not.toHaveProperty('last_acquired');
  const [holder] = items(await service.ask(`/v1/evm/token-holders/1/${WETH}`), 'holders');
  expect(holder).toEqual({ wallet_address: expect.stringMatching(/a11ce$/i), balance: '5' });
  const [token] = items(await service.ask(`/v1/evm/token-info/${WETH}?chain_ids=1`), 'tokens');
  expect(token).toMatchObject({ market_cap: 7, total_supply: '5' });
});

test('a page ends where more of it would cost a source another request', async () => {
  const pages: (readonly (string | number)[] | null)[] = [];
  await using service = await open({
    holdings: (_wallet, _chainIds, { after }) => {
      pages.push(after);
      const at = Number(after?.[0] ?? 0) + 1;
      const item = { ...HOLDING, tokenId: BigInt(at), place: [at] };
      return later({ items: [item], next: at < 3 ? [at] : null, isEnough: true });
    },
  });
  const ids: unknown[] = [];
  for (let offset = ''; ; ) {
    const answer = await service.ask(`/v1/evm/collectibles/${ALICE}?chain_ids=1${offset}`);
    ids.push(...items(answer, 'entries').map(({ token_id }) => token_id));
    if (answer.json.next_offset === undefined) break;
    offset = `&offset=${answer.json.next_offset}`;
  }
  expect([ids, pages]).toEqual([
    ['1', '2', '3'],
    [null, [1], [2]],
  ]);
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
      const items = all.slice(first, first + limit);
      return later({ items, next: first + limit < 100 ? (items.at(-1)?.place ?? null) : null });
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

test('an empty list of which only a part could not be read is an answer that says so', async () => {
  const failed = [{ chainId: MAINNET.id, reason: 'a contract was not asked', isPart: true }];
  await using service = await open({ holdings: () => later({ items: [], next: null, failed }) });
  const { status, json } = await service.ask(`/v1/evm/collectibles/${ALICE}?chain_ids=${MAINNET.id}`);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    entries: [],
    warnings: [{ code: 'CHAIN_UNAVAILABLE', message: expect.stringContaining('a contract was not asked') }],
  });
});

test('transactions and activities are walked by places that only the source understands', async () => {
  const places = [3, 2, 1].map((at) => [`t${at}`, 'x', at]);
  const all = places.map((place, at) => ({
    place,
    transaction: transaction({ nonce: 3 - at, data: '0x00' }),
  }));
  const list: Source['transactions'] & Source['effects'] = (_wallet, _chainIds, limit, start) => {
    const from = start === null ? 0 : places.findIndex((place) => `${place}` === `${start.place}`);
    const first = start === null || start.including ? from : from + 1;
    const items = all.slice(first, first + limit);
    return later({ items, next: first + limit < all.length ? (items.at(-1)?.place ?? null) : null });
  };
  await using service = await open({ transactions: list, effects: list });
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
