import { createHmac } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/backend/dispatch/memory-store.ts';
import { ALICE, BASE, BOB, block, transaction, transfer } from './support/builders.ts';
import type { Received } from './support/receiver.ts';
import { eventually, startReceiver } from './support/receiver.ts';
import { startDelivering, startService } from './support/service.ts';

const BLOCK = block([transaction()]);

const retryIndexes = (received: readonly Received[]): string[] =>
  received.map(({ headers }) => String(headers['x-sandbox-webhook-retry-index']));

describe('a delivery', () => {
  test('names its webhook, type, chain, time and attempt in headers', async () => {
    await using service = await startDelivering();
    const id = service.create({ type: 'balances' });
    service.webhooks.handleBlock(block([transaction({ effects: [transfer()] })], BASE));
    const [received] = await service.receiver.until(1);
    expect(received?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-sandbox-webhook-id': id,
      'x-sandbox-webhook-type': 'balances',
      'x-sandbox-webhook-chain-id': '8453',
      'x-sandbox-webhook-dispatch-timestamp': '2025-11-13T05:00:00.000Z',
      'x-sandbox-webhook-retry-index': '0',
    });
    expect(received?.headers).not.toHaveProperty('x-sandbox-webhook-signature');
  });

  test('is signed over its raw body when there is a secret', async () => {
    await using service = await startDelivering(undefined, { signatureSecret: 'hush' });
    service.create();
    service.webhooks.handleBlock(BLOCK);
    const [received] = await service.receiver.until(1);
    const expected = createHmac('sha256', 'hush')
      .update(received?.body ?? '')
      .digest('hex');
    expect(received?.headers['x-sandbox-webhook-signature']).toBe(expected);
  });

  test.each([
    ['transactions', 'transactions'],
    ['activities', 'activities'],
    ['balances', 'balance_changes'],
  ])('of %s has all events of the block under %s', async (type, key) => {
    await using service = await startDelivering();
    service.create({ type });
    service.webhooks.handleBlock(block([1, 2].map((index) => transaction({ index, effects: [transfer()] }))));
    await service.webhooks.settled();
    expect(service.receiver.received).toHaveLength(1);
    const body = JSON.parse(service.receiver.received[0]?.body ?? '');
    expect(Object.keys(body)).toEqual([key, 'delivery_id']);
    expect(body[key]).toHaveLength(2);
  });

  test('goes to every webhook that the block matches, with its own events', async () => {
    await using service = await startDelivering();
    const sender = service.create({ transaction_type: 'sender' });
    const receiver = service.create({ addresses: [BOB] });
    service.webhooks.handleBlock(BLOCK);
    const received = await service.receiver.until(2);
    const addresses = received.map(({ headers, body }) => [
      headers['x-sandbox-webhook-id'],
      JSON.parse(body).transactions[0].address,
    ]);
    expect(Object.fromEntries(addresses)).toEqual({ [sender]: ALICE, [receiver]: BOB });
  });
});

test('the deliveries of a block to many urls are not all begun in one turn of the event loop', async () => {
  const store = createMemoryStore(() => 0);
  let begun = 0;
  const { next } = store.deliveries;
  const deliveries = {
    ...store.deliveries,
    next(...asked: Parameters<typeof next>) {
      const delivery = next(...asked);
      if (delivery !== null) begun += 1;
      return delivery;
    },
  };
  await using service = await startDelivering(undefined, { store: { ...store, deliveries } });
  const { url } = service.receiver;
  for (let count = 0; count < 50; count += 1) service.create({ url: `${url}/${count}` });
  service.webhooks.handleBlock(BLOCK);
  const turns: number[] = [];
  for (let before = 0; before < 50; before = begun) {
    await turn();
    turns.push(begun - before);
  }
  expect(Math.max(...turns)).toBeLessThanOrEqual(16);
  await service.webhooks.settled();
  expect(new Set(service.receiver.received.map(({ path }) => path)).size).toBe(50);
});

