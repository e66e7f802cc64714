import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { items, type Json, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

/** The activity that the sandbox has. test/contract/ judges the form of each item, the order and the filters. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const path = (name: string, query = '') => `/v1/evm/activity/${demoAddress(name)}?${query}`;
const ask = (name: string, query = '') => sandbox.ask(path(name, query));

const all = async (name: string, query = '') =>
  (await walk(sandbox, path(name, `limit=100&${query}`), 'activity')).flat();

const BASE = ['block_number', 'block_time', 'chain_id', 'tx_hash', 'type', 'tx_from', 'tx_to', 'tx_value'];
const fieldsOf = (item: Json) =>
  Object.keys(item)
    .filter((field) => !BASE.includes(field))
    .sort();

test('omits what is unknown, and has no null anywhere', async () => {
  for (const name of ['whale', 'unpriced', 'caller', 'enigma', 'editions'])
    expect((await ask(name, 'limit=100')).text).not.toContain('null');
});

describe('items', () => {
  const only = async (name: string, query: string) => {
    const found = await all(name, query);
    expect(found.length).toBeGreaterThan(0);
    return found;
  };

  test('of the native asset have neither address nor metadata, and are whole transactions', async () => {
    for (const item of await only('whale', 'asset_type=native&activity_type=send,receive')) {
      const priced = item.value_usd === undefined ? [] : ['value_usd'];
      const side = item.type === 'send' ? 'to' : 'from';
      expect(fieldsOf(item)).toEqual(['asset_type', side, 'value', ...priced].sort());
    }
  });

  test('of swaps have tokens without prices, and a native side says native', async () => {
    const swaps = await only('whale', 'activity_type=swap');
    const sold = swaps.filter(({ from_token_address }) => from_token_address === 'native');
    expect(sold.length).toBeGreaterThan(0);
    const token = swaps.find(({ from_token_address }) => from_token_address !== 'native');
    for (const item of [...sold, token])
      expect(Object.keys(Object(item?.from_token_metadata)).sort()).toEqual([
        'decimals',
        'logo',
        'name',
        'symbol',
      ]);
  });

  test('of approvals have an allowance of up to 2^256 - 1', async () => {
    const approvals = await only('approver', 'activity_type=approve');
    expect(approvals.map(({ value }) => value)).toContain(String(2n ** 256n - 1n));
  });

  test('of calls have the names of known contracts, and no function of unknown methods', async () => {
    const unknown = await only('enigma', 'activity_type=call');
    for (const item of unknown) {
      expect(item).toMatchObject({ to: expect.stringMatching(/^0x/), value: '0' });
      expect(item).not.toHaveProperty('function');
    }
    const names = new Set(unknown.map(({ contract_metadata }) => JSON.stringify(contract_metadata)));
    expect(names).toEqual(new Set([undefined, '{"name":"Path Router"}', '{"name":"Marketplace"}']));
  });

  test('of one transaction can be equal in everything', async () => {
    const equal = await only('caller', 'activity_type=receive&asset_type=erc20');
    const [first, ...others] = equal.filter(({ tx_hash }) => tx_hash === equal.at(-1)?.tx_hash);
    expect(others).toHaveLength(23);
    for (const other of others) expect(other).toEqual(first);
    expect(await only('caller', 'activity_type=approve')).toHaveLength(3);
  });

  test('of a transfer to oneself are two', async () => {
    const self = (await all('caller')).filter(
      ({ from, to }) => from === demoAddress('caller') || to === demoAddress('caller'),
    );
    expect(self.map(({ type }) => type).toSorted()).toEqual(['receive', 'send']);
    expect(new Set(self.map(({ tx_hash }) => tx_hash)).size).toBe(1);
  });

  test('have full doubles, at the price of the request', async () => {
    const digits = [...(await ask('whale', 'limit=100')).text.matchAll(/"value_usd":([\d.]+)/g)].map(
      ([, number = '']) => number.replace('.', '').length,
    );
    expect(Math.max(...digits)).toBeGreaterThanOrEqual(16);
    const [mint] = await all('thin', 'activity_type=mint');
    const [balance] = items(
      await sandbox.ask(`/v1/evm/balances/${demoAddress('thin')}/token/${mint?.token_address}?chain_ids=1`),
      'balances',
    );
    expect(Number(mint?.value_usd)).toBeCloseTo(Number(balance?.value_usd), 8);
  });
});

test('filters by asset find swaps, and exclude calls', async () => {
  const found = await all('whale', 'asset_type=native,erc20');
  expect(found.map(({ type }) => type)).toContain('swap');
  expect(await all('caller', 'activity_type=call')).not.toEqual([]);
  expect(await all('caller', 'activity_type=call&asset_type=erc20')).toEqual([]);
});

test('pages are short or empty behind a filter that few items pass, and go on', async () => {
  const pages = await walk(sandbox, path('whale', 'limit=100&activity_type=call'), 'activity');
  expect(pages.flat().length).toBeGreaterThan(0);
  expect(pages.slice(0, -1).some((page) => page.length < 100)).toBe(true);
});
