import { expect, test } from 'vitest';
import { createDeadline } from '../../src/lib/deadlines.ts';

const clock = () => {
  const time = { ms: 1000, now: () => time.ms };
  return time;
};

test('reading the remaining time does not start the clock', () => {
  const time = clock();
  const deadline = createDeadline(500, () => null, time.now);
  expect(deadline.remainingMs()).toBe(500);
  time.ms += 400;
  expect(deadline.remainingMs()).toBe(500);
});

test('the clock runs from the first start on, and ends at 0', () => {
  const time = clock();
  const deadline = createDeadline(500, () => null, time.now);
  deadline.start();
  time.ms += 400;
  deadline.start();
  expect(deadline.remainingMs()).toBe(100);
  time.ms += 400;
  expect(deadline.remainingMs()).toBe(0);
});

test('a detached deadline has the same limit, another signal and its own clock', () => {
  const time = clock();
  const deadline = createDeadline(500, () => AbortSignal.abort(), time.now);
  deadline.start();
  time.ms += 400;
  const { signal } = new AbortController();
  const detached = deadline.detached(signal);
  expect(detached.signal).toBe(signal);
  detached.start();
  time.ms += 50;
  expect([deadline.remainingMs(), detached.remainingMs()]).toEqual([50, 450]);
});