describe('a delivery that is not accepted', () => {
  test.each([500, 404, 302, 'hang up', 'never'] as const)(
    '(%s) is tried again, byte for byte',
    async (answer) => {
      await using service = await startDelivering((index) => (index < 2 ? answer : 204), {
        // Long enough for a busy machine to answer the third attempt.
        deliveryTimeoutMs: answer === 'never' ? 500 : 10_000,
      });
      service.create();
      service.webhooks.handleBlock(BLOCK);
      await service.webhooks.settled();
      const { received } = service.receiver;
      expect(retryIndexes(received)).toEqual(['0', '1', '2']);
      expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    },
  );

  test('is abandoned after five retries, and that is logged', async () => {
    const logged: unknown[] = [];
    await using service = await startDelivering(() => 503, {
      log: (message, details) => logged.push([message, details]),
    });
    const webhookId = service.create();
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.settled();
    expect(retryIndexes(service.receiver.received)).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(logged).toEqual([['delivery abandoned', { webhookId, chainId: 1, retries: 5 }]]);
  });

  test('reaches a url that starts between two retries', async () => {
    const down = await startReceiver();
    await down[Symbol.asyncDispose]();
    await using service = startService({ retries: { firstMs: 20, factor: 2 } });
    const id = service.create({ url: down.url });
    service.webhooks.handleBlock(BLOCK);
    await using up = await startReceiver();
    service.json('PATCH', `/${id}`, { url: `${up.url}/moved` });
    const [received] = await up.until(1);
    expect(received?.path).toBe('/moved');
    expect(Number(received?.headers['x-sandbox-webhook-retry-index'])).toBeGreaterThanOrEqual(0);
  });

  test('is retried at the new url when that has changed', async () => {
    await using elsewhere = await startReceiver();
    await using service = await startDelivering(() => {
      service.json('PATCH', `/${id}`, { url: elsewhere.url });
      return 500;
    });
    const id = service.create();
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.settled();
    expect(retryIndexes(service.receiver.received)).toEqual(['0']);
    expect(retryIndexes(elsewhere.received)).toEqual(['1']);
    expect(elsewhere.received[0]?.body).toBe(service.receiver.received[0]?.body);
  });
});

test('a queued delivery goes to the new url when that has changed', async () => {
  await using elsewhere = await startReceiver();
  await using service = await startDelivering(() => 'never', { deliveryTimeoutMs: 1_000 });
  const id = service.create();
  for (let count = 0; count < 3; count++) service.webhooks.handleBlock(BLOCK);
  await service.receiver.until(1);
  service.json('PATCH', `/${id}`, { url: elsewhere.url });
  await service.webhooks.settled();
  expect(service.receiver.received).toHaveLength(1);
  expect(retryIndexes(elsewhere.received).sort()).toEqual(['0', '0', '1']);
});

describe('pausing', () => {
  test('stops new deliveries, and resuming lets only new ones through', async () => {
    await using service = await startDelivering();
    const id = service.create();
    const deliver = (nonce: number) => service.webhooks.handleBlock(block([transaction({ nonce })]));
    service.json('PATCH', `/${id}`, { active: false });
    deliver(1);
    service.json('PATCH', `/${id}`, { active: true });
    deliver(2);
    await service.webhooks.settled();
    const nonces = service.receiver.received.map(({ body }) => JSON.parse(body).transactions[0].nonce);
    expect(nonces).toEqual(['0x2']);
  });

  test.each(['PATCH', 'DELETE'])('by %s drops pending retries, which do not come back', async (method) => {
    await using service = await startDelivering(() => {
      service.ask(method, `/${id}`, { active: false });
      return 500;
    });
    const id = service.create();
    service.webhooks.handleBlock(BLOCK);
    await service.receiver.until(1);
    await service.webhooks.settled();
    service.ask('PATCH', `/${id}`, { active: true });
    await service.webhooks.settled();
    expect(retryIndexes(service.receiver.received)).toEqual(['0']);
  });

  test.each(['PATCH', 'DELETE'])('by %s aborts requests to a slow url', async (method) => {
    await using service = await startDelivering(() => 'never', { deliveryTimeoutMs: 600_000 });
    const id = service.create();
    for (let count = 0; count < 20; count++) service.webhooks.handleBlock(BLOCK);
    await service.receiver.until(1);
    service.ask(method, `/${id}`, { active: false });
    await service.webhooks.settled();
    await eventually(() => service.receiver.open() === 0);
    expect(service.receiver.received).toHaveLength(1);
  });

  test('and resuming at once lets new deliveries through while the old ones are being aborted', async () => {
    await using service = await startDelivering((index) => (index === 0 ? 'never' : 200));
    const id = service.create();
    service.webhooks.handleBlock(BLOCK);
    await service.receiver.until(1);
    service.json('PATCH', `/${id}`, { active: false });
    service.json('PATCH', `/${id}`, { active: true });
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.settled();
    expect(retryIndexes(service.receiver.received)).toEqual(['0', '0']);
  });

  test('another setting changes nothing about pending retries', async () => {
    await using service = await startDelivering((index) => {
      service.json('PATCH', `/${id}`, { name: 'new', active: null });
      return index === 0 ? 500 : 200;
    });
    const id = service.create();
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.settled();
    expect(retryIndexes(service.receiver.received)).toEqual(['0', '1']);
  });
});

