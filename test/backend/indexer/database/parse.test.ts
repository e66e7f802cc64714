import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amountBytes,
  amountOf,
  decodeTransaction,
  encodeTransaction,
} from '../../../../src/backend/indexer/blocks/encoding.ts';
import {
  effectsOf,
  type ParsedTransaction,
  partiesOf,
} from '../../../../src/backend/indexer/blocks/parse.ts';
import { byStandard, FORMS, type Readings, TOPICS } from '../../../../src/backend/indexer/blocks/readings.ts';
import type { Effect, Hex, LogEntry } from '../../../../src/backend/types.ts';
import { runs } from '../../../support/runs.ts';
import { address, GENESIS, logs, type Mined, tracedBlock, ZERO } from '../support/blocks.ts';

const alice = address('alice');
const bob = address('bob');
const token = address('token');
const other = address('other');
const router = address('router');

const parsed = (mined: Partial<Mined>): ParsedTransaction => {
  const { transactions } = tracedBlock(1, GENESIS, 0, [{ from: alice, to: router, ...mined }]);
  const [transaction] = transactions;
  if (transaction === undefined) throw new Error('expected a transaction, got none');
  return transaction;
};

/** An effect in few words. */
const inWords = (effect: Effect): string => {
  const named = (hex: Hex | null) =>
    Object.entries({ alice, bob, token, other, router, nobody: ZERO }).find(
      ([, value]) => value === hex,
    )?.[0] ?? hex;
  if (effect.kind === 'swap')
    return `${named(effect.trader)} swaps ${effect.sold.value} ${named(effect.sold.token)} for ${effect.bought.value} ${named(effect.bought.token)}`;
  const id = effect.tokenId === null ? '' : `#${effect.tokenId} `;
  return effect.kind === 'transfer'
    ? `${effect.value} ${effect.asset} ${named(effect.token)} ${id}from ${named(effect.from)} to ${named(effect.to)}`
    : `${named(effect.owner)} approves ${named(effect.spender)} for ${effect.value} ${effect.asset} ${named(effect.token)} ${id}`.trim();
};

/** As the standards have logs, with deposits and withdrawals of wrapped native currency. */
const readings = { ...byStandard(token), coin: FORMS.amount | FORMS.wrapping };

const effects = (mined: Partial<Mined>, read: Readings = readings) =>
  effectsOf(parsed(mined), () => read).map(inWords);
const ofLogs = (...emitted: readonly LogEntry[]) => effects({ logs: emitted });

