import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type Json, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

/** Tokens of the sandbox: info, holders and search. test/contract/ judges all else. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

/** The contract of a token on a chain. */
const contract = (symbol: string, chainId = 1): string => {
  const found = sandbox.simulator.tokens(new Set([chainId])).find((token) => token.symbol === symbol);
  if (found === undefined) throw new Error(`expected a token ${symbol} on ${chainId}, got none`);
  return found.address;
};

describe('token info', () => {
  const ask = (token: string, query: string) => sandbox.ask(`/v1/evm/token-info/${token}?${query}`);

  test('has one item without an address, with supply and value', async () => {
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

  test('warns of a chain that it does not cover, unbilled', async () => {
    const answer = await ask('native', 'chain_ids=30');
    expect(answer.json).toMatchObject({ tokens: [], warnings: [{ chain_ids: [30] }] });
    expect(answer.computeUnits).toBe(0);
  });

  test('of an NFT collection is what it is called', async () => {
    const nft = items(
      await sandbox.ask(`/v1/evm/collectibles/${demoAddress('collector')}?chain_ids=1&limit=1`),
      'entries',
    );
    const { json } = await ask(String(nft[0]?.contract_address), 'chain_ids=1');
    expect(json?.tokens).toEqual([
      expect.objectContaining({ symbol: expect.any(String), name: expect.any(String), decimals: 0 }),
    ]);
    expect(json?.tokens).toEqual([expect.not.objectContaining({ total_supply: expect.anything() })]);
  });
});

describe('token holders', () => {
  const path = (token: string, query = '', chainId: number | string = 1) =>
    `/v1/evm/token-holders/${chainId}/${token}?${query}`;
  const holders = (answer: Answer) => items(answer, 'holders');

  test('have nothing but their documented fields, and some have never sent any', async () => {
    const answer = await sandbox.ask(path(contract('USDC')));
    expect(Object.keys(answer.json ?? {})).toEqual(['token_address', 'chain_id', 'holders']);
    for (const holder of holders(answer)) {
      expect(holder).toEqual({
        wallet_address: expect.any(String),
        balance: expect.stringMatching(/^[1-9]\d*$/),
        first_acquired: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
        has_initiated_transfer: expect.any(Boolean),
      });
    }
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
});

describe('token search', () => {
  const search = async (query: string): Promise<readonly Json[]> => {
    const answer = await sandbox.ask(`/v1/evm/search/tokens?${query}`);
    expect(answer.status).toBe(200);
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

  test('finds at most 50', async () => {
    expect(await search('query=dust&limit=1000')).toHaveLength(50);
    expect(await search('query=dust&limit=7')).toHaveLength(7);
  });
});