describe('bounds', () => {
  test('at most eight concurrent requests go to one url, each of another webhook', async () => {
    await using service = await startDelivering(() => 'never');
    for (let count = 0; count < 12; count++) service.create();
    for (let count = 0; count < 4; count++) service.webhooks.handleBlock(BLOCK);
    await service.receiver.until(8);
    // A ninth request would have been sent with the others: wait for it.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(service.receiver.open()).toBe(8);
    const webhooks = service.receiver.received.map(({ headers }) => headers['x-sandbox-webhook-id']);
    expect(new Set(webhooks).size).toBe(8);
  });

  test('a url that hangs does not hold up another', async () => {
    await using hanging = await startReceiver(() => 'never');
    await using service = await startDelivering();
    service.create({ url: hanging.url });
    for (let count = 0; count < 20; count++) service.webhooks.handleBlock(BLOCK);
    await hanging.until(1);
    service.create();
    service.webhooks.handleBlock(BLOCK);
    await service.receiver.until(1);
  });

  test('a webhook has at most 1,000 pending deliveries: the rest is dropped and logged', async () => {
    const logged: string[] = [];
    await using service = await startDelivering(() => 'never', { log: (message) => logged.push(message) });
    service.create();
    for (let count = 0; count < 1003; count++) service.webhooks.handleBlock(BLOCK);
    expect(logged).toEqual(['delivery dropped', 'delivery dropped', 'delivery dropped']);
  });
});

describe('a queue that fails for a while, as on a full disk', () => {
  const failing = (failures: number) => {
    const store = createMemoryStore(Date.now);
    let left = failures;
    const fail = <Args extends readonly unknown[], Result>(work: (...args: Args) => Result) => {
      return (...args: Args): Result => {
        if (left-- > 0) throw new Error('the disk is full');
        return work(...args);
      };
    };
    return { store, fail };
  };

  test.each(['record', 'next', 'heldUntil'] as const)('(%s) makes a pause, and is named', async (part) => {
    const { store, fail } = failing(1);
    const { record, next, heldUntil } = store.deliveries;
    const failed = { record: fail(record), next: fail(next), heldUntil: fail(heldUntil) };
    const lines: unknown[] = [];
    await using service = await startDelivering(undefined, {
      store: { ...store, deliveries: { ...store.deliveries, [part]: failed[part] } },
      log: (message, details) => lines.push([message, details]),
    });
    service.create();
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.settled();
    expect(service.receiver.received).toHaveLength(1);
    expect(lines).toEqual([
      ['deliveries could not be read or stored', { problem: 'Error: the disk is full' }],
    ]);
  });

  test('does not hold up a stop', async () => {
    const { store, fail } = failing(Number.POSITIVE_INFINITY);
    const deliveries = { ...store.deliveries, record: fail(store.deliveries.record) };
    await using receiver = await startReceiver();
    const service = startService({ store: { ...store, deliveries } });
    service.create({ url: receiver.url });
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.stop();
    expect(store.deliveries.webhookIds()).toHaveLength(1);
  });
});

describe('a webhook without a url', () => {
  test('delivers nothing until it gets one', async () => {
    await using service = await startDelivering();
    const id = service.create();
    service.json('PATCH', `/${id}`, { url: null });
    service.webhooks.handleBlock(BLOCK);
    service.json('PATCH', `/${id}`, { url: service.receiver.url });
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.settled();
    expect(service.receiver.received).toHaveLength(1);
  });
});

describe('stop', () => {
  test('aborts requests in flight, drops retries, and delivers no more', async () => {
    await using receiver = await startReceiver((index) => (index === 0 ? 500 : 'never'));
    const service = startService({ retries: { firstMs: 60_000, factor: 2 } });
    service.create({ url: receiver.url });
    service.webhooks.handleBlock(BLOCK);
    await receiver.until(1);
    service.webhooks.handleBlock(BLOCK);
    await receiver.until(2);
    await service.webhooks.stop();
    service.webhooks.handleBlock(BLOCK);
    await service.webhooks.settled();
    await eventually(() => receiver.open() === 0);
    expect(receiver.received).toHaveLength(2);
  });
});
