import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway/start.ts';
import {
  addressOf,
  type Fields,
  freshAddress,
  hashOf,
  timeAt,
  transaction,
  transactionsEnvelope,
} from '../support/upstream/builders.ts';
import type { Reply } from '../support/upstream/fake-service.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

type Connection = {
  nodes: (Fields | null)[];
  requestTime: string | null;
  responseTime: string | null;
  partialErrors: unknown;
};

const everything = `query ($address: Address!) {
  wallet(address: $address) {
    transactions(first: 1000) {
      requestTime responseTime partialErrors
      nodes {
        id address chain chainId hash blockHash blockNumber blockTime index from to value data nonce gasPrice
        gasUsed effectiveGasPrice success transactionType direction
        decoded { name inputs { name type value } }
        logs { address data topics decoded { name inputs { name type value } } }
      }
    }
  }
}`;

/** The gateway's response to one answer of upstream. It must have no error. */
const shown = async (reply: Reply, address = freshAddress()) => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  fake.transactions.set(address, () => reply);
  const { wallet } = await gateway.data<{ wallet: { transactions: Connection } }>(everything, { address });
  return wallet.transactions;
};

const shownOne = async (fields: Fields) => {
  const { nodes } = await shown({ json: transactionsEnvelope([transaction(fields)]) });
  return nodes[0];
};

const instant = (time: unknown) => Date.parse(String(time));

test('every field of a transaction reaches the client, numbers as decimal strings, hex in lower case', async () => {
  const address = freshAddress();
  const sent = transaction({
    address,
    chain_id: 1,
    hash: hashOf(0xabcdef).toUpperCase().replace('0X', '0x'),
    data: '0xA9059CBB',
    gas_used: '0x5208',
    effective_gas_price: '0x3b9aca01',
    success: true,
  });
  const { nodes } = await shown({ json: transactionsEnvelope([sent]) }, address);
  expect(nodes).toEqual([
    {
      id: expect.any(String),
      address,
      chain: 'ethereum',
      chainId: 1,
      hash: hashOf(0xabcdef),
      blockHash: hashOf(0xb10c),
      blockNumber: '21000000',
      blockTime: expect.any(String),
      index: '7',
      from: addressOf(1),
      to: addressOf(2),
      value: '1000000000000000000',
      data: '0xa9059cbb',
      nonce: '42',
      gasPrice: '1000000000',
      gasUsed: '21000',
      effectiveGasPrice: '1000000001',
      success: true,
      transactionType: '2',
      direction: null,
      decoded: null,
      logs: [],
    },
  ]);
  expect(instant(nodes[0]?.blockTime)).toBe(instant(timeAt(0)));
});

test('a block time with an offset is the same moment in UTC', async () => {
  const node = await shownOne({ block_time: '2025-11-13T06:42:10+02:00' });
  expect(instant(node?.blockTime)).toBe(Date.UTC(2025, 10, 13, 4, 42, 10));
  expect(node?.blockTime).toMatch(/Z$/);
});

test('decoded calls keep the nesting of arrays and tuples, every leaf a string', async () => {
  const inputs = [
    {
      name: 'amount',
      type: 'uint256',
      value: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    },
    { name: 'path', type: 'address[]', value: [addressOf(3), addressOf(4)] },
    {
      name: 'orders',
      type: '(address,uint256)[]',
      value: [
        [addressOf(5), '1'],
        [addressOf(6), '2'],
      ],
    },
  ];
  const node = await shownOne({ decoded: { name: 'swap', inputs } });
  expect(node?.decoded).toEqual({ name: 'swap', inputs });
});

test('numbers inside decoded values keep all their digits', async () => {
  const inputs = [{ name: 'amount', type: 'uint64[]', value: [9007199254740993n, '2'] }];
  const node = await shownOne({ decoded: { name: 'f', inputs } });
  expect(node?.decoded).toEqual({
    name: 'f',
    inputs: [{ name: 'amount', type: 'uint64[]', value: ['9007199254740993', '2'] }],
  });
});

test('logs have the decoded event when upstream decodes it', async () => {
  const inputs = [{ name: 'from', type: 'address', value: addressOf(1) }];
  const known = {
    address: addressOf(9),
    data: '0xFF',
    topics: [hashOf(1), hashOf(2)],
    decoded: { name: 'Moved', inputs },
  };
  const unknown = { address: addressOf(8), data: '0x', topics: [] };
  const node = await shownOne({ logs: [known, unknown] });
  expect(node?.logs).toEqual([
    {
      address: addressOf(9),
      data: '0xff',
      topics: [hashOf(1), hashOf(2)],
      decoded: { name: 'Moved', inputs },
    },
    { address: addressOf(8), data: '0x', topics: [], decoded: null },
  ]);
});

