import { afterEach, expect, test, vi } from 'vitest';
import { createDeadline } from '../../src/lib/deadlines.ts';
import { createRequestLimiter } from '../../src/upstream/client/limits.ts';

afterEach(() => void vi.restoreAllMocks());

test('a request never waits for a negative time, which Node warns of, whenever the clock moves', async () => {
  const waits = vi.spyOn(globalThis, 'setTimeout');
  let time = 0;
  const limiter = createRequestLimiter(10, 500, () => {
    time += 1.5;
    return time;
  });
  const started: number[] = [];
  const run = (number: number) =>
    limiter.run(
      createDeadline(60_000, () => null),
      async () => void started.push(number),
    );
  await Promise.all(Array.from({ length: 20 }, (_, number) => run(number)));
  expect(started).toEqual(Array.from({ length: 20 }, (_, number) => number));
  expect(waits.mock.calls.map(([, ms]) => ms).filter((ms = 0) => ms < 0)).toEqual([]);
  expect(waits).toHaveBeenCalled();
});
