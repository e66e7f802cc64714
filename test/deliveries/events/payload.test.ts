import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseStored, scanJson } from '../../../src/deliveries/events/body.ts';
import { eventsIn, omittedIn, summarize } from '../../../src/deliveries/events/events.ts';
import { JsonSize } from '../../../src/lib/json/size.ts';
import { address } from '../support/builders.ts';

const read = async (body: unknown, chainId: number | null = null) => {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const payload = await parseStored(bytes, scanJson(bytes));
  return {
    events: eventsIn(payload, { cursor: 'c', chainId, subscribedAddress: null }).map((event) => event()),
    payload,
  };
};

/** The fields that are not null. */
const known = (event: object) =>
  Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null));

const HASH = `0x${'Ab'.repeat(32)}`;

test('an activity is typed, exact and canonical', async () => {
  const { events } = await read({
    activities: [
      {
        chain_id: 8453,
        block_number: 38_000_001,
        block_time: '2025-11-13T04:42:10+02:00',
        tx_hash: HASH,
        tx_from: `0x${'AB'.repeat(20)}`,
        tx_to: address(2),
        tx_value: '0x0de0b6b3a7640000',
        type: 'mint',
        asset_type: 'erc721',
        token_address: address(3),
        to: address(4),
        id: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        value: '1',
        value_usd: '12.5',
      },
    ],
  });
  expect(events.map(known)).toEqual([
    {
      kind: 'activity',
      typeName: 'mint',
      chainId: 8453,
      blockNumber: '38000001',
      blockTime: '2025-11-13T02:42:10.000Z',
      transactionHash: HASH.toLowerCase(),
      transactionFrom: `0x${'ab'.repeat(20)}`,
      transactionTo: address(2),
      transactionValue: '1000000000000000000',
      assetTypeName: 'erc721',
      tokenAddress: address(3),
      tokenId: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      to: address(4),
      value: '1',
      valueUsd: '12.5',
      deliveredAs: 'c:0',
    },
  ]);
});

test('a balance change is typed', async () => {
  const { events } = await read({
    balance_changes: [
      {
        amount_before: '10',
        amount_after: '3',
        amount_delta: '-7',
        asset: { token_address: address(1), symbol: 'USDC', name: 'USD Coin', decimals: 6, pool_size_usd: 1 },
        counterparty_address: address(2),
        subscribed_address: address(3),
        direction: 'out',
        price_usd: 1.01,
        transaction_hash: HASH,
        value_before_usd: 10,
        value_after_usd: 3,
        value_delta_usd: -7,
      },
    ],
  });
  expect(events.map(known)).toEqual([
    {
      kind: 'balanceChange',
      isCurrent: true,
      subscribedAddress: address(3),
      counterparty: address(2),
      transactionHash: HASH.toLowerCase(),
      direction: 'OUT',
      amountBefore: '10',
      amountAfter: '3',
      amountDelta: '-7',
      valueUsdBefore: '10',
      valueUsdAfter: '3',
      valueUsdDelta: '-7',
      priceUsd: '1.01',
      tokenAddress: address(1),
      tokenSymbol: 'USDC',
      tokenName: 'USD Coin',
      tokenDecimals: 6,
      poolSizeUsd: '1',
    },
  ]);
});

test('a field that is unknown, malformed or absent is null, and affects no other field', async () => {
  const { events } = await read(
    {
      activities: [
        { type: 'transfer', asset_type: 7, tx_to: 'x', value: '1.5', value_usd: '', block_time: 'now' },
        {},
      ],
    },
    10,
  );
  expect(events).toMatchObject([
    {
      typeName: 'transfer',
      assetTypeName: null,
      transactionTo: null,
      value: null,
      valueUsd: null,
      chainId: 10,
    },
    { typeName: null, blockTime: null, chainId: 10 },
  ]);
});

test('a transaction is passed on unchanged, with its chain', async () => {
  const items = [{ chain_id: 1, transaction_type: 'Sender' }, { hash: '0x' }];
  const { events } = await read({ transactions: [...items, 'no object', null] }, 137);
  expect(events).toEqual([
    { kind: 'transaction', raw: items[0], chainId: 1 },
    { kind: 'transaction', raw: items[1], chainId: 137 },
  ]);
});

