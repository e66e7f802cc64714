import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type Json, type OpenSandbox, openSandbox } from './support/sandbox.ts';

/** DeFi positions, the protocols that have them, and the chains that each lookup covers. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const ask = (name: string, query = '') => sandbox.ask(`/v1/evm/defi/positions/${demoAddress(name)}?${query}`);
const list = (answer: Answer) => items(answer, 'positions');

/** The fields of each type beside those that all have, as the documents list them. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Erc4626: [
    'protocol',
    'token',
    'underlying_token',
    'balance',
    'price_usd',
    'preview_redeem',
    'convert_to_assets',
  ],
  Tokenized: ['token_type', 'token', 'underlying_token', 'lending_pool', 'balance', 'price_usd'],
  UniswapV2: ['protocol', 'pool', 'token0', 'token1', 'lp_balance', 'balance', 'price_usd'],
  Nft: ['protocol', 'pool', 'token0', 'token1', 'positions'],
  NftV4: ['protocol', 'pool_id', 'pool_manager', 'salt', 'token0', 'token1', 'positions'],
  CompoundV2: ['protocol', 'comptroller', 'token', 'underlying_token', 'supply', 'borrow'],
  Moonwell: ['comptroller', 'token', 'underlying_token', 'supply'],
  CompoundV3: ['token', 'underlying_token', 'supply', 'collateral', 'claimable_rewards'],
  Morpho: ['morpho', 'market_id', 'loan_token', 'collateral_token', 'borrow', 'collateral_quote'],
  Pendle: ['token_type', 'token', 'asset', 'market', 'balance', 'price_usd'],
  FluidVault: ['vault_address', 'nft_id', 'vault_type', 'is_liquidated', 'supply0', 'borrow0'],
  VeNft: [
    'protocol',
    've_contract',
    'token_id',
    'underlying_token',
    'locked_amount',
    'lock_end',
    'is_permanent',
  ],
  BalancerV3: ['protocol', 'pool', 'pool_name', 'pool_symbol', 'tokens', 'balance'],
  LiquityV2Trove: [
    'protocol',
    'trove_manager',
    'trove_id',
    'collateral_token',
    'debt_token',
    'collateral',
    'debt',
  ],
  LiquityV2StabilityPool: [
    'protocol',
    'stability_pool',
    'deposit_token',
    'collateral_token',
    'compounded_deposit',
    'yield_gain',
    'coll_gain',
    'stashed_coll',
  ],
};

describe('positions', () => {
  test('are of every documented type, with its fields, and of one that nobody knows', async () => {
    const found = list(await ask('defi'));
    expect(new Set(found.map(({ type }) => type))).toEqual(new Set([...Object.keys(FIELDS), 'LidoStEth']));
    for (const { type, chain, chain_id, logo, value_usd, ...fields } of found) {
      expect([chain, chain_id, logo, typeof value_usd]).toEqual([
        expect.any(String),
        expect.any(Number),
        null,
        'number',
      ]);
      const known = FIELDS[String(type)];
      if (known !== undefined) expect([type, Object.keys(fields).sort()]).toEqual([type, known.toSorted()]);
    }
  });

  test('say a debt by its token type, and ranges of ticks within one pool', async () => {
    const found = list(await ask('defi'));
    const tokenTypes = found.flatMap(({ type, token_type }) => (type === 'Tokenized' ? [token_type] : []));
    expect(tokenTypes).toEqual(['AtokenV3', 'AaveV3VariableDebt']);
    const ranges = found.filter(({ type }) => type === 'Nft').flatMap(({ positions }) => positions as Json[]);
    expect(ranges).toHaveLength(3);
    for (const range of ranges)
      expect(range).toMatchObject({
        tick_lower: expect.any(Number),
        tick_upper: expect.any(Number),
        token_id: expect.stringMatching(/^0x[0-9a-f]+$/),
      });
  });

  test('add up exactly, in all and by chain', async () => {
    const answer = await ask('defi');
    const sum = (some: readonly Json[]) =>
      some.reduce((total, { value_usd }) => total + Number(value_usd), 0);
    const on = (chainId: number) => list(answer).filter(({ chain_id }) => chain_id === chainId);
    expect(answer.json?.aggregations).toEqual({
      total_value_usd: sum(list(answer)),
      total_by_chain: { 1: sum(on(1)), 8453: sum(on(8453)) },
    });
  });

  test('have receipts that are balances too, with the same amounts', async () => {
    const balances = items(
      await sandbox.ask(`/v1/evm/balances/${demoAddress('defi')}?chain_ids=1`),
      'balances',
    );
    const found = list(await ask('defi'));
    for (const [type, symbol] of [
      ['Erc4626', 'vUSDC'],
      ['Tokenized', 'aUSDC'],
      ['UniswapV2', 'LP'],
      ['Pendle', 'PT-sUSDe'],
    ]) {
      const balance = balances.find((each) => each.symbol === symbol);
      const position = found.find((each) => each.type === type);
      expect(Number(balance?.amount) / 10 ** Number(balance?.decimals)).toBeCloseTo(
        Number(position?.balance),
        9,
      );
      expect(Number(balance?.price_usd)).toBeCloseTo(Number(position?.price_usd), 9);
    }
  });

  test('write doubles with a point where they are whole, and exponents below 1e-5', async () => {
    const { text } = await ask('defi');
    for (const number of ['10.0', '59754.0', '0.0', '8.852246853764e-6', '2.3754275952306002e-11'])
      expect(text).toMatch(new RegExp(`:${number.replaceAll('.', '\\.')}[,}]`));
    expect(text).toContain('"balance":0.00009108374058938265');
    expect(text).toContain('"chain_id":1,');
    expect((await ask('defi', 'chain_ids=1,56,999999')).text).toContain('"chain_ids":[56,999999]');
    expect(text).toContain('"decimals":18');
    expect(text).toMatch(/"tick_lower":-276330,"tick_upper":-276310/);
    expect(text).toMatch(/"price_usd":0\.0,"holdings":100000000\.0/);
  });

  test('cost four compute units for each chain of the default tag that it covers', async () => {
    expect((await ask('defi')).computeUnits).toBe(20);
    expect(list(await ask('defi', 'chain_ids=8453')).map(({ type }) => type)).toEqual(['VeNft', 'LidoStEth']);
    // Of all requested chains it covers none.
    expect((await ask('defi', 'chain_ids=56')).computeUnits).toBe(0);
  });
});

test('protocols show their previews only when asked', async () => {
  type Family = { family: string; chains: { status: string }[]; sub_protocols: string[] };
  const families = async (query: string) => {
    const answer = await sandbox.ask(`/v1/evm/defi/supported-protocols?${query}`);
    return (answer.json?.protocol_families ?? []) as readonly Family[];
  };
  const stable = await families('');
  expect(stable.map(({ family }) => family)).not.toContain('lido');
  expect(stable.find(({ family }) => family === 'uniswap_v2')).toEqual({
    family: 'uniswap_v2',
    chains: expect.arrayContaining([{ chain_id: 1, chain_name: 'ethereum', status: 'stable' }]),
    sub_protocols: expect.arrayContaining(['SushiSwapV2']),
  });
  const chains = await families('include_preview_chains=true');
  expect(chains.find(({ family }) => family === 'balancer_v3')?.chains).toContainEqual({
    chain_id: 42_161,
    chain_name: 'arbitrum',
    status: 'preview',
  });
  expect((await families('include_preview_protocols=true')).map(({ family }) => family)).toContain('lido');
});

test('supported chains say what each lookup covers', async () => {
  const { json } = await sandbox.ask('/v1/evm/supported-chains');
  const { chains } = json as { chains: Record<string, { supported: boolean }>[] };
  expect(chains).toHaveLength(sandbox.simulator.chains.length);
  const of = (id: number) => chains.find(({ chain_id }) => Object.is(chain_id, id));
  const all = { supported: true };
  expect(of(1)).toEqual({
    name: 'ethereum',
    chain_id: 1,
    tags: ['default', 'mainnet'],
    native: { symbol: 'ETH', name: 'Ether', decimals: 18, logo: expect.stringMatching(/^http/) },
    balances: all,
    transactions: all,
    transaction: all,
    approvals: all,
    names: all,
    activity: all,
    token_info: all,
    token_holders: all,
    collectibles: all,
    defi_positions: all,
    webhooks: all,
  });
  const without = (lookup: string) =>
    chains.filter((chain) => chain[lookup]?.supported === false).map(({ chain_id }) => Number(chain_id));
  expect(without('activity')).toEqual([10_143]);
  expect(without('transactions')).toEqual([10_143]);
  expect(without('token_info')).toEqual([30]);
  expect(without('token_holders').toSorted()).toEqual([10_143, 2020]);
  expect(chains.length - without('defi_positions').length).toBe(6);
  expect(of(11_297_108_109)).toMatchObject({ name: 'palm' });
});
