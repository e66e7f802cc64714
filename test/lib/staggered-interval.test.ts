import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStaggeredInterval } from '../../src/lib/tasks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each callback runs once in an interval, and few of them in one turn', () => {
  const interval = createStaggeredInterval(12_000);
  const calls = Array<number>(12_000).fill(0);
  for (const index of calls.keys())
    interval.add(() => {
      calls[index] = (calls[index] ?? 0) + 1;
    });
  const sum = () => calls.reduce((all, count) => all + count, 0);
  let most = 0;
  for (let round = 0; round < 120; round += 1) {
    const before = sum();
    vi.advanceTimersToNextTimer();
    most = Math.max(most, sum() - before);
  }
  expect(most).toBe(100);
  expect(new Set(calls)).toEqual(new Set([1]));
  interval.stop();
});

test('a removed callback runs no longer, and none does after the interval is stopped', () => {
  const interval = createStaggeredInterval(1000);
  const [removed, kept] = [vi.fn(), vi.fn()];
  const remove = interval.add(removed);
  interval.add(kept);
  vi.advanceTimersByTime(1000);
  remove();
  vi.advanceTimersByTime(1000);
  interval.stop();
  vi.advanceTimersByTime(1000);
  expect([removed, kept].map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
});
