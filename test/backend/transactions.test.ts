import { expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, NOON, openSandbox, walk } from './support/sandbox.ts';

const path = (name: string, query = '') => `/v1/evm/transactions/${demoAddress(name)}?${query}`;
const list = (answer: Answer) => items(answer, 'transactions');
const hashes = (answer: Answer) => list(answer).map(({ hash }) => hash);

const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]*)$/;
const HEX = /^0x([0-9a-f]{2})*$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('a page is the documented envelope of documented transactions, newest first, for one compute unit', async () => {
  await using sandbox = await openSandbox();
  const answer = await sandbox.ask(path('whale'));
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.computeUnits).toBe(1);
  expect(answer.json).toEqual({
    wallet_address: demoAddress('whale'),
    transactions: expect.any(Array),
    next_offset: expect.stringMatching(/^[\w-]{40,}$/),
    request_time: new Date(NOON).toISOString(),
    response_time: new Date(NOON).toISOString(),
  });
  expect(list(answer)).toHaveLength(100);
  for (const transaction of list(answer)) {
    expect(transaction).toEqual({
      address: demoAddress('whale'),
      block_hash: expect.stringMatching(HASH),
      block_number: expect.stringMatching(/^\d+$/),
      block_time: expect.stringMatching(TIME),
      chain: expect.stringMatching(/^[a-z_]+$/),
      from: expect.stringMatching(ADDRESS),
      to: expect.stringMatching(ADDRESS),
      data: expect.stringMatching(HEX),
      gas_price: expect.stringMatching(QUANTITY),
      hash: expect.stringMatching(HASH),
      index: expect.stringMatching(/^\d+$/),
      nonce: expect.stringMatching(QUANTITY),
      transaction_type: expect.stringMatching(QUANTITY),
      value: expect.stringMatching(QUANTITY),
      logs: expect.any(Array),
    });
  }
  const times = list(answer).map(({ block_time }) => String(block_time));
  expect(times).toEqual(times.toSorted().toReversed());
});

test('limits are reduced to 100; a malformed limit is an error', async () => {
  await using sandbox = await openSandbox();
  for (const [limit, count] of [
    ['1', 1],
    ['99', 99],
    ['100', 100],
    ['101', 100],
    ['9223372036854775807', 100],
  ])
    expect(list(await sandbox.ask(path('whale', `limit=${limit}`)))).toHaveLength(Number(count));
  for (const limit of ['0', '-1', 'ten', '1.5', '']) {
    const answer = await sandbox.ask(path('whale', `limit=${limit}`));
    expect([answer.status, answer.json, answer.computeUnits]).toEqual([400, null, 0]);
    expect(answer.text).toContain('limit');
  }
});

test('decode accepts only true and false', async () => {
  await using sandbox = await openSandbox();
  for (const decode of ['true', 'false'])
    expect((await sandbox.ask(path('whale', `decode=${decode}`))).status).toBe(200);
  for (const decode of ['maybe', 'TRUE', '1', '']) {
    const answer = await sandbox.ask(path('whale', `decode=${decode}`));
    expect([answer.status, answer.computeUnits]).toEqual([400, 0]);
    expect(answer.text).toContain('decode');
  }
  expect((await sandbox.ask(path('whale', 'decode=true&decode=false'))).status).toBe(400);
});

test('a walk has every transaction once, and no offset after the last page', async () => {
  await using sandbox = await openSandbox();
  const pages = await walk(sandbox, path('whale', 'limit=100'), 'transactions');
  const all = pages.flat();
  expect(all.length).toBeGreaterThan(5_000);
  expect(new Set(all.map(({ hash }) => hash)).size).toBe(all.length);
  expect(new Set(all.map(({ chain }) => chain)).size).toBeGreaterThan(6);
  expect(pages.slice(0, -1).every((page) => page.length === 100)).toBe(true);
});

test('a wallet of exactly one full page has no second page', async () => {
  await using sandbox = await openSandbox();
  const answer = await sandbox.ask(path('hundred'));
  expect(list(answer)).toHaveLength(100);
  expect(answer.json).not.toHaveProperty('next_offset');
  expect((await sandbox.ask(path('hundred', 'limit=99'))).json).toHaveProperty('next_offset');
});

test('page two is correct while transactions arrive at the head', async () => {
  await using sandbox = await openSandbox();
  const query = path('metronome', 'limit=7');
  const before = (await walk(sandbox, query, 'transactions')).flat();
  const during = (await walk(sandbox, query, 'transactions', () => sandbox.tick())).flat();
  expect(during).toEqual(before);
  expect(hashes(await sandbox.ask(query))).not.toEqual(before.slice(0, 7).map(({ hash }) => hash));
});

