import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type Json, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

/** Token info, token holders and token search. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const UNKNOWN = `0x${'ab'.repeat(20)}`;

/** The contract of a token on a chain. */
const contract = (symbol: string, chainId = 1): string => {
  const found = sandbox.simulator.tokens(new Set([chainId])).find((token) => token.symbol === symbol);
  if (found === undefined) throw new Error(`expected a token ${symbol} on ${chainId}, got none`);
  return found.address;
};

describe('token info', () => {
  const ask = (token: string, query: string) => sandbox.ask(`/v1/evm/token-info/${token}?${query}`);

  test('has one item without an address, with supply and value, for two compute units', async () => {
    const usdc = contract('USDC');
    const answer = await ask(usdc, 'chain_ids=1&historical_prices=24,1');
    expect(answer.json).toEqual({
      contract_address: usdc,
      tokens: [
        {
          chain: 'ethereum',
          chain_id: 1,
          symbol: 'USDC',
          name: 'USD Coin',
          decimals: 6,
          price_usd: expect.closeTo(1, 2),
          historical_prices: [
            { offset_hours: 24, price_usd: expect.any(Number) },
            { offset_hours: 1, price_usd: expect.any(Number) },
          ],
          pool_size: 48_210_330.5,
          total_supply: expect.stringMatching(/^\d+$/),
          fully_diluted_value: expect.any(Number),
          logo: `${sandbox.url}/v1/evm/token/logo/1/${usdc}`,
        },
      ],
    });
    expect(answer.computeUnits).toBe(2);
    const [token] = items(answer, 'tokens');
    const supply = Number(token?.total_supply) / 1e6;
    expect(Number(token?.fully_diluted_value) / supply).toBeCloseTo(Number(token?.price_usd), 10);
  });

  test('of a native asset has no supply and no pool', async () => {
    const answer = await ask('native', 'chain_ids=100');
    expect(answer.json).toEqual({
      contract_address: 'native',
      tokens: [
        {
          chain: 'gnosis',
          chain_id: 100,
          symbol: 'XDAI',
          name: 'xDAI',
          decimals: 18,
          price_usd: expect.closeTo(1, 2),
          logo: `${sandbox.url}/v1/evm/token/logo/100`,
        },
      ],
    });
  });

  test('omits the price of what has no market, testnets among them', async () => {
    for (const [token, chainId] of [
      [contract('MOTH'), 1],
      ['native', 11_155_111],
    ] as const) {
      const [item] = items(await ask(token, `chain_ids=${chainId}&historical_prices=1`), 'tokens');
      expect(item).toMatchObject({ symbol: expect.any(String), decimals: 18 });
      for (const absent of ['price_usd', 'historical_prices', 'fully_diluted_value'])
        expect(item).not.toHaveProperty(absent);
    }
  });

  test('has the price that balances have', async () => {
    const [balance] = items(
      await sandbox.ask(`/v1/evm/balances/${demoAddress('native')}?chain_ids=1&historical_prices=168`),
      'balances',
    );
    const [token] = items(await ask('native', 'chain_ids=1&historical_prices=168'), 'tokens');
    expect([token?.price_usd, token?.historical_prices]).toEqual([
      balance?.price_usd,
      balance?.historical_prices,
    ]);
  });

  test.each([
    ['0x12', 'chain_ids=1', 400, 'Invalid address: expected a hex-encoded address'],
    ['native', 'chain_ids=999999', 400, 'Invalid chain id: 999999'],
    [UNKNOWN, 'chain_ids=1', 404, 'Token not found'],
    ['native', '', 400, expect.stringContaining('chain_ids')],
    ['native', 'chain_ids=1,10', 400, expect.stringContaining('chain_ids')],
    ['native', 'chain_ids=1&historical_prices=1,2,3,4', 400, expect.stringContaining('historical_prices')],
  ])('refuses %s with %s in plain text', async (token, query, status, text) => {
    const answer = await ask(token, query);
    expect([answer.status, answer.text, answer.computeUnits]).toEqual([status, text, 0]);
  });

  test('warns of a chain that it does not cover, unbilled', async () => {
    const answer = await ask('native', 'chain_ids=30');
    expect(answer.json).toMatchObject({ tokens: [], warnings: [{ chain_ids: [30] }] });
    expect(answer.computeUnits).toBe(0);
  });

  test('of an NFT collection is unknown', async () => {
    const nft = items(
      await sandbox.ask(`/v1/evm/collectibles/${demoAddress('collector')}?chain_ids=1&limit=1`),
      'entries',
    );
    expect((await ask(String(nft[0]?.contract_address), 'chain_ids=1')).status).toBe(404);
  });
});