describe('the effects of a transaction', () => {
  test('tell the standards apart by the topics and the data of their events', () => {
    expect(ofLogs(logs.coin(token, alice, bob, 7n))).toEqual(['7 erc20 token from alice to bob']);
    expect(ofLogs(logs.unique(token, alice, bob, 7n))).toEqual(['1 erc721 token #7 from alice to bob']);
    expect(ofLogs(logs.single(token, alice, bob, 7n, 3n))).toEqual(['3 erc1155 token #7 from alice to bob']);
    expect(
      ofLogs(
        logs.batch(token, alice, bob, [
          [7n, 3n],
          [8n, 0n],
        ]),
      ),
    ).toEqual(['3 erc1155 token #7 from alice to bob', '0 erc1155 token #8 from alice to bob']);
    expect(ofLogs(logs.approval(token, alice, bob, 7n))).toEqual(['alice approves bob for 7 erc20 token']);
    expect(ofLogs(logs.approvalOfOne(token, alice, bob, 7n))).toEqual([
      'alice approves bob for 1 erc721 token #7',
    ]);
    expect(ofLogs(logs.approvalOfOne(token, alice, ZERO, 7n))).toEqual([
      'alice approves nobody for 0 erc721 token #7',
    ]);
    expect(ofLogs(logs.approvalForAll(token, alice, bob, true))).toEqual([
      'alice approves bob for 1 erc721 token',
    ]);
    expect(ofLogs(logs.approvalForAll(token, alice, bob, false))).toEqual([
      'alice approves bob for 0 erc721 token',
    ]);
    const known = effectsOf(parsed({ logs: [logs.approvalForAll(token, alice, bob, true)] }), (each) => ({
      ...byStandard(each),
      isMulti: each === token,
    }));
    expect(known.map(inWords)).toEqual(['alice approves bob for 1 erc1155 token']);
  });

  test('are the native currency that it pays, that moves within it, and what its logs say, in this order', () => {
    const all = effects({
      value: 5n,
      internal: [{ from: router, to: bob, value: 2n }],
      logs: [logs.coin(token, bob, alice, 1n), logs.approval(token, alice, bob, 0n)],
    });
    expect(all).toEqual([
      '5 native null from alice to router',
      '2 native null from router to bob',
      '1 erc20 token from bob to alice',
      'alice approves bob for 0 erc20 token',
      'alice swaps 5 null for 1 token',
    ]);
  });

  test('pay a contract that it creates', () => {
    const creation = parsed({ to: null, created: other, value: 5n });
    expect(effectsOf(creation).map(inWords)).toEqual(['5 native null from alice to other']);
    expect(partiesOf(creation, effectsOf(creation))).toEqual(new Set([alice, other]));
  });

  test('are none when it failed, and then it has created nothing', () => {
    const failed = parsed({
      to: null,
      created: other,
      value: 5n,
      success: false,
      internal: [{ from: alice, to: bob, value: 1n }],
    });
    expect(effectsOf(failed)).toEqual([]);
    expect(partiesOf(failed, [])).toEqual(new Set([alice]));
  });

  test('mint and burn wrapped currency once, whether its contract says so with one event or with two', () => {
    const { wrapping, coin } = logs;
    expect(ofLogs(wrapping('deposit', token, alice, 4n))).toEqual(['4 erc20 token from nobody to alice']);
    expect(ofLogs(wrapping('withdrawal', token, alice, 4n))).toEqual(['4 erc20 token from alice to nobody']);
    expect(ofLogs(coin(token, ZERO, alice, 4n), wrapping('deposit', token, alice, 4n))).toEqual([
      '4 erc20 token from nobody to alice',
    ]);
    expect(ofLogs(wrapping('withdrawal', token, alice, 4n), coin(token, alice, ZERO, 4n))).toEqual([
      '4 erc20 token from alice to nobody',
    ]);
    // Of another token, of another account, and of nothing: anyone can make a wrapped currency log the last one.
    const unrelated = [
      coin(other, ZERO, alice, 4n),
      coin(token, ZERO, bob, 4n),
      coin(token, ZERO, alice, 0n),
    ];
    expect(ofLogs(...unrelated, wrapping('deposit', token, alice, 4n)).at(-1)).toBe(
      '4 erc20 token from nobody to alice',
    );
  });

  test('list nobody for mints and burns among the parties, but a zero address that was sent to', () => {
    const mint = parsed({ logs: [logs.coin(token, ZERO, bob, 1n), logs.approval(token, other, bob, 1n)] });
    expect(partiesOf(mint, effectsOf(mint))).toEqual(new Set([alice, bob, other, router]));
    const gift = parsed({ to: ZERO, value: 1n });
    expect(partiesOf(gift, effectsOf(gift))).toEqual(new Set([alice, ZERO]));
  });
});

