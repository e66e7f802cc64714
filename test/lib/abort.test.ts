import { describe, expect, test, vi } from 'vitest';
import { onAbort } from '../../src/lib/abort.ts';

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
