import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FaultRule } from '../../src/backend/http/http.ts';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

const WHALE = `/v1/evm/transactions/${demoAddress('whale')}`;
const COLLECTOR = `/v1/evm/collectibles/${demoAddress('collector')}`;
const path = (name: string, query = '') => `/v1/evm/balances/${demoAddress(name)}?${query}`;

const put = (rules: unknown) => ({ method: 'PUT', body: JSON.stringify({ rules }) });

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ faults: true });
});
afterAll(() => sandbox.stop());
afterEach(() => sandbox.faults.clear());

test('faults can not be injected unless they are switched on', async () => {
  await using sandbox = await openSandbox();
  for (const init of [put([{ path: '/*', status: 503 }]), { method: 'DELETE' }])
    expect((await sandbox.ask('/sandbox/faults', init)).status).toBe(404);
  expect((await sandbox.ask(WHALE)).status).toBe(200);
});

test('a fault answers instead of the operation, as often as its count, and costs nothing', async () => {
  const rule = {
    path: '/v1/evm/transactions/*',
    count: 2,
    status: 429,
    headers: { 'retry-after': '3' },
    body: 'slow',
  };
  expect((await sandbox.ask('/sandbox/faults', put([rule]))).status).toBe(204);
  for (const _ of [1, 2]) {
    const answer = await sandbox.ask(WHALE);
    expect([answer.status, answer.text, answer.computeUnits]).toEqual([429, 'slow', 0]);
    expect(answer.headers.get('retry-after')).toBe('3');
  }
  expect((await sandbox.ask(COLLECTOR)).status).toBe(200);
  expect((await sandbox.ask(WHALE)).status).toBe(200);
  await sandbox.ask('/sandbox/faults', put([{ path: '*', status: 503 }]));
  expect((await sandbox.ask(WHALE)).status).toBe(503);
  await sandbox.ask('/sandbox/faults', { method: 'DELETE' });
  expect((await sandbox.ask(WHALE)).status).toBe(200);
});

test('a fault can delay an answer, and cut it off', async () => {
  await sandbox.ask(
    '/sandbox/faults',
    put([
      { path: WHALE, count: 1, latencyMs: 150 },
      { path: WHALE, cut: true },
    ]),
  );
  const before = performance.now();
  expect((await sandbox.ask(WHALE)).status).toBe(200);
  expect(performance.now() - before).toBeGreaterThan(140);
  await expect(sandbox.ask(WHALE)).rejects.toThrow();
});

test('malformed fault rules are refused, and change nothing', async () => {
  const wrong = [
    { path: '/x', lastOffset: 'null' },
    { path: '/x', failingChains: 1 },
    { path: '/x', short: -1 },
    {},
    { path: 'x' },
    { path: '/x', status: '503' },
    { path: '/x', latencyMs: -1 },
    { path: '/x', kill: 1 },
  ];
  for (const rule of wrong) expect((await sandbox.ask('/sandbox/faults', put([rule]))).status).toBe(400);
  expect((await sandbox.ask('/sandbox/faults', { method: 'PUT', body: 'rules' })).status).toBe(400);
});

describe('faults of lookups', () => {
  const fault = (rule: Omit<FaultRule, 'path'>) => sandbox.faults.set([{ path: '*', ...rule }]);
  const ask = (name: string, query = '') => sandbox.ask(path(name, query));
  const list = (answer: Answer) => items(answer, 'balances');

  test('make a last page say so by null or an empty text', async () => {
    for (const lastOffset of [null, ''] as const) {
      fault({ lastOffset });
      expect((await ask('native')).json).toHaveProperty('next_offset', lastOffset);
      expect((await ask('whale', 'limit=1')).json?.next_offset).toEqual(expect.stringMatching(/./));
    }
  });

  test('make pages short, and let items move between them', async () => {
    const whole = list(await ask('whale'));
    fault({ short: 2 });
    const pages = await walk(sandbox, path('whale', 'limit=5'), 'balances');
    expect(pages[0]).toHaveLength(3);
    expect(pages.flat()).toEqual(whole);
    fault({ shift: -1 });
    const [first, second] = await walk(sandbox, path('whale', 'limit=5'), 'balances');
    expect(second?.[0]).toEqual(first?.at(-1));
    fault({ shift: 1 });
    expect((await walk(sandbox, path('whale', 'limit=5'), 'balances')).flat().length).toBeLessThan(
      whole.length,
    );
  });

  test('make chains fail, whose balances are missing, as the errors say', async () => {
    fault({ failingChains: [100] });
    const answer = await ask('native');
    expect(list(answer).map(({ chain_id }) => chain_id)).toEqual([1, 8453]);
    expect(answer.json?.errors).toEqual({
      error_message: expect.any(String),
      token_errors: [{ chain_id: 100, address: 'native', description: expect.stringContaining('gnosis') }],
    });
    expect((await ask('native', 'chain_ids=1')).json).not.toHaveProperty('errors');
  });

  test.each([
    ['balances/{a}', 503, { message: 'Try again later' }],
    ['balances/{a}/token/native', 500, { message: 'Internal server error' }],
    ['activity/{a}', 500, 'Internal server error'],
    ['token-info/{a}', 500, 'Internal server error'],
    [
      'token-holders/1/{a}',
      500,
      { error: { message: 'Internal server error', code: 'INTERNAL_SERVER_ERROR' } },
    ],
    ['search/tokens', 400, { error: { message: 'Bad request', code: 'BAD_REQUEST' } }],
    ['defi/positions/{a}', 500, { error: 'Internal server error' }],
    ['transactions/{a}', 500, { message: 'Internal server error' }],
    ['collectibles/{a}', 500, { error: 'Internal server error' }],
    ['activity/{a}', 402, { error: expect.stringContaining('quota') }],
    ['token-info/{a}', 429, { error: expect.stringMatching(/^Too many requests\./) }],
  ])('answer %s with %i in the words of who answers', async (template, status, body) => {
    fault({ status });
    const answer = await sandbox.ask(`/v1/evm/${template.replace('{a}', demoAddress('whale'))}`);
    expect([answer.status, answer.computeUnits]).toEqual([status, 0]);
    expect(answer.json ?? answer.text).toEqual(body);
    expect(answer.headers.has('retry-after')).toBe(false);
    fault({ status, headers: { 'retry-after': '3' } });
    const again = await sandbox.ask(`/v1/evm/${template.replace('{a}', demoAddress('whale'))}`);
    expect([again.headers.get('retry-after'), again.text]).toEqual(['3', answer.text]);
  });
});
