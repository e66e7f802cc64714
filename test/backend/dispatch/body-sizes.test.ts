import { describe, expect, test } from 'vitest';
import { readAll } from '../../deliveries/support/builders.ts';
import { startIngress } from '../../deliveries/support/ingress-server.ts';
import { ALICE, BOB, block, KNOWN_CALL, log, nftTransfer, transaction, USDC } from './support/builders.ts';
import { eventually } from './support/receiver.ts';
import { itemsIn, startDelivering, startService } from './support/service.ts';

/** Whatever a block holds, its bodies fit the door of the gateway. */

type Json = Record<string, unknown>;

const MB = 1024 * 1024;
const hexOf = (bytes: number): `0x${string}` => `0x${'ab'.repeat(bytes)}`;

/** The bodies that a gateway has stored of one block, in its order. */
const storedOf = async (fields: Json, given: ReturnType<typeof block>, count: number) => {
  const { url, log: stored } = await startIngress();
  await using service = startService();
  service.create({ url, ...fields });
  service.webhooks.handleBlock(given);
  await service.webhooks.settled();
  const deliveries = await readAll(stored);
  expect(deliveries).toHaveLength(count);
  return deliveries.map(({ body }) => Buffer.from(body).toString());
};

describe('a block with more for a webhook than a body may have', () => {
  test('comes in several bodies of about a megabyte, with each event once, in order', async () => {
    const transactions = Array.from({ length: 45 }, (_, index) =>
      transaction({ index, hash: `0x${String(index).padStart(64, '0')}`, data: hexOf(60_000) }),
    );
    const bodies = await storedOf({}, block(transactions), 6);
    for (const body of bodies) expect(body.length).toBeLessThanOrEqual(MB);
    expect(bodies.flatMap(itemsIn).map(({ index, data }) => [index, String(data).length])).toEqual(
      transactions.map(({ index }) => [index, 120_002]),
    );
  });

  test('has the events of a transaction in one body, unless they fill one alone', async () => {
    const transfers = (count: number) => Array.from({ length: count }, () => nftTransfer());
    const transactions = [800, 800, 800, 6_000].map((count, index) =>
      transaction({
        index,
        hash: `0x${String(index).padStart(64, '0')}`,
        to: USDC,
        effects: transfers(count),
      }),
    );
    await using service = await startDelivering();
    service.create({ type: 'activities', addresses: [BOB] });
    service.webhooks.handleBlock(block(transactions));
    await service.webhooks.settled();
    const items = service.receiver.received.map(({ body }) => itemsIn(body));
    const [first, second, ...others] = items.map((each) => [
      ...new Set(each.map(({ tx_hash }) => Number(tx_hash))),
    ]);
    expect([first, second]).toEqual([[0, 1], [2]]);
    expect(others.length).toBeGreaterThan(1);
    for (const each of others) expect(each).toEqual([3]);
    expect(items.flat()).toHaveLength(8_400);
  });
});

describe('an event that is too large by itself', () => {
  const HUGE = 3 * MB;

  test.each([
    ['call data', { data: hexOf(HUGE) }, ['data'], { logs: [{ ...log(), data: '0x05' }] }],
    [
      'data of its logs',
      { data: KNOWN_CALL, logs: [log({ data: hexOf(HUGE) })] },
      ['logs.data', 'logs.decoded'],
      { data: KNOWN_CALL },
    ],
    [
      'both',
      { data: hexOf(HUGE), logs: [log({ data: hexOf(HUGE) })] },
      ['data', 'logs.data', 'logs.decoded'],
      {},
    ],
    ['more logs than fit', { logs: Array.from({ length: 40_000 }, () => log()) }, ['data', 'logs'], {}],
  ] as const)('comes without %s, alone, and says so', async (_, fields, omitted, left) => {
    const [before, huge, after] = [
      { nonce: 1 },
      { nonce: 2, ...fields, logs: 'logs' in fields ? fields.logs : [log()] },
      { nonce: 3 },
    ];
    const bodies = await storedOf({}, block([before, huge, after].map((each) => transaction(each))), 3);
    const parsed = bodies.map((body) => JSON.parse(body));
    expect(parsed.map(({ transactions }) => transactions.map(({ nonce }: Json) => nonce))).toEqual([
      ['0x1'],
      ['0x2'],
      ['0x3'],
    ]);
    expect(parsed.map((body) => body.omitted)).toEqual([undefined, omitted, undefined]);
    const [item] = parsed[1].transactions;
    expect(item).toMatchObject({ address: ALICE, hash: transaction().hash, from: ALICE, to: BOB, ...left });
    for (const name of omitted.filter((each) => !each.includes('.'))) expect(item).not.toHaveProperty(name);
  });
});

test('each body of a block has an id of its own, which stays the same, and differs for another block with equal events', async () => {
  await using service = await startDelivering();
  for (let count = 0; count < 2; count++) service.create({ type: 'balances' });
  const one = block([transaction({ effects: [nftTransfer()] })]);
  const bodies = async (given: typeof one) => {
    const before = service.receiver.received.length;
    service.webhooks.handleBlock(given);
    await eventually(() => service.receiver.received.length === before + 2);
    return service.receiver.received
      .slice(before)
      .map(({ body }) => body)
      .toSorted();
  };
  const first = await bodies(one);
  expect(await bodies(one)).toEqual(first);
  const other = await bodies({ ...one, hash: `0x${'b'.repeat(64)}` });
  const ids = [...first, ...other].map((body) => JSON.parse(body).delivery_id);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(other.map((body) => itemsIn(body))).toEqual(first.map((body) => itemsIn(body)));
});