test('integers beyond 2^53 keep their digits, in events and payload; other numbers stay numbers', async () => {
  const body =
    '{"activities":[{"value":12345678901234567890,"id":-0}],"n":[1.5,9007199254740991,1e400,-9007199254740993]}';
  const { events, payload } = await read(body);
  expect(events).toMatchObject([{ value: '12345678901234567890' }]);
  expect(payload).toEqual({
    activities: [{ value: '12345678901234567890', id: -0 }],
    n: [1.5, 9007199254740991, '1e400', '-9007199254740993'],
  });
});

test.each(['[]', '{}', '{"transactions":{}}', '{"other":[{"from":"0x"}]}', '[{"activities":[{}]}]'])(
  'the unknown shape %s has a payload and no events',
  async (body) => {
    expect(await read(body)).toEqual({ events: [], payload: JSON.parse(body) });
    expect(summarize(JSON.parse(body))).toMatchObject({ chainId: null, addresses: [] });
  },
);

test.each([
  ['100,000 levels', `{"activities":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['201 levels', `${'['.repeat(201)}${']'.repeat(201)}`],
  ['250,001 values', `{"activities":[${Array(249_999).fill('{}').join(' , ')}]}`],
  ['50,001 shapes', `{"activities":[{${Array.from({ length: 50_000 }, (_, index) => `"${index}x":0`)}}]}`],
])('a body of %s is not parsed: its payload is its text', async (_what, body) => {
  expect(await read(body)).toEqual({ events: [], payload: body });
});

test.each([
  ['200 levels', `${'['.repeat(200)}${']'.repeat(200)}`],
  ['250,000 values', `[${Array(249_999).fill('{ }').join(',\n')}]`],
  ['250,000 values of keys', `[${Array(83_333).fill('{"a":[""]}').join()}]`],
  ['a string with 250,000 brackets and quotes', `["\\\\${'[{\\",\\\\'.repeat(250_000)}"]`],
])('a body of %s is parsed', async (_what, body) => {
  expect((await read(body)).payload).toEqual(JSON.parse(body));
});

test('the values of a body are counted as JSON.parse returns them, however its bytes are split', () => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 1
      : Object.values(value).reduce<number>((sum, part) => sum + count(part), 1);
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat(), fc.nat(4), (text, cut, space) => {
      const indented = JSON.stringify(JSON.parse(text), null, space);
      const bytes = Buffer.from(indented);
      const at = cut % (bytes.length + 1);
      const size = new JsonSize().add(bytes.subarray(0, at)).add(bytes.subarray(at));
      expect(size).toMatchObject({ bytes: bytes.length, values: count(JSON.parse(text)) });
    }),
  );
});

test('the summary names each address that events concern, once, and a chain only when it is the only one', () => {
  const one = { chain_id: 1, from: address(1), to: address(2) };
  expect(summarize({ transactions: [one, { ...one, to: null, logs: [{ address: address(9) }] }] })).toEqual({
    type: 'transactions',
    chainId: 1,
    addresses: [address(1), address(2)],
    lacksSubscriber: false,
  });
  expect(summarize({ activities: [one], balance_changes: [] })).toMatchObject({ lacksSubscriber: true });
  expect(summarize({ transactions: [one, { ...one, chain_id: 2 }] }).chainId).toBeNull();
  const change = {
    subscribed_address: address(1),
    counterparty_address: address(2),
    asset: { token_address: address(3) },
  };
  const many = [...Array(9999).fill({}), one, { from: address(3) }];
  expect(summarize({ activities: many }).addresses).toEqual([address(1), address(2)]);
  expect(summarize({ balance_changes: [change] }).addresses).toEqual([address(1), address(2), address(3)]);
});

test('what a body says that its event lacks is read as far as it is names', () => {
  expect(omittedIn({ transactions: [], omitted: ['data', 7, null, 'logs'] })).toEqual(['data', 'logs']);
  expect(omittedIn({ omitted: Array.from({ length: 99 }, (_, at) => String(at)) })).toHaveLength(20);
  for (const body of [{}, [], 'text', { omitted: 'data' }, { omitted: null }])
    expect(omittedIn(body)).toEqual([]);
});
