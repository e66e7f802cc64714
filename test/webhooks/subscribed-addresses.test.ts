import { expect, test } from 'vitest';
import { monotonicClock } from '../../src/lib/deadlines.ts';
import { createUpstreamClient } from '../../src/upstream/client/client.ts';
import { UpstreamError } from '../../src/upstream/client/errors.ts';
import {
  createAddressLookup,
  type FetchAddress,
  SubscribedAddresses,
} from '../../src/webhooks/subscribed-addresses.ts';
import { addressOf } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';

const [WALLET, OTHER] = [addressOf(0xa1), addressOf(0xb2)];
const WEBHOOK = { cachePartition: 'shared', webhookId: '0190aaaa-bbbb-7ccc-8ddd-000000000001' };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type State = {
  now: number;
  /** Undefined: upstream refuses to list the addresses. */
  address: string | null | undefined;
  asked: number;
  fails: boolean;
};

/** Over a clock that the test moves, and an upstream that the test changes. */
const start = () => {
  const state: State = { now: Date.parse('2026-01-02T03:04:05Z'), address: WALLET, asked: 0, fails: false };
  const ask: FetchAddress = async () => {
    state.asked += 1;
    if (state.fails) throw new UpstreamError('unavailable', 'down');
    return state.address;
  };
  const subscribed = new SubscribedAddresses({ ask, now: () => state.now });
  return {
    state,
    known: subscribed.of(WEBHOOK),
    /** The subscribed address of an event that happened `agoMs` ago. */
    find: (agoMs = 0) => subscribed.find(WEBHOOK, () => state.now - agoMs),
  };
};

test('upstream is asked once in five minutes, and again half a minute after a failure', async () => {
  const { state, find } = start();
  expect([await find(), await find(HOUR_MS)]).toEqual([WALLET, WALLET]);
  expect(state.asked).toBe(1);
  state.now += 6 * MINUTE_MS;
  state.fails = true;
  expect([await find(), await find()]).toEqual([WALLET, WALLET]);
  expect(state.asked).toBe(2);
  state.now += MINUTE_MS;
  expect(await find()).toBe(WALLET);
  expect(state.asked).toBe(3);
});

test('a refusal to list the addresses leaves a known address, and is asked again in five minutes', async () => {
  const { state, find } = start();
  expect(await find()).toBe(WALLET);
  state.now += 6 * MINUTE_MS;
  state.address = undefined;
  expect([await find(), await find(), state.asked]).toEqual([WALLET, WALLET, 2]);
  state.now += 6 * MINUTE_MS;
  expect([await find(), state.asked]).toEqual([WALLET, 3]);
});

test('an address that nothing has confirmed for a day does not count', async () => {
  const { state, find } = start();
  expect(await find()).toBe(WALLET);
  state.fails = true;
  state.now += 25 * HOUR_MS;
  expect(await find()).toBeNull();
  state.fails = false;
  state.now += MINUTE_MS;
  expect(await find()).toBe(WALLET);
});

test('a list that changed without the gateway counts for events after the gateway noticed, and a day later for all', async () => {
  const { state, find } = start();
  expect(await find()).toBe(WALLET);
  state.now += 6 * MINUTE_MS;
  state.address = OTHER;
  expect(await find()).toBeNull();
  state.now += 2 * MINUTE_MS;
  expect([await find(), await find(3 * MINUTE_MS)]).toEqual([OTHER, null]);
  for (let minutes = 0; minutes < 25 * 60; minutes += 4) {
    state.now += 4 * MINUTE_MS;
    await find();
  }
  // No retried delivery is as old as that.
  expect(await find(26 * HOUR_MS)).toBe(OTHER);
});

test('a list under change has no known address, and a read that began before the change is ignored', async () => {
  const { state, known, find } = start();
  const late = known.beginRead();
  const done = Promise.withResolvers<void>();
  const changing = known.change(OTHER, () => done.promise);
  expect(await find()).toBeNull();
  done.resolve();
  await changing;
  late(WALLET);
  state.now += 2 * MINUTE_MS;
  expect([await find(), await find(3 * MINUTE_MS)]).toEqual([OTHER, null]);
});

test('a rejected change changes nothing; after a failed one only upstream knows', async () => {
  const { state, known, find } = start();
  expect(await find()).toBe(WALLET);
  const fail = (failure: 'rejected' | 'timeout') =>
    known.change(OTHER, () => Promise.reject(new UpstreamError(failure, 'no')));
  await expect(fail('rejected')).rejects.toThrow(UpstreamError);
  expect([await find(HOUR_MS), state.asked]).toEqual([WALLET, 1]);
  await expect(fail('timeout')).rejects.toThrow(UpstreamError);
  expect([await find(HOUR_MS), state.asked]).toEqual([null, 2]);
  state.now += 2 * MINUTE_MS;
  expect(await find()).toBe(WALLET);
});

test('the same list again is no change', async () => {
  const { known, find } = start();
  expect(await find()).toBe(WALLET);
  await known.change(WALLET, async () => {});
  expect(await find(HOUR_MS)).toBe(WALLET);
});

test.each([400, 404, 405, 422])(
  "an address from a caller's change survives a service that answers %i",
  async (status) => {
    await using service = await startFakeService({ other: () => ({ status }) });
    const client = createUpstreamClient({
      url: service.url,
      keyHeader: 'X-Key',
      timeoutMs: 10_000,
      connections: 1,
      perSecond: null,
    });
    try {
      let now = Date.parse('2026-01-02T03:04:05Z');
      const ask = createAddressLookup(client, { key: 'a key', owner: 'gateway' }, monotonicClock);
      const subscribed = new SubscribedAddresses({ ask, now: () => now });
      subscribed.of(WEBHOOK).prime(WALLET);
      now += 6 * MINUTE_MS;
      expect(await subscribed.find(WEBHOOK, () => now)).toBe(WALLET);
      expect(service.requests.map(({ method }) => method)).toEqual(['GET']);
    } finally {
      await client.close();
    }
  },
);