describe('a swap', () => {
  const swap = (mined: Partial<Mined>) => effects(mined).filter((effect) => effect.includes('swaps'));
  const sold = logs.coin(token, alice, bob, 10n);
  const bought = logs.coin(other, bob, alice, 20n);

  test('is a call whose sender gives one asset and gets one other, also in parts', () => {
    expect(swap({ logs: [sold, bought] })).toEqual(['alice swaps 10 token for 20 other']);
    expect(swap({ logs: [sold, bought, sold, bought] })).toEqual(['alice swaps 20 token for 40 other']);
    expect(swap({ logs: [sold, bought, logs.coin(token, bob, alice, 1n)] })).toEqual([
      'alice swaps 9 token for 20 other',
    ]);
    expect(swap({ logs: [sold], internal: [{ from: router, to: alice, value: 3n }] })).toEqual([
      'alice swaps 10 token for 3 null',
    ]);
  });

  test.each<[string, Partial<Mined>]>([
    ['a payment', { logs: [sold] }],
    [
      'what others send',
      { from: bob, logs: [logs.coin(token, alice, router, 1n), logs.coin(other, router, alice, 1n)] },
    ],
    ['three assets', { value: 1n, logs: [sold, bought] }],
    ['twice the same asset', { logs: [sold, logs.coin(token, bob, alice, 10n)] }],
    ['two gifts', { logs: [bought, logs.coin(token, bob, alice, 1n)] }],
    ['an NFT that is bought', { logs: [sold, logs.unique(other, bob, alice, 1n)] }],
    ['an asset that comes back whole', { logs: [sold, logs.coin(token, bob, alice, 10n), bought] }],
    ['no call', { input: '0x', logs: [sold, bought] }],
    ['a creation', { to: null, logs: [sold, bought] }],
  ])('is not %s', (_, mined) => {
    expect(swap(mined)).toEqual([]);
  });
});

const digits = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((each): Hex => `0x${Buffer.from(each).toString('hex')}`);
const word = fc.oneof(
  fc.constantFrom<Hex>(
    ...[0n, 1n, 32n, 64n, 96n, 2n ** 256n - 1n, 2n ** 53n].map(
      (value): Hex => `0x${value.toString(16).padStart(64, '0')}`,
    ),
  ),
  digits(32),
);
const hostile: fc.Arbitrary<LogEntry> = fc.record({
  address: fc.constant(token),
  topics: fc
    .tuple(
      fc.constantFrom(...Object.values(TOPICS)),
      fc.array(fc.oneof(word, fc.constant<Hex>(`0x${'0'.repeat(24)}${alice.slice(2)}`)), { maxLength: 3 }),
    )
    .map(([first, rest]) => [first, ...rest]),
  data: fc
    .tuple(fc.array(word, { maxLength: 12 }), fc.nat(40).chain(digits))
    .map(([words, rest]): Hex => `0x${words.map((each) => each.slice(2)).join('')}${rest.slice(2)}`),
});

describe('logs that lie about their standard', () => {
  test('have at most one effect for each 32 bytes, and never an error', () => {
    fc.assert(
      fc.property(hostile, (log) => {
        expect(ofLogs(log).length).toBeLessThanOrEqual(Math.max(1, log.data.length / 64));
      }),
      { numRuns: runs(5_000) },
    );
  });

  test.each<[string, LogEntry]>([
    ['more data than a value', { ...logs.coin(token, alice, bob, 1n), data: `0x${'00'.repeat(64)}` }],
    ['less', { ...logs.coin(token, alice, bob, 1n), data: '0x01' }],
    ['no data', { ...logs.coin(token, alice, bob, 1n), data: '0x' }],
    ['an id and data', { ...logs.unique(token, alice, bob, 1n), data: `0x${'00'.repeat(32)}` }],
    [
      'more than an address in a topic',
      {
        ...logs.coin(token, alice, bob, 1n),
        topics: [TOPICS.transfer, `0x${'11'.repeat(32)}`, `0x${'11'.repeat(32)}`],
      },
    ],
    ['no addresses', { ...logs.coin(token, alice, bob, 1n), topics: [TOPICS.transfer] }],
    ['no topic', { ...logs.coin(token, alice, bob, 1n), topics: [] }],
    [
      'more ids than values',
      {
        ...logs.batch(token, alice, bob, []),
        data: `0x${[64n, 128n, 1n, 7n, 0n].map((value) => value.toString(16).padStart(64, '0')).join('')}`,
      },
    ],
    [
      'more ids than data',
      {
        ...logs.batch(token, alice, bob, []),
        data: `0x${[64n, 64n, 2n ** 64n].map((value) => value.toString(16).padStart(64, '0')).join('')}`,
      },
    ],
    [
      'an array behind the data',
      {
        ...logs.batch(token, alice, bob, []),
        data: `0x${[2n ** 200n, 64n, 0n].map((value) => value.toString(16).padStart(64, '0')).join('')}`,
      },
    ],
  ])('have no effect with %s', (_, log) => {
    expect(ofLogs(log)).toEqual([]);
  });

  test('may move 10,000 ids at once', () => {
    const editions = Array.from({ length: 10_000 }, (_, at) => [BigInt(at), 2n ** 255n] as const);
    const moved = effectsOf(parsed({ logs: [logs.batch(token, alice, bob, editions)] }));
    expect(moved.map((effect) => effect.kind === 'transfer' && [effect.tokenId, effect.value])).toEqual(
      editions,
    );
  });
});

