import { expect, test } from 'vitest';
import { createTimeSlices } from '../../src/lib/time-slices.ts';

/** Time slices on a clock that each step of work moves on by a millisecond. */
const startClock = () => {
  let now = 0;
  const slices = createTimeSlices(10, () => now);
  /** Works for that many steps, and adds the name to `done` at each of them. */
  const work = async (owner: object, name: string, steps: number, done: string[]) => {
    for (let step = 0; step < steps; step += 1) {
      if (slices.isOver()) await slices.next(owner);
      now += 1;
      done.push(name);
    }
  };
  return { work };
};

test('work that is longer than a slice goes on after a turn of the event loop', async () => {
  const { work } = startClock();
  const done: string[] = [];
  const working = work({}, 'a', 25, done);
  expect(done).toHaveLength(10);
  setImmediate(() => done.push('other'));
  await working;
  expect(done.indexOf('other')).toBeLessThan(25);
  expect(done).toHaveLength(26);
});

test('owners take turns, however many works each of them has', async () => {
  const { work } = startClock();
  const done: string[] = [];
  const [many, one] = [{}, {}];
  await Promise.all([
    ...Array.from({ length: 20 }, () => work(many, 'many', 30, done)),
    work(one, 'one', 50, done),
  ]);
  // Each owner had half of the slices, so `one` waited for at most as many slices of `many`.
  expect(done.lastIndexOf('one')).toBeLessThan(250);
  expect(done).toHaveLength(650);
});

test('works that need little share a slice, also after they have waited', async () => {
  const { work } = startClock();
  const done: string[] = [];
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  const long = work({}, 'long', 10, done);
  const short = Array.from({ length: 90 }, () => work({}, 'short', 1, done));
  setImmediate(count);
  await Promise.all([long, ...short]);
  isDone = true;
  expect(done).toHaveLength(100);
  // Nine slices of ten steps.
  expect(turns).toBeGreaterThan(7);
  expect(turns).toBeLessThan(12);
});
