import { expect, test } from 'vitest';
import { FairScheduler, type Steps } from '../../src/lib/fair-scheduler.ts';

const STEP_MS = 1;

/** So many steps of a millisecond each; `done` counts them. */
const busy = (count: number) => {
  const work = { done: 0, steps: steps() };
  function* steps(): Steps<number> {
    while (work.done < count) {
      const end = performance.now() + STEP_MS;
      while (performance.now() < end);
      work.done += 1;
      yield;
    }
    return count;
  }
  return work;
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a caller with many long tasks delays another by a slice, not by its tasks', async () => {
  const scheduler = new FairScheduler();
  const crowd = Array.from({ length: 50 }, () => busy(1000));
  const ends = crowd.map(({ steps }) => scheduler.runSteps('crowd', steps, stop.signal));
  const refused = Promise.allSettled(ends);
  expect(await scheduler.run('one', () => 'served')).toBe('served');
  expect(crowd.reduce((sum, { done }) => sum + done, 0)).toBeLessThan(20);
  stop.abort(new Error('stopped'));
  expect(new Set((await refused).map(({ status }) => status))).toEqual(new Set(['rejected']));
});

const stop = new AbortController();

test('between slices the event loop has its turn, and tasks of one caller go on side by side', async () => {
  const scheduler = new FairScheduler();
  const [one, other] = [busy(20), busy(20)];
  const ends = Promise.all([one, other].map(({ steps }) => scheduler.runSteps('caller', steps)));
  let turns = 0;
  while (one.done < 20 || other.done < 20) {
    await turn();
    turns += 1;
    expect(Math.abs(one.done - other.done)).toBeLessThan(10);
  }
  expect(turns).toBeGreaterThan(5);
  expect(await ends).toEqual([20, 20]);
});

test('what is aborted runs no further step, and what throws ends alone', async () => {
  const scheduler = new FairScheduler();
  const long = busy(1_000_000);
  const given = new AbortController();
  const aborted = scheduler.runSteps('caller', long.steps, given.signal);
  const failed = scheduler.run('caller', () => {
    throw new Error('broken');
  });
  await expect(failed).rejects.toThrow('broken');
  given.abort(new Error('aborted'));
  await expect(aborted).rejects.toThrow('aborted');
  const { done } = long;
  await turn();
  expect(long.done).toBe(done);
  expect(await scheduler.run('caller', () => 1)).toBe(1);
});
