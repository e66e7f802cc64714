import { afterEach, expect, test, vi } from 'vitest';
import { createMemoryBudget } from '../../src/lib/memory-budget.ts';

afterEach(() => void vi.useRealTimers());

test('a task that asks for more bytes than are left gets none, unless it is the only one that holds any', () => {
  const budget = createMemoryBudget(100);
  const [first, second] = [budget.reserve(), budget.reserve()];
  expect(first.tryGrow(150)).toBe(true);
  expect(second.tryGrow(1)).toBe(false);
  first.shrink(60);
  expect(second.tryGrow(10)).toBe(true);
  expect(first.tryGrow(1)).toBe(false);
  first.release();
  expect(second.tryGrow(1000)).toBe(true);
});

test('while the budget is exceeded tasks wait until others release their bytes, and the first of them goes on alone', async () => {
  const budget = createMemoryBudget(100);
  const [a, b, c] = [budget.reserve(), budget.reserve(), budget.reserve()];
  for (const task of [a, b, c]) task.grow(40);
  expect([a, b, c].map((task) => task.isAvailable())).toEqual([false, false, false]);
  const order: string[] = [];
  const waiting = [
    b.available().then(() => order.push('b')),
    // A task may wait in several places at once.
    b.available().then(() => order.push('b')),
    c.available().then(() => order.push('c')),
  ];
  await Promise.all(waiting.slice(0, 2));
  expect(order).toEqual(['b', 'b']);
  expect([a, b, c].map((task) => task.isAvailable())).toEqual([false, true, false]);
  b.release();
  await Promise.all(waiting);
  expect(c.isAvailable()).toBe(true);
  b.release();
  a.release();
  c.release();
  const next = budget.reserve();
  next.grow(100);
  expect(next.isAvailable()).toBe(true);
});

test('a task that shrinks lets the tasks that wait go on', async () => {
  const budget = createMemoryBudget(10);
  const [first, second, third] = [budget.reserve(), budget.reserve(), budget.reserve()];
  for (const task of [first, second, third]) task.grow(10);
  await first.available();
  const waiting = Promise.all([second.available(), third.available()]);
  first.shrink(10);
  second.shrink(10);
  await waiting;
});

test('a task that is released while it waits waits no longer', async () => {
  const budget = createMemoryBudget(10);
  const [first, second] = [budget.reserve(), budget.reserve()];
  first.grow(10);
  second.grow(10);
  await first.available();
  const waiting = second.available();
  second.release();
  await waiting;
  expect(first.isAvailable()).toBe(true);
});

test('a released task adds no bytes and waits for none, so that the others go on', async () => {
  const budget = createMemoryBudget(10);
  const [released, other, last] = [budget.reserve(), budget.reserve(), budget.reserve()];
  released.release();
  released.grow(1000);
  expect(other.isAvailable()).toBe(true);
  other.grow(11);
  await released.available();
  await other.available();
  other.release();
  expect(last.isAvailable()).toBe(true);
});

test('while the throttle is on, each task waits for as long as the bytes of the last take at its rate', async () => {
  vi.useFakeTimers();
  let isOn = true;
  const budget = createMemoryBudget(100, { isOn: () => isOn, bytesPerSecond: 10 });
  const [a, b, c] = [budget.reserve(), budget.reserve(), budget.reserve()];
  const order: string[] = [];
  for (const [name, task] of Object.entries({ a, b, c })) {
    task.grow(10);
    void task.available().then(() => order.push(name));
  }
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['a']);
  a.release();
  await vi.advanceTimersByTimeAsync(900);
  expect(order).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(200);
  expect(order).toEqual(['a', 'b']);
  b.release();
  isOn = false;
  await vi.advanceTimersByTimeAsync(20);
  expect(order).toEqual(['a', 'b', 'c']);
});

test('while the throttle is on, the bytes that a task has returned before its end delay the next one too', async () => {
  vi.useFakeTimers();
  const budget = createMemoryBudget(100, { isOn: () => true, bytesPerSecond: 10 });
  const [first, next] = [budget.reserve(), budget.reserve()];
  first.grow(10);
  await first.available();
  let isAvailable = false;
  void next.available().then(() => {
    isAvailable = true;
  });
  first.shrink(10);
  first.release();
  await vi.advanceTimersByTimeAsync(900);
  expect(isAvailable).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(isAvailable).toBe(true);
});

test('tasks go on soon after the throttle is off', async () => {
  vi.useFakeTimers();
  let isOn = true;
  const budget = createMemoryBudget(100, { isOn: () => isOn, bytesPerSecond: 1 });
  const [released, other] = [budget.reserve(), budget.reserve()];
  released.grow(100);
  released.release();
  let isAvailable = false;
  void other.available().then(() => {
    isAvailable = true;
  });
  await vi.advanceTimersByTimeAsync(1000);
  expect(isAvailable).toBe(false);
  isOn = false;
  await vi.advanceTimersByTimeAsync(20);
  expect(isAvailable).toBe(true);
});
