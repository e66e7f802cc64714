import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import {
  type Answer,
  items,
  type Json,
  NOON,
  type OpenSandbox,
  openSandbox,
  walk,
} from './support/sandbox.ts';

/** Balances: the list, the list of stablecoins, and one balance. */

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
  test('has the documented envelope, with times of no digits of a second or nine', async () => {
    await using late = await openSandbox({ now: () => NOON + 364 });
    const at = (answer: Answer) => [answer.json?.request_time, answer.json?.response_time];
    const answer = await ask('native');
    expect(Object.keys(answer.json ?? {}).sort()).toEqual([
      'balances',
      'request_time',
      'response_time',
      'wallet_address',
    ]);
    expect(answer.json?.wallet_address).toBe(demoAddress('native'));
    expect(at(answer)).toEqual(Array(2).fill('2026-06-01T12:00:00+00:00'));
    expect(at(await late.ask(path('native')))).toEqual(Array(2).fill('2026-06-01T12:00:00.364000000+00:00'));
  });

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

  test('filters by kind, by class, by liquidity and by price', async () => {
    expect(symbols(await ask('thin', 'chain_ids=1&filters=native'))).toEqual(['ETH']);
    expect(symbols(await ask('thin', 'chain_ids=1&filters=erc20'))).not.toContain('ETH');
    expect(symbols(await ask('thin', 'chain_ids=1&filters=erc20,native'))).toHaveLength(6);
    // The pool of OMEGA has more than 100 dollars, so its price of 1e21 is no spam.
    for (const flag of ['exclude_spam_tokens', 'exclude_spam_tokens=true']) {
      const kept = symbols(await ask('thin', `chain_ids=1&${flag}`));
      expect(kept).toEqual(expect.arrayContaining(['ETH', 'OMEGA', 'USDC']));
      expect(kept).not.toContain('ABYSS');
    }
    expect(symbols(await ask('thin', 'chain_ids=1&exclude_spam_tokens=false'))).toContain('ABYSS');
    expect(list(await ask('unpriced', 'exclude_unpriced=true'))).toEqual([]);
  });

  test('has the stablecoins of each group, by a path of their own and by their class', async () => {
    const stable = await sandbox.ask(`/v1/evm/balances/${demoAddress('stable')}/stablecoins`);
    expect(symbols(stable).toSorted()).toEqual(
      ['BUSD', 'DAI', 'EURC', 'EURe', 'USDC', 'USDT', 'XDAI', 'sDAI', 'sDAI', 'sUSDe'].toSorted(),
    );
    expect(list(await ask('stable', 'asset_class=stablecoin'))).toEqual(list(stable));
    expect(symbols(await ask('stable'))).toContain('WETH');
    expect(stable.computeUnits).toBe(14);
  });

  test('costs one compute unit for each chain that it covers', async () => {
    for (const [query, cost] of [
      ['', 14],
      ['chain_ids=1', 1],
      ['chain_ids=1,8453,1', 2],
      ['chain_ids=1,999999', 1],
      ['chain_ids=999999', 0],
      ['chain_ids=default,5000', 15],
      ['chain_ids=1&limit=1&metadata=logo,pools&historical_prices=1,2,3', 1],
    ] as const)
      expect([query, (await ask('whale', query)).computeUnits]).toEqual([query, cost]);
  });

  test('warns of chains that it does not cover, and answers for the others', async () => {
    const answer = await ask('native', 'chain_ids=1,9999,77777777777');
    expect(answer.json?.warnings).toEqual([
      {
        code: 'UNSUPPORTED_CHAIN_IDS',
        message:
          'Some requested chain_ids are not supported. Balances are returned only for supported chains.',
        chain_ids: [9999, 77_777_777_777],
        docs_url: `${sandbox.url}/v1/evm/supported-chains`,
      },
    ]);
    expect(list(answer)).toHaveLength(1);
  });

  test('refuses what it can not read', async () => {
    const refused = await sandbox.ask('/v1/evm/balances/vitalik.eth');
    expect([refused.status, refused.json]).toEqual([400, { message: 'Failed to parse address' }]);
    for (const query of [
      'filters=erc721',
      'asset_class=nft',
      'historical_prices=1,2,3,4',
      'historical_prices=0',
      'historical_prices=1.5',
      'metadata=everything',
      'chain_ids=ethereum',
    ]) {
      const answer = await ask('whale', query);
      expect([query, answer.status, answer.computeUnits]).toEqual([query, 400, 0]);
      expect(answer.json).toEqual({ message: expect.stringContaining(query.split('=')[0] ?? '') });
    }
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

describe('pages', () => {
  const identity = ({ chain_id, address }: Json) => `${chain_id}/${address}`;

  test('of 2,500 balances are three, have each once, and end without an offset', async () => {
    const pages = await walk(sandbox, path('dust'), 'balances');
    expect(pages.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(new Set(pages.flat().map(identity)).size).toBe(2_500);
  });

  test.each([1, 3, 7, 1_000, 5_000])('of %i have what one page has', async (limit) => {
    const whole = list(await ask('whale'));
    const pages = await walk(sandbox, path('whale', `limit=${limit}`), 'balances');
    expect(pages.flat()).toEqual(whole);
    expect(pages.slice(0, -1).every((page) => page.length === Math.min(limit, 1_000))).toBe(true);
  });

  test('neither repeat nor miss a balance while others change', async () => {
    await using live = await openSandbox();
    const pages = await walk(live, path('metronome', 'limit=5'), 'balances', () => live.tick());
    const whole = list(await live.ask(path('metronome')));
    expect(pages.flat().map(identity)).toEqual(whole.map(identity));
  });

  test('go on only by an offset of the same list', async () => {
    const first = await ask('whale', 'limit=5');
    const offset = String(first.json?.next_offset);
    const second = list(await ask('whale', `limit=5&offset=${offset}`));
    expect(second).not.toEqual(list(first));
    for (const wrong of ['0', 'x', `${offset}A`, `B${offset.slice(1)}`])
      expect(list(await ask('whale', `limit=5&offset=${wrong}`))).toEqual(list(first));
    const native = await ask('whale', `limit=5&filters=native&offset=${offset}`);
    expect(list(native)).toEqual(list(await ask('whale', 'limit=5&filters=native')));
  });
});

describe('one balance', () => {
  const one = (name: string, token: string, query: string) =>
    sandbox.ask(`/v1/evm/balances/${demoAddress(name)}/token/${token}?${query}`);

  test('is the item of the list, for one compute unit', async () => {
    for (const item of list(await ask('stable', 'metadata=logo&historical_prices=24'))) {
      const query = `chain_ids=${item.chain_id}&metadata=logo&historical_prices=24`;
      const answer = await one('stable', String(item.address), query);
      expect([list(answer), answer.computeUnits]).toEqual([[item], 1]);
      expect(answer.json).not.toHaveProperty('next_offset');
    }
  });

  test('is empty when the wallet does not hold the token, or nobody knows it', async () => {
    const [usdc] = list(await ask('thin', 'chain_ids=1&filters=erc20'));
    for (const token of [String(usdc?.address), `0x${'ab'.repeat(20)}`]) {
      const answer = await one('native', token, 'chain_ids=1');
      expect([answer.status, list(answer), answer.computeUnits]).toEqual([200, [], 1]);
    }
    expect(list(await one('empty', 'native', 'chain_ids=1'))).toEqual([]);
  });

  test('needs exactly one chain', async () => {
    for (const query of ['', 'chain_ids=1,10', 'chain_ids=default', 'chain_ids=']) {
      const answer = await one('native', 'native', query);
      expect([answer.status, answer.json]).toEqual([400, { message: expect.stringContaining('chain_ids') }]);
    }
    const unsupported = await one('native', 'native', 'chain_ids=999999');
    expect([unsupported.status, unsupported.computeUnits]).toEqual([200, 0]);
    expect(unsupported.json?.warnings).toHaveLength(1);
    expect((await one('native', '0x12', 'chain_ids=1')).json).toEqual({ message: 'Failed to parse address' });
  });
});
