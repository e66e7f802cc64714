import { describe, expect, test, vi } from 'vitest';
import { onAbort, raceWithTimeout } from '../../src/lib/deadlines.ts';

/** Longer than a queued microtask needs. */
const microtasks = () => new Promise((resolve) => setImmediate(resolve));

describe('onAbort', () => {
  test('calls once when the signal aborts, and soon when it has aborted already', async () => {
    const controller = new AbortController();
    const [before, after] = [vi.fn(), vi.fn()];
    onAbort(controller.signal, before);
    controller.abort();
    onAbort(controller.signal, after);
    expect(before).toHaveBeenCalledTimes(1);
    await microtasks();
    expect(before).toHaveBeenCalledTimes(1);
    expect(after).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['before the signal aborts', false],
    ['after it has aborted', true],
  ])('does not call what was taken back %s', async (_, isAborted) => {
    const controller = new AbortController();
    if (isAborted) controller.abort();
    const then = vi.fn();
    const takeBack = onAbort(controller.signal, then);
    takeBack();
    controller.abort();
    await microtasks();
    expect(then).not.toHaveBeenCalled();
  });
});

describe('raceWithTimeout', () => {
  const pending = () => new Promise<never>(() => {});

  test('ends when the promise resolves or rejects, and never rejects itself', async () => {
    expect(await raceWithTimeout(Promise.resolve(1), 60_000, null)).toBe('settled');
    expect(await raceWithTimeout(Promise.reject(new Error('no')), 60_000, null)).toBe('settled');
  });

  test('ends when the time is over', async () => {
    expect(await raceWithTimeout(pending(), 1, null)).toBe('timeout');
  });

  test('ends when the signal aborts, also when it has aborted before', async () => {
    const controller = new AbortController();
    const end = raceWithTimeout(pending(), 60_000, controller.signal);
    controller.abort();
    expect(await end).toBe('aborted');
    expect(await raceWithTimeout(pending(), 60_000, AbortSignal.abort())).toBe('aborted');
  });
});