test('an offset that the service did not issue for these very filters has no effect', async () => {
  await using sandbox = await openSandbox();
  const first = await sandbox.ask(path('whale', 'limit=5'));
  const issued = String(first.json?.next_offset);
  const forged = `${issued.startsWith('A') ? 'B' : 'A'}${issued.slice(1)}`;
  for (const offset of ['0', '', '100', 'A'.repeat(54), forged, `${issued}A`])
    expect(hashes(await sandbox.ask(path('whale', `limit=5&offset=${offset}`)))).toEqual(hashes(first));
  const swapper = path('swapper', 'limit=5');
  expect(hashes(await sandbox.ask(`${swapper}&offset=${issued}`))).toEqual(
    hashes(await sandbox.ask(swapper)),
  );
  const onBase = path('whale', 'limit=5&chain_ids=8453');
  expect(hashes(await sandbox.ask(`${onBase}&offset=${issued}`))).toEqual(hashes(await sandbox.ask(onBase)));

  const second = hashes(await sandbox.ask(path('whale', `limit=5&offset=${issued}`)));
  expect(second).not.toEqual(hashes(first));
  const ten = hashes(await sandbox.ask(path('whale', 'limit=10')));
  expect([...hashes(first), ...second]).toEqual(ten);
});

test('chain_ids accepts ids and tags, and defaults to the default tag', async () => {
  await using sandbox = await openSandbox();
  const chains = async (name: string, query: string) =>
    new Set(list(await sandbox.ask(path(name, query))).map(({ chain }) => chain));
  expect(await chains('whale', 'chain_ids=8453')).toEqual(new Set(['base']));
  expect(await chains('whale', 'chain_ids=8453,1')).toEqual(new Set(['base', 'ethereum']));
  expect(await chains('tester', '')).toEqual(new Set());
  expect(await chains('tester', 'chain_ids=testnet')).toEqual(
    new Set(['sepolia', 'base_sepolia', 'polygon_amoy', 'omni_omega']),
  );
  expect(await chains('tester', 'chain_ids=devnet,80002')).toEqual(
    new Set(['local_devnet', 'omni_devnet', 'polygon_amoy']),
  );
  expect(await chains('palmist', 'chain_ids=11297108109')).toEqual(new Set(['palm']));
});

test('names of chains are refused', async () => {
  await using sandbox = await openSandbox();
  for (const chainIds of ['ethereum', '1,ethereum', '', '1,', '-1', '1.0', '0x1']) {
    const answer = await sandbox.ask(path('whale', `chain_ids=${chainIds}`));
    expect([chainIds, answer.status, answer.computeUnits]).toEqual([chainIds, 400, 0]);
    expect(answer.json).toEqual({ message: expect.stringContaining('chain_ids') });
  }
});

test('an unsupported chain id is a warning, and the other chains are answered', async () => {
  await using sandbox = await openSandbox();
  const warnings = [expect.objectContaining({ code: 'UNSUPPORTED_CHAIN_IDS', chain_ids: [424242] })];
  const mixed = await sandbox.ask(path('whale', 'chain_ids=8453,424242'));
  expect([mixed.status, mixed.json?.warnings]).toEqual([200, warnings]);
  expect(list(mixed)).toHaveLength(100);
  const alone = await sandbox.ask(path('whale', 'chain_ids=424242'));
  expect(alone.json).toMatchObject({ transactions: [], warnings });
});

test('an unknown wallet is empty, and a malformed address is refused', async () => {
  await using sandbox = await openSandbox();
  for (const address of [demoAddress('empty'), `0x${'ab'.repeat(20)}`]) {
    const answer = await sandbox.ask(`/v1/evm/transactions/${address}`);
    expect([answer.status, answer.json?.transactions, answer.computeUnits]).toEqual([200, [], 1]);
    expect(answer.json).not.toHaveProperty('next_offset');
  }
  for (const address of ['0x12', 'vitalik.eth', `0x${'g'.repeat(40)}`, '0x', '%ff']) {
    const answer = await sandbox.ask(`/v1/evm/transactions/${address}`);
    expect([answer.status, answer.json]).toEqual([400, { message: expect.stringContaining('address') }]);
  }
});

test('an address is the same in any case', async () => {
  await using sandbox = await openSandbox();
  const upper = `0x${demoAddress('payer').slice(2).toUpperCase()}`;
  const answer = await sandbox.ask(`/v1/evm/transactions/${upper}`);
  expect(answer.json?.wallet_address).toBe(demoAddress('payer'));
  expect(hashes(answer)).toEqual(hashes(await sandbox.ask(path('payer'))));
});

test('a created contract has no recipient, a failed call no logs', async () => {
  await using sandbox = await openSandbox();
  const created = list(await sandbox.ask(path('deployer'))).filter(({ to }) => to === null);
  expect(created.length).toBeGreaterThan(20);
  expect(created.every(({ data }) => String(data).startsWith('0x6080'))).toBe(true);
  const failed = list(await sandbox.ask(path('unlucky', 'decode=true'))).filter(
    ({ decoded, logs }) => decoded !== undefined && (logs as unknown[]).length === 0,
  );
  expect(failed.length).toBeGreaterThan(20);
});
