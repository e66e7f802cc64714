import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway/start.ts';
import {
  collectible,
  collectiblesEnvelope,
  freshAddress,
  transaction,
  transactionsEnvelope,
} from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The JSON text of a page, with `literal` in place of "?". */
const textOf = (page: object, literal: string): string => JSON.stringify(page).replace('"?"', literal);

test.each([
  { literal: '9007199254740993', value: '9007199254740993' },
  {
    literal: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    value: undefined,
  },
  { literal: '1e+21', value: '1000000000000000000000' },
  { literal: '1.25E21', value: '1250000000000000000000' },
  { literal: '123456789012345678901234567890e2', value: '12345678901234567890123456789000' },
  { literal: '9007199254740992', value: undefined },
  { literal: '42', value: '42' },
])('a value of $literal, as a JSON number, keeps every digit', async ({ literal, value = literal }) => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const page = transactionsEnvelope([transaction({ value: '?' })]);
  fake.transactions.set(address, () => ({ text: textOf(page, literal) }));
  const { wallet } = await gateway.data<{ wallet: { transactions: { nodes: unknown[] } } }>(
    'query ($address: Address!) { wallet(address: $address) { transactions { nodes { value } } } }',
    { address },
  );
  expect(wallet.transactions.nodes).toEqual([{ value }]);
});

test.each([
  { literal: '0.123456789012345678901', value: undefined },
  { literal: '12345678.000000000000000001', value: undefined },
  { literal: '0.5', value: undefined },
  { literal: '3', value: undefined },
  { literal: '10.0', value: '10' },
  { literal: '0.14017463965013963', value: undefined },
  { literal: '8.852246853764e-6', value: '0.000008852246853764' },
  { literal: '2.3754275952306002e-11', value: '0.000000000023754275952306002' },
  { literal: '1.233346836175539e+21', value: '1233346836175539000000' },
  { literal: '"2.5E-7"', value: '0.00000025' },
])(
  'a price of $literal, as JSON, keeps every digit and loses its exponent',
  async ({ literal, value = literal }) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    const page = collectiblesEnvelope([collectible({ last_sale_price: '?' })]);
    fake.collectibles.set(address, () => ({ text: textOf(page, literal) }));
    const { wallet } = await gateway.data<{ wallet: { collectibles: { nodes: unknown[] } } }>(
      'query ($address: Address!) { wallet(address: $address) { collectibles { nodes { lastSalePrice } } } }',
      { address },
    );
    expect(wallet.collectibles.nodes).toEqual([{ lastSalePrice: value }]);
  },
);

test('a number with an absurd exponent is not expanded', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const page = transactionsEnvelope([transaction({ value: '?' }), transaction()]);
  fake.transactions.set(address, () => ({ text: textOf(page, '1e999999999') }));
  const reply = await gateway.query<{ wallet: { transactions: { nodes: unknown[] } } }>(
    'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }',
    { address },
  );
  expect(reply.data?.wallet.transactions.nodes).toMatchObject([null, { hash: transaction().hash }]);
  expect(reply.errors?.[0]?.message).toContain('value');
});
