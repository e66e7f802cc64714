import { expect, test } from 'vitest';
import { createRoundRobinScheduler, type Steps } from '../../src/lib/time-slices.ts';

const STEP_MS = 1;

const block = (): void => {
  const end = performance.now() + STEP_MS;
  while (performance.now() < end);
};

/** A task of that many steps of a millisecond each; `done` counts them. */
const busy = (count: number) => {
  const work = { done: 0, steps: steps() };
  function* steps(): Steps<number> {
    while (work.done < count) {
      block();
      work.done += 1;
      yield;
    }
    return count;
  }
  return work;
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a caller with many long tasks delays another by a slice, not by its tasks', async () => {
  const scheduler = createRoundRobinScheduler();
  const stop = new AbortController();
  const crowd = Array.from({ length: 50 }, () => busy(1000));
  const ends = crowd.map(({ steps }) => scheduler.runSteps('crowd', steps, stop.signal));
  const rejected = Promise.allSettled(ends);
  expect(await scheduler.run('one', () => 'served')).toBe('served');
  expect(crowd.reduce((sum, { done }) => sum + done, 0)).toBeLessThan(20);
  stop.abort(new Error('stopped'));
  expect(new Set((await rejected).map(({ status }) => status))).toEqual(new Set(['rejected']));
});

test('between slices the event loop has its turn, and tasks of one caller go on side by side', async () => {
  const scheduler = createRoundRobinScheduler();
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

test('an aborted task runs no further step, and an error rejects its own task alone', async () => {
  const scheduler = createRoundRobinScheduler();
  const long = busy(1_000_000);
  const abort = new AbortController();
  const aborted = scheduler.runSteps('caller', long.steps, abort.signal);
  const failed = scheduler.run('caller', () => {
    throw new Error('broken');
  });
  await expect(failed).rejects.toThrow('broken');
  abort.abort(new Error('aborted'));
  await expect(aborted).rejects.toThrow('aborted');
  const { done } = long;
  await turn();
  expect(long.done).toBe(done);
  expect(await scheduler.run('caller', () => 1)).toBe(1);
});

test('with slices of one step and pauses, tasks run one by one, callers take turns, and half of the time is left', async () => {
  const scheduler = createRoundRobinScheduler({ sliceMs: 0, pauses: true });
  const done: string[] = [];
  const run = (caller: string) =>
    scheduler.run(caller, () => {
      block();
      done.push(caller);
    });
  const start = performance.now();
  await Promise.all([...Array.from({ length: 20 }, () => run('many')), run('one')]);
  expect(done).toHaveLength(21);
  expect(done.indexOf('one')).toBe(1);
  // Timers may fire early by a part of a millisecond.
  expect(performance.now() - start).toBeGreaterThan(1.5 * 20 * STEP_MS);
});