describe('token holders', () => {
  const path = (token: string, query = '', chainId: number | string = 1) =>
    `/v1/evm/token-holders/${chainId}/${token}?${query}`;
  const holders = (answer: Answer) => items(answer, 'holders');

  test('are the greatest first, with their documented fields, for two compute units', async () => {
    const usdc = contract('USDC');
    const answer = await sandbox.ask(path(usdc));
    expect(Object.keys(answer.json ?? {})).toEqual(['token_address', 'chain_id', 'holders']);
    expect(answer.json).toMatchObject({ token_address: usdc, chain_id: 1 });
    expect(answer.computeUnits).toBe(2);
    for (const holder of holders(answer)) {
      expect(holder).toEqual({
        wallet_address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        balance: expect.stringMatching(/^[1-9]\d*$/),
        first_acquired: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
        has_initiated_transfer: expect.any(Boolean),
      });
    }
    const amounts = holders(answer).map(({ balance }) => BigInt(String(balance)));
    expect(amounts).toEqual(amounts.toSorted((one, other) => (one > other ? -1 : 1)));
    expect(new Set(holders(answer).map(({ has_initiated_transfer }) => has_initiated_transfer)).size).toBe(2);
  });

  test('have addresses of mixed case and of lower case', async () => {
    const addresses = holders(await sandbox.ask(path(contract('USDC')))).map(({ wallet_address }) =>
      String(wallet_address),
    );
    const mixed = addresses.filter((address) => address !== address.toLowerCase());
    expect(mixed.length).toBeGreaterThan(20);
    expect(mixed.length).toBeLessThan(addresses.length - 20);
  });

  test.each([1, 50, 500])('in pages of %i are those of one page', async (limit) => {
    const token = contract('FRESH');
    const usdc = contract('USDC', 100);
    for (const [each, chainId] of [
      [token, 1],
      [usdc, 100],
    ] as const) {
      const pages = await walk(sandbox, path(each, `limit=${limit}`, chainId), 'holders');
      expect(pages.flat()).toEqual(holders(await sandbox.ask(path(each, '', chainId))));
    }
  });

  test('move between pages while balances change', async () => {
    await using live = await openSandbox();
    const pages = await walk(live, path(contract('USDC'), 'limit=20'), 'holders', () => {
      for (let block = 0; block < 40; block += 1) live.mine(1);
    });
    const seen = pages.flat().map(({ wallet_address }) => String(wallet_address).toLowerCase());
    const now = holders(await live.ask(path(contract('USDC')))).map(({ wallet_address }) =>
      String(wallet_address).toLowerCase(),
    );
    expect(seen).not.toEqual(now);
    const amounts = pages.flat().map(({ balance }) => BigInt(String(balance)));
    expect(amounts).toEqual(amounts.toSorted((one, other) => (one > other ? -1 : 1)));
  });

  test.each([
    ['0x12', 1, 400, 'BAD_REQUEST'],
    ['native', 1, 400, 'BAD_REQUEST'],
    [UNKNOWN, 1, 404, 'NOT_FOUND'],
    [UNKNOWN, 999_999, 400, 'BAD_REQUEST'],
    [UNKNOWN, 2020, 400, 'BAD_REQUEST'],
    [UNKNOWN, 'ethereum', 400, 'BAD_REQUEST'],
  ])('of %s on %s are refused with a code', async (token, chainId, status, code) => {
    const answer = await sandbox.ask(path(token, '', chainId));
    expect([answer.status, answer.json, answer.computeUnits]).toEqual([
      status,
      { error: { message: expect.any(String), code } },
      0,
    ]);
  });
});

describe('token search', () => {
  const search = async (query: string): Promise<readonly Json[]> => {
    const answer = await sandbox.ask(`/v1/evm/search/tokens?${query}`);
    expect([answer.status, answer.computeUnits]).toEqual([200, 2]);
    return JSON.parse(answer.text);
  };

  test('answers a bare list, ten by default, each with its documented fields', async () => {
    const found = await search('query=tether');
    expect(found).toHaveLength(10);
    for (const token of found)
      expect(token).toEqual({
        chain_id: expect.any(Number),
        address: expect.stringMatching(/^0x[0-9a-f]{40}$/),
        token_type: 'ERC20',
        symbol: 'USDT',
        name: 'Tether USD',
        logo: `${sandbox.url}/v1/evm/token/logo/${token.chain_id}/${token.address}`,
        decimals: 6,
      });
    expect(found[0]?.address).toBe(contract('USDT'));
  });

  test('finds by symbol and name, in any case, by a part of a word and in spite of a typo', async () => {
    for (const query of ['Teth', 'USDT', 'usdt', 'ether usd', '%20%20tether%20', 'tehter usd'])
      expect((await search(`query=${query}&chain_ids=1`)).map(({ symbol }) => symbol)).toContain('USDT');
    expect(await search('query=zzzzzz')).toEqual([]);
    expect(await search(`query=${contract('USDT')}`)).toEqual([]);
  });

  test('covers all chains, or those that are asked for, in a stable order', async () => {
    const found = await search('query=usdt&limit=50');
    const exact = found.filter(({ symbol }) => symbol === 'USDT').map(({ chain_id }) => Number(chain_id));
    expect(exact).toEqual(sandbox.simulator.chains.map(({ id }) => id).toSorted((one, other) => one - other));
    expect(found.slice(0, exact.length).every(({ symbol }) => symbol === 'USDT')).toBe(true);
    const some = await search('query=tether&limit=50&chain_ids=8453,testnet');
    expect(new Set(some.map(({ chain_id }) => chain_id))).toEqual(
      new Set([8453, 164, 10_143, 80_002, 84_532, 11_155_111]),
    );
  });

  test('clamps the limit at both ends', async () => {
    for (const [limit, count] of [
      ['-5', 1],
      ['0', 1],
      ['7', 7],
      ['50', 50],
      ['1000', 50],
    ])
      expect(await search(`query=dust&limit=${limit}`)).toHaveLength(Number(count));
  });

  test('answers fewer than three characters with nothing, and refuses none', async () => {
    for (const query of ['us', 'u', '%20us%20']) expect(await search(`query=${query}`)).toEqual([]);
    for (const query of ['', 'query=', 'query=%20', 'query=usdc&limit=ten', 'query=usdc&chain_ids=base']) {
      const answer = await sandbox.ask(`/v1/evm/search/tokens?${query}`);
      expect([query, answer.status, answer.json]).toEqual([
        query,
        400,
        { error: { message: expect.any(String), code: 'BAD_REQUEST' } },
      ]);
    }
  });
});
