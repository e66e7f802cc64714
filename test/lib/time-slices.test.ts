import { expect, test } from 'vitest';
import { createMemoryGate } from '../../src/lib/memory-gate.ts';
import { createTimeSlices } from '../../src/lib/time-slices.ts';

/** Turns of the event loop and shares of the memory, as long works take them. */

/** A clock that goes on by a millisecond with each step of work. */
const startClock = () => {
  let now = 0;
  const slices = createTimeSlices(10, () => now);
  /** Does so many steps for its owner, and writes down in which order. */
  const work = async (owner: object, name: string, steps: number, done: string[]) => {
    for (let step = 0; step < steps; step += 1) {
      if (slices.isOver()) await slices.next(owner);
      now += 1;
      done.push(name);
    }
  };
  return { slices, work };
};

test('what runs longer than a slice goes on after the event loop has gone round', async () => {
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
  // Half of the slices were its own, so that it had to wait for as many of the other's.
  expect(done.lastIndexOf('one')).toBeLessThan(250);
  expect(done).toHaveLength(650);
});

test('where there is no room tasks wait until others leave, the first of them alone', async () => {
  const gate = createMemoryGate(100);
  const [a, b, c] = [gate.createShare(), gate.createShare(), gate.createShare()];
  for (const share of [a, b, c]) share.take(40);
  expect([a, b, c].map((share) => share.isAvailable())).toEqual([false, false, false]);
  const order: string[] = [];
  const waiting = [
    b.available().then(() => order.push('b')),
    // A task may wait for several of its works.
    b.available().then(() => order.push('b')),
    c.available().then(() => order.push('c')),
  ];
  await Promise.all(waiting.slice(0, 2));
  expect(order).toEqual(['b', 'b']);
  expect([a, b, c].map((share) => share.isAvailable())).toEqual([false, true, false]);
  b.release();
  await Promise.all(waiting);
  expect(c.isAvailable()).toBe(true);
  b.release();
  a.release();
  c.release();
  const next = gate.createShare();
  next.take(100);
  expect(next.isAvailable()).toBe(true);
});

test('a task that leaves while it waits waits no more', async () => {
  const gate = createMemoryGate(10);
  const [first, second] = [gate.createShare(), gate.createShare()];
  first.take(10);
  second.take(10);
  await first.available();
  const waiting = second.available();
  second.release();
  await waiting;
  expect(first.isAvailable()).toBe(true);
});

test('a task that has left takes nothing and waits for nothing, so that the others go on', async () => {
  const gate = createMemoryGate(10);
  const [left, other, last] = [gate.createShare(), gate.createShare(), gate.createShare()];
  left.release();
  left.take(1000);
  expect(other.isAvailable()).toBe(true);
  other.take(11);
  await left.available();
  await other.available();
  other.release();
  expect(last.isAvailable()).toBe(true);
});