test.each([
  { kind: 'absent', to: undefined },
  { kind: 'null', to: null },
])('to is null when a contract is created and the service says so by $kind', async ({ to }) => {
  expect((await shownOne({ to }))?.to).toBeNull();
});

test.each([
  { kind: 'absent', logs: undefined },
  { kind: 'null', logs: null },
])('logs that are $kind are an empty list', async ({ logs }) => {
  expect((await shownOne({ logs }))?.logs).toEqual([]);
});

test.each([
  { kind: 'absent', decoded: undefined },
  { kind: 'null', decoded: null },
])('decoded that is $kind is null', async ({ decoded }) => {
  expect((await shownOne({ decoded }))?.decoded).toBeNull();
});

test('decoded that is {} affects no other field', async () => {
  const node = await shownOne({
    decoded: {},
    logs: [{ address: addressOf(1), data: '0x', topics: [], decoded: {} }],
  });
  expect([null, { name: null, inputs: [] }]).toContainEqual(node?.decoded);
});

test.each([
  { kind: 'a hex string', nonce: '0x20000000000001' },
  { kind: 'a decimal string', nonce: '9007199254740993' },
  { kind: 'a JSON number', nonce: 9007199254740993n },
])('a quantity beyond 2^53 that comes as $kind keeps all its digits', async ({ nonce }) => {
  expect(await shownOne({ nonce, value: nonce, block_number: nonce })).toMatchObject({
    nonce: '9007199254740993',
    value: '9007199254740993',
    blockNumber: '9007199254740993',
  });
});

test('small JSON numbers are accepted as well', async () => {
  expect(await shownOne({ block_number: 5, index: 0, nonce: 0 })).toMatchObject({
    blockNumber: '5',
    index: '0',
    nonce: '0',
  });
});

test('requestTime and responseTime come with the page, and are null when upstream omits them', async () => {
  const timed = await shown({ json: transactionsEnvelope([transaction()]) });
  expect([instant(timed.requestTime), instant(timed.responseTime)]).toEqual([
    instant(timeAt(100)),
    instant(timeAt(101)),
  ]);
  const bare = await shown({ json: { transactions: [transaction()] } });
  expect(bare).toMatchObject({ requestTime: null, responseTime: null, partialErrors: null });
  expect(bare.nodes).toHaveLength(1);
});

test.each([{ times: [100, 200] }, { times: [200, 100] }])(
  'a page over two upstream pages requested at the seconds $times has the older requestTime',
  async ({ times }) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, ({ query }) => {
      const second = query.has('offset');
      const request_time = timeAt(times[second ? 1 : 0] ?? 0);
      const item = transaction({ hash: hashOf(second ? 1 : 2), block_time: timeAt(second ? 1 : 2) });
      return { json: transactionsEnvelope([item], { request_time, next_offset: second ? null : 'two' }) };
    });
    const { wallet } = await gateway.data<{ wallet: { transactions: Connection } }>(everything, { address });
    expect(wallet.transactions.nodes).toHaveLength(2);
    expect(instant(wallet.transactions.requestTime)).toBe(instant(timeAt(100)));
  },
);

test('partialErrors has the failure of a part of the answer, and the rest is complete', async () => {
  const errors = {
    error_message: 'one chain is late',
    transaction_errors: [{ chain_id: 10, address: addressOf(1) }],
  };
  const warnings = [{ code: 'UNSUPPORTED_CHAIN_IDS', message: 'chain 5 is not supported', chain_ids: [5] }];
  const page = await shown({ json: transactionsEnvelope([transaction()], { errors, warnings }) });
  expect(page.nodes).toHaveLength(1);
  expect(page.partialErrors).toEqual({ errors, warnings });
});

test('a transaction id is unique for a wallet, a chain and a hash', async () => {
  const same = transaction({ hash: hashOf(1), block_time: timeAt(9) });
  const items = [same, transaction({ ...same, chain: 'base' }), transaction({ hash: hashOf(2) })];
  const [address, other] = [freshAddress(), freshAddress()];
  const idsOf = ({ nodes }: Connection) => nodes.map((node) => node?.id);
  const first = idsOf(await shown({ json: transactionsEnvelope(items) }, address));
  const again = idsOf(await shown({ json: transactionsEnvelope(items) }, address));
  const others = idsOf(await shown({ json: transactionsEnvelope(items) }, other));
  expect(again).toEqual(first);
  expect(new Set([...first, ...others]).size).toBe(6);
});
