import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { items, type Json, NOON, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

/** What the lists of the sandbox have in common beside the contract, by which test/contract/ judges them. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const path = (lookup: string, name: string, query = '') => `/v1/evm/${lookup}/${demoAddress(name)}?${query}`;

const MEMBERS: Readonly<Record<string, string>> = {
  transactions: 'transactions',
  activity: 'activity',
  collectibles: 'entries',
  balances: 'balances',
};

/** What a walk must have once each. Amounts change while it goes on. */
const identity = ({ chain_id, contract_address, token_id, address, hash, tx_hash, ...item }: Json) =>
  JSON.stringify([chain_id, contract_address, token_id, address, hash, tx_hash, tx_hash && item]);

test.each([
  ['transactions', ['next_offset', 'request_time', 'response_time', 'transactions', 'wallet_address']],
  ['activity', ['activity', 'next_offset']],
  ['collectibles', ['address', 'entries', 'next_offset', 'request_time', 'response_time']],
  ['balances', ['balances', 'next_offset', 'request_time', 'response_time', 'wallet_address']],
  ['defi/positions', ['positions']],
])('an answer of %s has nothing but %j', async (lookup, members) => {
  const { json } = await sandbox.ask(path(lookup, 'whale', 'limit=1'));
  expect(Object.keys(json ?? {}).sort()).toEqual(members);
});

test('times have milliseconds, and those of balances no digits of a second or nine', async () => {
  await using late = await openSandbox({ now: () => NOON + 364 });
  const timesOf = async ({ ask }: OpenSandbox, lookup: string) => {
    const { json } = await ask(path(lookup, 'native'));
    return [json?.request_time, json?.response_time];
  };
  const twice = (text: string) => [text, text];
  expect(await timesOf(sandbox, 'transactions')).toEqual(twice('2026-06-01T12:00:00.000Z'));
  expect(await timesOf(sandbox, 'collectibles')).toEqual(twice('2026-06-01T12:00:00.000Z'));
  expect(await timesOf(sandbox, 'balances')).toEqual(twice('2026-06-01T12:00:00+00:00'));
  const [item] = items(await sandbox.ask(path('activity', 'native')), 'activity');
  expect(item?.block_time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
  expect(await timesOf(late, 'balances')).toEqual(twice('2026-06-01T12:00:00.364000000+00:00'));
});

test('pages of long lists have as many items as the greatest limit', async () => {
  const sizes = async (lookup: string, name: string, query: string) =>
    (await walk(sandbox, path(lookup, name, query), MEMBERS[lookup] ?? '')).map(({ length }) => length);
  expect(await sizes('balances', 'dust', 'limit=5000')).toEqual([1_000, 1_000, 500]);
  const [first, ...others] = await sizes('collectibles', 'collector', 'limit=9223372036854775807');
  expect([first, others.length]).toEqual([2_500, 1]);
});

describe('while blocks arrive', () => {
  let live: OpenSandbox;
  beforeAll(async () => {
    live = await openSandbox();
  });
  afterAll(() => live.stop());

  test.each([
    ['transactions', 'metronome', 7],
    ['activity', 'metronome', 9],
    ['collectibles', 'minter', 10],
  ])('a walk through %s has what was there at its start, each once', async (lookup, name, limit) => {
    const list = path(lookup, name, `limit=${limit}`);
    const walked = async (between?: () => void) =>
      (await walk(live, list, MEMBERS[lookup] ?? '', between)).flat().map(identity);
    const before = await walked();
    expect(await walked(() => live.tick())).toEqual(before);
    const after = await walked();
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.slice(0, limit)).not.toEqual(before.slice(0, limit));
  });

  test.each([
    ['collectibles', 'collector', 700],
    ['balances', 'metronome', 5],
  ])('a walk through %s of %s neither repeats nor misses one', async (lookup, name, limit) => {
    const member = MEMBERS[lookup] ?? '';
    const pages = await walk(live, path(lookup, name, `limit=${limit}`), member, () => live.tick());
    const found = pages.flat().map(identity);
    const whole = await walk(live, path(lookup, name, 'limit=1000'), member);
    expect(new Set(found).size).toBe(found.length);
    expect(whole.flat().map(identity)).toEqual(expect.arrayContaining(found));
    expect(pages.length).toBeGreaterThan(2);
  });
});

describe('an offset', () => {
  test.each([
    ['transactions', 'whale', 'swapper', 'chain_ids=8453'],
    ['activity', 'whale', 'swapper', 'activity_type=send'],
    ['collectibles', 'collector', 'minter', 'filter_spam=false'],
    ['balances', 'whale', 'dust', 'filters=native'],
  ])(
    'of %s counts for the wallet and the filters that it was issued for',
    async (lookup, name, other, filter) => {
      const list = async (wallet: string, query: string) =>
        items(await sandbox.ask(path(lookup, wallet, `limit=5${query}`)), MEMBERS[lookup] ?? '').map(
          identity,
        );
      const { json } = await sandbox.ask(path(lookup, name, 'limit=5'));
      const offset = `&offset=${json?.next_offset}`;
      const forged = `&offset=${String(json?.next_offset).replace(/^./, (each) => (each === 'A' ? 'B' : 'A'))}`;
      const [first, second] = [await list(name, ''), await list(name, offset)];
      expect([...first, ...second]).toHaveLength(new Set([...first, ...second]).size);
      expect(await list(name, forged)).toEqual(first);
      expect(await list(other, offset)).toEqual(await list(other, ''));
      expect(await list(name, `&${filter}${offset}`)).toEqual(await list(name, `&${filter}`));
    },
  );

  test('stays good where the items of a page are the same, and say more', async () => {
    const list = async (query: string) =>
      items(await sandbox.ask(path('collectibles', 'collector', query)), 'entries').map(identity);
    const { json } = await sandbox.ask(path('collectibles', 'collector', 'limit=5'));
    const second = await list(`limit=5&show_spam_scores=true&offset=${json?.next_offset}`);
    expect(second).toEqual((await list('limit=10')).slice(5));
  });
});

test('a parameter that is given twice is refused', async () => {
  const { status, text } = await sandbox.ask(path('transactions', 'whale', 'decode=true&decode=false'));
  expect([status, text]).toEqual([400, expect.stringContaining('decode')]);
});

test('a warning says what is answered, and where the chains are', async () => {
  const { json } = await sandbox.ask(path('balances', 'native', 'chain_ids=1,9999,77777777777'));
  expect(json?.warnings).toEqual([
    {
      code: 'UNSUPPORTED_CHAIN_IDS',
      message: 'Some requested chain_ids are not supported. Balances are returned only for supported chains.',
      chain_ids: [9999, 77_777_777_777],
      docs_url: `${sandbox.url}/v1/evm/supported-chains`,
    },
  ]);
});

test.each([
  ['transactions/0x', { message: expect.stringContaining('address') }],
  ['transactions/%ff', { message: expect.stringContaining('address') }],
  ['collectibles/0x', { error: expect.stringContaining('address') }],
  ['activity/0x', 'Invalid address format'],
  ['token-info/0x?chain_ids=1', 'Invalid address: expected a hex-encoded address'],
  [`token-info/0x${'ab'.repeat(20)}?chain_ids=1`, 'Token not found'],
  ['token-info/native?chain_ids=999999', 'Invalid chain id: 999999'],
  ['balances/0x', { message: 'Failed to parse address' }],
  ['defi/positions/0x', { error: 'Invalid user address' }],
  [`transactions/${demoAddress('whale')}?chain_ids=base`, { message: expect.stringContaining('chain_ids') }],
  [`transactions/${demoAddress('whale')}?limit=0`, expect.stringContaining('limit')],
  [`balances/${demoAddress('whale')}?metadata=all`, { message: expect.stringContaining('metadata') }],
  ['search/tokens?query=usdc&limit=ten', { error: { message: expect.any(String), code: 'BAD_REQUEST' } }],
  [`collectibles/${demoAddress('whale')}?chain_ids=424242`, { error: 'Chain not supported' }],
])('%s is refused with what is wrong, in the form of who answers', async (asked, body) => {
  const { json, text } = await sandbox.ask(`/v1/evm/${asked}`);
  expect(json ?? text).toEqual(body);
});
