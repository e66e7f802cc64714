import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type Json, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const path = (name: string, query = '') => `/v1/evm/activity/${demoAddress(name)}?${query}`;
const ask = (name: string, query = '') => sandbox.ask(path(name, query));
const list = (answer: Answer) => items(answer, 'activity');

const all = async (name: string, query = '') =>
  (await walk(sandbox, path(name, `limit=100&${query}`), 'activity')).flat();

const BASE = ['block_number', 'block_time', 'chain_id', 'tx_hash', 'type'];
const fieldsOf = (item: Json) =>
  Object.keys(item)
    .filter((field) => !BASE.includes(field))
    .sort();

describe('the list', () => {
  test('has nothing but its items, 20 by default and 100 at most, for three compute units', async () => {
    const answer = await ask('whale');
    expect(Object.keys(answer.json ?? {})).toEqual(['activity', 'next_offset']);
    for (const [query, count] of [
      ['', 20],
      ['limit=1', 1],
      ['limit=100', 100],
      ['limit=101', 100],
      ['chain_ids=1', 20],
    ] as const) {
      const { json, computeUnits } = await ask('whale', query);
      expect([json?.activity, computeUnits]).toEqual([expect.objectContaining({ length: count }), 3]);
    }
    expect((await ask('native')).json).not.toHaveProperty('next_offset');
    expect((await ask('empty')).json).toEqual({ activity: [] });
  });

  test('is newest first, with the chain, the block as a number, the time and the transaction of each item', async () => {
    const found = await all('swapper');
    const times = found.map(({ block_time }) => String(block_time));
    expect(times).toEqual(times.toSorted().toReversed());
    for (const item of found) {
      expect(item).toMatchObject({
        chain_id: expect.any(Number),
        block_number: expect.any(Number),
        block_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
        tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      });
      for (const absent of ['chain', 'tx_from', 'tx_to', 'tx_value', 'call_type', 'data'])
        expect(item).not.toHaveProperty(absent);
    }
  });

  test('omits what is unknown, and has no null anywhere', async () => {
    for (const name of ['whale', 'unpriced', 'caller', 'enigma', 'editions'])
      expect((await ask(name, 'limit=100')).text).not.toContain('null');
  });

  test('warns of chains that it does not cover, and bills nothing when it covers none', async () => {
    const mixed = await ask('whale', 'chain_ids=1,10143');
    expect(mixed.json?.warnings).toEqual([
      expect.objectContaining({
        code: 'UNSUPPORTED_CHAIN_IDS',
        message: expect.stringContaining('Activities are returned'),
        chain_ids: [10_143],
      }),
    ]);
    expect([list(mixed).length, mixed.computeUnits]).toEqual([20, 3]);
    expect(await ask('whale', 'chain_ids=10143')).toMatchObject({ status: 200, computeUnits: 0 });
  });

  test('refuses in plain text', async () => {
    const refused = await sandbox.ask('/v1/evm/activity/0x12');
    expect([refused.status, refused.text]).toEqual([400, 'Invalid address format']);
    expect(refused.headers.get('content-type')).toMatch(/^text\/plain/);
    for (const query of [
      'activity_type=transfer',
      'asset_type=nft',
      'token_address=USDC',
      'chain_ids=base',
    ]) {
      const answer = await ask('whale', query);
      expect([answer.status, answer.json]).toEqual([400, null]);
    }
  });
});

