import { expect, test } from 'vitest';
import { Changes, changesOperation } from '../../src/backend/changes.ts';
import { concernedBy } from '../../src/backend/indexer/blocks/concerned.ts';
import type { ParsedBlock, ParsedTransaction } from '../../src/backend/indexer/blocks/parse.ts';
import { TOPICS } from '../../src/backend/indexer/blocks/readings.ts';
import type { Hex } from '../../src/backend/types.ts';

const address = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`;
const word = (of: Hex): Hex => `0x${of.slice(2).padStart(64, '0')}`;
const [SENDER, CONTRACT, COIN, ALICE, BOB, MINER] = [0xa01, 0xa02, 0xa03, 0xa04, 0xa05, 0xa06].map(address);
if (!SENDER || !CONTRACT || !COIN || !ALICE || !BOB || !MINER) throw new Error('expected six addresses');

/** The changes that a client gets, as they are written. */
const listen = (changes: Changes, after: string | null = null) => {
  const lines: Record<string, unknown>[] = [];
  const stop = changes.listen(after, (line) => lines.push(JSON.parse(line)));
  return { lines, [Symbol.dispose]: stop };
};

const named = (...addresses: readonly Hex[]) => ({
  addresses: new Set(addresses),
  tokens: new Set<Hex>(),
  transactions: new Set<Hex>(),
});

test('a client goes on behind a change as long as it is kept, and is told that it missed some', () => {
  const changes = new Changes();
  using first = listen(changes);
  changes.tell(1, named(ALICE));
  changes.tell(1, null);
  const [start, ofAlice, all] = first.lines;
  expect(start).toEqual({ id: expect.any(String), missed: true });
  expect(ofAlice).toMatchObject({ chain_id: 1, addresses: [ALICE], tokens: [], transactions: [] });
  expect(all).toEqual({ id: expect.any(String), chain_id: 1, everything: true });
  using second = listen(changes, String(ofAlice?.id));
  expect(second.lines).toEqual([all, { id: all?.id }]);
  for (let number = 0; number < 300; number += 1) changes.tell(1, named(BOB));
  const last = { id: first.lines.at(-1)?.id };
  for (const after of [String(ofAlice?.id), 'another-1', 'nonsense', `${String(last.id)}9`, '']) {
    using late = listen(changes, after);
    expect(late.lines, after).toEqual([{ ...last, missed: true }]);
  }
  using current = listen(changes, String(last.id));
  expect(current.lines).toEqual([last]);
});

test('a change that names too much concerns everything', () => {
  const changes = new Changes();
  using client = listen(changes);
  changes.tell(1, named(...Array.from({ length: 1_000 }, (_, number) => address(number))));
  changes.tell(1, named(...Array.from({ length: 1_001 }, (_, number) => address(number))));
  expect(client.lines.slice(1)).toEqual([
    expect.objectContaining({ addresses: expect.any(Array) }),
    expect.objectContaining({ everything: true }),
  ]);
});

test('changes that come one after another are told as one', async () => {
  const changes = new Changes();
  using client = listen(changes);
  for (let batch = 0; batch < 10; batch += 1) changes.tellSoon(1);
  changes.tellSoon(2);
  const told = () => client.lines.filter(({ chain_id }) => chain_id !== undefined);
  await expect.poll(told).toHaveLength(2);
  expect(told().map(({ chain_id, everything }) => [chain_id, everything])).toEqual([
    [1, true],
    [2, true],
  ]);
});

test('the stream costs nothing and needs the key', async () => {
  const operation = changesOperation(new Changes());
  const asked = { method: 'GET', path: operation.path, query: new URLSearchParams(), body: '' };
  const answer = await operation.answer(asked, {}, null);
  expect(operation.needsKey).toBe(true);
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/x-ndjson' } });
  expect(answer.computeUnits ?? 0).toBe(0);
});

const block = (changed: Partial<ParsedTransaction>, paid: readonly Hex[] = []): ParsedBlock => ({
  ...{ chainId: 1, number: 1, hash: '0x1', parentHash: '0x0', time: 0, paid },
  transactions: [
    {
      ...{ index: 0, hash: '0xf1', from: SENDER, to: CONTRACT, created: null, value: 0n, data: '0x12' },
      ...{
        nonce: 0,
        gasPrice: 0n,
        gasUsed: 50_000n,
        effectiveGasPrice: 0n,
        otherFee: 0n,
        type: 2,
        success: true,
      },
      ...{ logs: [], internal: [] },
      ...changed,
    },
  ],
});

const transfer = (topics: readonly Hex[], data: Hex = '0x') => ({
  address: COIN,
  topics: [TOPICS.transfer, ...topics],
  data,
});

const isCoin = (contract: Hex) => contract === COIN;

test.each<[string, ParsedBlock, readonly Hex[] | null]>([
  ['both sides of a transaction', block({}), []],
  ['whom fees and withdrawals go to', block({}, [MINER, BOB]), [MINER, BOB]],
  ['a contract that it creates', block({ to: null, created: ALICE }), [ALICE]],
  ['both sides inside of calls', block({ internal: [{ from: ALICE, to: BOB, value: 1n }] }), [ALICE, BOB]],
  ['both sides of a transfer', block({ logs: [transfer([word(ALICE), word(BOB)])] }), [ALICE, BOB]],
  [
    'those that a contract does not index',
    block({ logs: [transfer([], `${word(ALICE)}${word(BOB).slice(2)}`)] }),
    [ALICE, BOB],
  ],
  [
    'anyone where a token logs an event of its own',
    block({ logs: [{ address: COIN, topics: [word('0x99')], data: '0x' }] }),
    null,
  ],
  ['anyone where a token is called and logs nothing', block({ to: COIN }), null],
  ['nobody else where such a call fails', block({ to: COIN, success: false }), [COIN]],
  [
    'anyone where a log is too long to look at',
    block({ logs: [{ address: ALICE, topics: [], data: `0x${'0'.repeat(64 * 300)}` }] }),
    null,
  ],
])('a block concerns %s', (_what, of, others) => {
  const concerned = concernedBy([of], isCoin);
  const to = of.transactions[0]?.to ?? null;
  const all = others && [SENDER, ...(to === null ? [] : [to]), ...others];
  expect(concerned && [...concerned.addresses].toSorted()).toEqual(all && [...new Set(all)].toSorted());
  if (concerned) expect([...concerned.transactions]).toEqual(['0xf1']);
});
