import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type Json, NOON, type OpenSandbox, openSandbox } from './support/sandbox.ts';

/** The balances that the sandbox has, and its spelling of numbers. test/contract/ judges all else. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const path = (name: string, query = '') => `/v1/evm/balances/${demoAddress(name)}?${query}`;
const ask = (name: string, query = '') => sandbox.ask(path(name, query));
const list = (answer: Answer) => items(answer, 'balances');
const bySymbol = (answer: Answer) => new Map(list(answer).map((item) => [item.symbol, item]));
const historyOf = (item: Json | undefined) => (item?.historical_prices ?? []) as readonly Json[];
const symbols = (answer: Answer) => list(answer).map(({ symbol }) => symbol);

describe('the list', () => {
  test('has every field of an ERC-20 that is known, and omits what was not asked for', async () => {
    const usdc = bySymbol(await ask('thin', 'chain_ids=1')).get('USDC');
    expect(usdc).toEqual({
      chain: 'ethereum',
      chain_id: 1,
      address: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      amount: '573000000',
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      price_usd: expect.closeTo(1, 2),
      value_usd: expect.closeTo(573, 0),
      pool_size: 48_210_330.5,
      low_liquidity: false,
    });
    expect(Number(usdc?.value_usd)).toBeCloseTo(573 * Number(usdc?.price_usd), 8);
  });

  test('has the native asset under the word native, without name and pool', async () => {
    const answer = await ask('native', 'metadata=pools');
    expect(list(answer).map(({ chain_id, address, symbol }) => [chain_id, address, symbol])).toEqual([
      [1, 'native', 'ETH'],
      [100, 'native', 'XDAI'],
      [8453, 'native', 'ETH'],
    ]);
    for (const item of list(answer))
      expect(Object.keys(item).sort()).toEqual([
        'address',
        'amount',
        'chain',
        'chain_id',
        'decimals',
        'price_usd',
        'symbol',
        'value_usd',
      ]);
  });

  test('omits price, value, symbol and decimals that are unknown, and has no null anywhere', async () => {
    const answer = await ask('unpriced');
    expect(answer.text).not.toContain('null');
    const nameless = list(answer).filter(({ symbol }) => symbol === undefined);
    expect(nameless).toHaveLength(3);
    for (const item of nameless)
      expect(Object.keys(item).sort()).toEqual(['address', 'amount', 'chain', 'chain_id']);
    for (const symbol of ['MOTH', 'LOTTO']) {
      const item = bySymbol(answer).get(symbol);
      expect(item).toMatchObject({ symbol, decimals: expect.any(Number) });
      expect(item).not.toHaveProperty('price_usd');
      expect(item).not.toHaveProperty('value_usd');
    }
  });

  test('adds logo, url and pools only when they are asked for, and only what is known', async () => {
    const answer = await ask('thin', 'chain_ids=1&metadata=logo,url,pools');
    const [usdc, omega, ether] = ['USDC', 'OMEGA', 'ETH'].map((symbol) => bySymbol(answer).get(symbol));
    expect(usdc?.token_metadata).toEqual({
      logo: `${sandbox.url}/v1/evm/token/logo/1/${usdc?.address}`,
      url: 'https://usdc.example',
    });
    expect(omega?.token_metadata).toEqual({ logo: expect.stringContaining('/token/logo/1/0x') });
    expect(ether?.token_metadata).toEqual({ logo: `${sandbox.url}/v1/evm/token/logo/1` });
    expect(ether).not.toHaveProperty('pool');
    expect(usdc?.pool).toEqual({
      pool_type: 'uniswap_v3',
      address: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      chain_id: 1,
      tokens: [usdc?.address, expect.stringMatching(/^0x[0-9a-f]{40}$/)],
    });
    for (const item of [usdc, ether]) {
      const { logo } = Object(item?.token_metadata);
      expect((await fetch(String(logo))).headers.get('content-type')).toBe('image/svg+xml');
    }
  });

  test('has the prices of earlier hours in the order of the request, without those before the first', async () => {
    const answer = await ask('thin', 'chain_ids=1&historical_prices=720,24,1');
    const hours = (symbol: string) =>
      historyOf(bySymbol(answer).get(symbol)).map(({ offset_hours }) => offset_hours);
    expect(hours('ETH')).toEqual([720, 24, 1]);
    expect(hours('FRESH')).toEqual([24, 1]);
    await using later = await openSandbox({ now: () => NOON + 3_600_000 });
    const now = bySymbol(await ask('thin', 'chain_ids=1')).get('ETH')?.price_usd;
    const then = bySymbol(await later.ask(path('thin', 'chain_ids=1&historical_prices=1'))).get('ETH');
    expect(then?.historical_prices).toEqual([{ offset_hours: 1, price_usd: now }]);
    expect(then?.price_usd).not.toBe(now);
  });

  test('leaves out pools of less than 100 dollars, whatever the price, also by the bare flag', async () => {
    // The pool of OMEGA has more than 100 dollars, so its price of 1e21 is no spam.
    for (const flag of ['exclude_spam_tokens', 'exclude_spam_tokens=true']) {
      const kept = symbols(await ask('thin', `chain_ids=1&${flag}`));
      expect(kept).toEqual(expect.arrayContaining(['ETH', 'OMEGA', 'USDC']));
      expect(kept).not.toContain('ABYSS');
    }
    expect(symbols(await ask('thin', 'chain_ids=1&exclude_spam_tokens=false'))).toContain('ABYSS');
  });

  test('has the stablecoins of each group', async () => {
    const stable = await sandbox.ask(`/v1/evm/balances/${demoAddress('stable')}/stablecoins`);
    expect(symbols(stable).toSorted()).toEqual(
      ['BUSD', 'DAI', 'EURC', 'EURe', 'USDC', 'USDT', 'XDAI', 'sDAI', 'sDAI', 'sUSDe'].toSorted(),
    );
    expect(symbols(await ask('stable'))).toContain('WETH');
  });
});

describe('numbers', () => {
  const digitsOf = (text: string, symbol: string, member: string) =>
    new RegExp(`"symbol":"${symbol}"[^}]*"${member}":([^,}]+)`).exec(text)?.[1];

  test('have 15 digits, and exponents in the forms of the published samples', async () => {
    const { text } = await ask('thin', 'chain_ids=1');
    expect(digitsOf(text, 'OMEGA', 'price_usd')).toBe('1.233346836175539e+21');
    expect(digitsOf(text, 'OMEGA', 'value_usd')).toMatch(/^5\.609261410926\d+e\+31$/);
    expect(digitsOf(text, 'OMEGA', 'pool_size')).toBe('1233.34683617554');
    expect(digitsOf(text, 'ABYSS', 'price_usd')).toBe('9388386012000030000');
    expect(digitsOf(text, 'GRAIN', 'price_usd')).toBe('8.852246853764e-06');
    expect(digitsOf(text, 'ETH', 'price_usd')).toMatch(/^\d{4}\.\d{11}$/);
    expect(digitsOf((await ask('dust', 'chain_ids=8453')).text, 'DUST99', 'price_usd')).toBe('7.65e-05');
  });

  test('of amounts have up to 78 digits', async () => {
    const amounts = list(await ask('dust', 'chain_ids=8453')).map(({ amount }) => String(amount));
    expect(Math.max(...amounts.map(({ length }) => length))).toBeGreaterThanOrEqual(77);
    for (const amount of amounts) expect(amount).toMatch(/^[1-9]\d*$/);
  });
});