describe('items', () => {
  const only = async (name: string, query: string) => {
    const found = await all(name, query);
    expect(found.length).toBeGreaterThan(0);
    return found;
  };

  test('of payments name the other side alone, with the value and its worth', async () => {
    for (const [type, side, other] of [
      ['send', 'to', 'from'],
      ['receive', 'from', 'to'],
    ] as const) {
      for (const item of await only('payer', `activity_type=${type}&asset_type=erc20`)) {
        expect(item).toMatchObject({
          asset_type: 'erc20',
          token_address: expect.stringMatching(/^0x/),
          value: expect.stringMatching(/^\d+$/),
          [side]: expect.stringMatching(/^0x[0-9a-f]{40}$/),
        });
        expect(item).not.toHaveProperty(other);
        const { decimals, price_usd, standard } = item.token_metadata as Record<string, number>;
        expect(standard).toBe('erc20');
        if (price_usd === undefined) expect(item).not.toHaveProperty('value_usd');
        else
          expect(Number(item.value_usd) / (Number(item.value) / 10 ** Number(decimals))).toBeCloseTo(
            price_usd,
            8,
          );
      }
    }
  });

  test('of the native asset have neither address nor metadata, and are whole transactions', async () => {
    for (const item of await only('whale', 'asset_type=native&activity_type=send,receive')) {
      const priced = item.value_usd === undefined ? [] : ['value_usd'];
      const side = item.type === 'send' ? 'to' : 'from';
      expect(fieldsOf(item)).toEqual(['asset_type', side, 'value', ...priced].sort());
    }
  });

  test('of mints and burns have the zero address, and NFTs their token ids', async () => {
    const zero = `0x${'0'.repeat(40)}`;
    for (const item of await only('burner', 'activity_type=mint,burn')) {
      expect(item).toMatchObject({
        [item.type === 'mint' ? 'from' : 'to']: zero,
        id: expect.stringMatching(/^\d+$/),
      });
      expect(['erc721', 'erc1155']).toContain(item.asset_type);
    }
  });

  test('of swaps have two tokens and none of their own; a native side says native', async () => {
    const swaps = await only('whale', 'activity_type=swap');
    for (const item of swaps) {
      expect(item).toMatchObject({
        asset_type: expect.stringMatching(/^(erc20|native)$/),
        to: expect.stringMatching(/^0x/),
        from_token_address: expect.stringMatching(/^(0x[0-9a-f]{40}|native)$/),
        from_token_value: expect.stringMatching(/^\d+$/),
        to_token_address: expect.stringMatching(/^(0x[0-9a-f]{40}|native)$/),
        to_token_value: expect.stringMatching(/^\d+$/),
      });
      for (const absent of ['token_address', 'token_metadata', 'value', 'id'])
        expect(item).not.toHaveProperty(absent);
    }
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

  test('of approvals have a spender, and an allowance of up to 2^256 - 1', async () => {
    const approvals = await only('approver', 'activity_type=approve');
    for (const item of approvals) {
      expect(item).toMatchObject({
        spender: expect.stringMatching(/^0x/),
        value: expect.stringMatching(/^\d+$/),
      });
      expect(item).not.toHaveProperty('value_usd');
    }
    expect(approvals.map(({ value }) => value)).toContain(String(2n ** 256n - 1n));
  });

  test('of calls have no asset; known contracts have a name, known methods a function', async () => {
    const unknown = await only('enigma', 'activity_type=call');
    for (const item of unknown) {
      for (const absent of ['asset_type', 'token_address', 'token_metadata', 'value_usd'])
        expect(item).not.toHaveProperty(absent);
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

describe('filters', () => {
  test('take several values, of which any counts, and all combine', async () => {
    const found = await all('whale');
    const expected = (filter: (item: Json) => boolean) => found.filter(filter);
    const token = String(found.find(({ token_address }) => token_address !== undefined)?.token_address);
    expect(await all('whale', 'activity_type=swap,approve')).toEqual(
      expected(({ type }) => type === 'swap' || type === 'approve'),
    );
    expect(await all('whale', 'asset_type=erc721,erc1155')).toEqual(
      expected(({ asset_type }) => asset_type === 'erc721' || asset_type === 'erc1155'),
    );
    expect(await all('whale', `token_address=${token.toUpperCase().replace('0X', '0x')}`)).toEqual(
      expected(({ token_address }) => token_address === token),
    );
    expect(await all('whale', `token_address=${token}&activity_type=send`)).toEqual(
      expected(({ token_address, type }) => token_address === token && type === 'send'),
    );
  });

  test('by asset exclude calls, by token swaps too', async () => {
    const types = async (query: string) => new Set((await all('whale', query)).map(({ type }) => type));
    expect(await types('asset_type=native,erc20,erc721,erc1155')).not.toContain('call');
    expect(await types('asset_type=native,erc20')).toContain('swap');
    expect(await all('whale', 'activity_type=call&asset_type=erc20')).toEqual([]);
  });
});

describe('pages', () => {
  test.each([1, 7, 100])('of %i have what the others have', async (limit) => {
    const pages = await walk(sandbox, path('caller', `limit=${limit}`), 'activity');
    expect(pages.flat()).toEqual(await all('caller'));
  });

  test('do not shift while new items arrive at the head', async () => {
    await using live = await openSandbox();
    const query = path('metronome', 'limit=9');
    const before = (await walk(live, query, 'activity')).flat();
    const during = (await walk(live, query, 'activity', () => live.tick())).flat();
    expect(during).toEqual(before);
    expect(list(await live.ask(query))).not.toEqual(before.slice(0, 9));
  });

  test('are short or empty behind a filter that few items pass, and go on', async () => {
    const pages = await walk(sandbox, path('whale', 'limit=100&activity_type=call'), 'activity');
    expect(pages.flat().length).toBeGreaterThan(0);
    expect(pages.slice(0, -1).some((page) => page.length < 100)).toBe(true);
  });
});
