import { expect, test } from 'vitest';
import type { Answer } from '../../../src/backend/explorer/client/answers.ts';
import { createLimits } from '../../../src/backend/explorer/client/limits.ts';
import { keepShared, type RecordStore } from '../../../src/backend/explorer/client/shared-limits.ts';

/** What test/redis/explorers.test.ts can't make happen when it wants: clocks that differ, and records that are damaged. */

const START = Date.UTC(2026, 10, 27, 12);
const HOUR_MS = 3_600_000;

const startStore = () => {
  const texts = new Map<string, string>();
  let now = START;
  let isDown = false;
  const store: RecordStore = {
    async swap(name, expected, next) {
      if (isDown) return null;
      const found = texts.get(name) ?? null;
      if (found !== expected) return { isSwapped: false, text: found, now };
      texts.set(name, next);
      return { isSwapped: true, text: next, now };
    },
  };
  let processes = 0;
  return {
    /** The limits of another process, whose clock is ahead by so much. */
    limits(aheadMs = 0) {
      processes += 1;
      const clock = { now: () => now + aheadMs, after: () => () => {} };
      return createLimits(true, clock, keepShared(store, 'hosted', true, clock, `process ${processes}`));
    },
    advance(ms: number) {
      now += ms;
    },
    fail(down: boolean) {
      isDown = down;
    },
    damage(text: string) {
      for (const name of texts.keys()) texts.set(name, text);
    },
  };
};

const answer = (headers: Readonly<Record<string, string>> = {}, status = 200): Answer => ({
  ...{ status, text: '' },
  header: (name) => headers[name],
});

test('clocks that differ by an hour change nothing', async () => {
  const store = startStore();
  const early = store.limits(-HOUR_MS);
  const late = store.limits(HOUR_MS);
  for (const limits of [early, late, early, late, early]) expect(await limits.take(20)).toBeNull();
  expect(await late.take(20)).toEqual({ until: START + HOUR_MS + 1_100, fault: null });
  expect(await early.take(20)).toEqual({ until: START - HOUR_MS + 1_100, fault: null });
  store.advance(1_100);
  expect(await late.take(20)).toBeNull();

  const limited = answer({ 'x-ratelimit-reset': '5000' }, 429);
  const fault = await early.failed(20, limited, { kind: 'rateLimited', until: 0 });
  expect(fault).toEqual({ kind: 'rateLimited', until: START - HOUR_MS + 6_100 });
  const until = START + HOUR_MS + 6_100;
  expect(await late.take(20)).toEqual({ until, fault: { kind: 'rateLimited', until } });
});

test('pauses double over all processes', async () => {
  const store = startStore();
  const limited = answer({}, 429);
  const untils = [];
  for (const limits of [store.limits(), store.limits(), store.limits()]) {
    expect(await limits.take(20)).toBeNull();
    untils.push(await limits.failed(20, limited, { kind: 'rateLimited', until: 0 }));
    store.advance(10_000);
  }
  expect(untils).toEqual([1_000, 12_000, 24_000].map((ms) => ({ kind: 'rateLimited', until: START + ms })));
});

test('each has its share while the store is down, and knows what it knew before', async () => {
  const store = startStore();
  const all = [store.limits(), store.limits()] as const;
  for (const limits of all) {
    expect(await limits.take(20)).toBeNull();
    limits.succeeded(20, answer({ 'x-credits-remaining': '100' }));
  }
  for (const limits of all) expect(await limits.take(0)).toBeNull();
  store.advance(2_000);
  store.fail(true);
  for (const limits of all) {
    expect(await limits.take(20)).toBeNull();
    expect(await limits.take(20)).toBeNull();
    expect(await limits.take(20)).toMatchObject({ fault: null });
    store.advance(0);
  }
  store.advance(2_000);
  // Of 60 that are left, the other one may take the half.
  expect(await all[0].take(40)).toMatchObject({ fault: { kind: 'outOfCredits' } });
  store.fail(false);
  expect(await all[1].take(20)).toBeNull();
  expect(await all[0].take(0)).toMatchObject({ fault: { kind: 'outOfCredits' } });
  expect(await all[1].take(20)).toMatchObject({ fault: { kind: 'outOfCredits' } });
});

test.each(['', 'no JSON', '{}', '{"starts":"many"}'])(
  'a record that is damaged (%j) is made anew',
  async (text) => {
    const store = startStore();
    const one = store.limits();
    const other = store.limits();
    expect(await one.take(20)).toBeNull();
    store.damage(text);
    expect(await other.take(20)).toBeNull();
    expect(await one.take(20)).toBeNull();
    expect(one.state()).toMatchObject({ perSecond: 5, pause: null });
  },
);

test('what was under way in a process that has ended is not missing for ever', async () => {
  const store = startStore();
  const ended = store.limits();
  expect(await ended.take(90)).toBeNull();
  const other = store.limits();
  expect(await other.take(20)).toBeNull();
  other.succeeded(20, answer({ 'x-credits-remaining': '100' }));
  expect(await other.take(0)).toBeNull();
  expect(other.state().creditsLeft).toBe(10);
  store.advance(60_000);
  other.succeeded(0, answer({ 'x-credits-remaining': '100' }));
  expect(await other.take(20)).toBeNull();
});