const mined: fc.Arbitrary<Mined> = fc.record(
  {
    from: digits(20),
    to: fc.option(digits(20)),
    created: digits(20),
    value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    input: fc.nat(200).chain(digits),
    success: fc.boolean(),
    logs: fc.array(
      fc.oneof(
        hostile,
        fc.record({
          address: digits(20),
          topics: fc.array(word, { maxLength: 4 }),
          data: fc.nat(200).chain(digits),
        }),
      ),
      { maxLength: 5 },
    ),
    internal: fc.array(
      fc.record({ from: digits(20), to: digits(20), value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['from'] },
);

describe('the bytes', () => {
  test('of a transaction are read as they were written', () => {
    fc.assert(
      fc.property(mined, (each) => {
        const transaction = parsed(each);
        expect(decodeTransaction(encodeTransaction(transaction), transaction.index)).toEqual(transaction);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('of a transaction that names addresses again and again are a part of those of others, and are read as well', () => {
    /** Of any length without the zeros in front, and more of them than there are codes. */
    const named = fc
      .tuple(fc.constantFrom(0, 1, 8, 15, 16, 17, 20), fc.integer({ min: 1, max: 250 }))
      .map(([bytes, at]): Hex => `0x${at.toString(16).padStart(2, '0').repeat(bytes).padStart(40, '0')}`);
    const entry = fc.tuple(named, fc.array(named, { maxLength: 3 }), fc.array(named, { maxLength: 4 })).map(
      ([contract, topics, words]): LogEntry => ({
        address: contract,
        topics: topics.map((each): Hex => `0x${each.slice(2).padStart(64, '0')}`),
        data: `0x${words.map((each) => each.slice(2).padStart(64, '0')).join('')}`,
      }),
    );
    fc.assert(
      fc.property(named, named, fc.array(entry, { maxLength: 120 }), (from, to, entries) => {
        const transaction = parsed({ from, to, logs: entries });
        expect(decodeTransaction(encodeTransaction(transaction), transaction.index)).toEqual(transaction);
      }),
      { numRuns: runs(500) },
    );
    const account = address('account');
    const sizeOf = (count: number) =>
      encodeTransaction(
        parsed({
          from: account,
          logs: Array.from({ length: count }, () => logs.coin(account, account, account, 1n)),
        }),
      ).length;
    // Each log is codes of its address, its topics and both sides, and an amount of one byte.
    expect(sizeOf(11) - sizeOf(1)).toBe(10 * 8);
  });

  test('of amounts have the order of the amounts', () => {
    const amount = fc.oneof(
      fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
      fc.bigInt({ min: -300n, max: 300n }),
    );
    fc.assert(
      fc.property(amount, amount, (one, another) => {
        expect(amountOf(amountBytes(one))).toBe(one);
        expect(Buffer.compare(amountBytes(one), amountBytes(another))).toBe(
          one < another ? -1 : one > another ? 1 : 0,
        );
      }),
      { numRuns: runs(5_000) },
    );
  });
});
