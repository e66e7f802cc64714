import { createRefetching } from 'evm-graphql-gateway/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** Refetches of the client package, by a clock of their own. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('383 events of a minute over four wallets are at most thirteen refetches, each wallet once in each', async () => {
  const asked: (readonly string[])[] = [];
  const refetching = createRefetching<string>(async (keys) => asked.push(keys));
  const wallets = ['a', 'b', 'c', 'd'];
  for (let event = 0; event < 383; event += 1) {
    refetching.changed(wallets[event % 4] ?? '');
    await vi.advanceTimersByTimeAsync(60_000 / 383);
  }
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.length).toBeLessThanOrEqual(13);
  for (const keys of asked.slice(1)) expect(keys.toSorted()).toEqual(wallets);
});

test('an older answer never comes after a newer one, and what changes meanwhile is refetched', async () => {
  const running: (() => void)[] = [];
  const asked: (readonly string[])[] = [];
  const refetching = createRefetching<string>(
    (keys) => {
      asked.push(keys);
      return new Promise<void>((resolve) => running.push(resolve));
    },
    { waitMs: 10, everyMs: 100 },
  );
  refetching.changed('a');
  await vi.advanceTimersByTimeAsync(10);
  refetching.changed('a', 'b');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toEqual([['a']]);
  running[0]?.();
  await vi.advanceTimersByTimeAsync(10);
  expect(asked).toEqual([['a'], ['a', 'b']]);
  running[1]?.();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(2);
});

test('a refetch that fails is said, and the next change refetches; after its end there is none', async () => {
  const failures: unknown[] = [];
  const signals: AbortSignal[] = [];
  const refetching = createRefetching<string>(
    async (_keys, signal) => {
      signals.push(signal);
      throw new Error('away');
    },
    { waitMs: 10, everyMs: 100, failed: (reason) => failures.push(reason) },
  );
  refetching.changed('a');
  await vi.advanceTimersByTimeAsync(10);
  refetching.changed('a');
  await vi.advanceTimersByTimeAsync(100);
  expect(failures.map(String)).toEqual(['Error: away', 'Error: away']);
  refetching.changed('a');
  refetching.close();
  await vi.advanceTimersByTimeAsync(1000);
  expect([signals.length, signals[0]?.aborted]).toEqual([2, true]);
});
