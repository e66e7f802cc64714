import { expect } from 'vitest';
import { numbered, type RestTransaction } from './builders.ts';
import type { Answer } from './fake-service.ts';

/** A list whose head grows by the next of these amounts at each call. */
export const growing = (items: RestTransaction[], amounts: readonly number[], blockSize = 1) => {
  const left = [...amounts];
  return () => {
    for (let count = left.shift() ?? 0; count > 0; count -= 1)
      items.unshift(numbered(items.length + 1, blockSize));
  };
};

export const answeringThen =
  (serve: Answer, grow: () => void): Answer =>
  async (request) => {
    const reply = await serve(request);
    grow();
    return reply;
  };

/**
 * What was seen is the list from some item on, without a gap or a duplicate: all that was there at the start.
 * What came later may show (as long as nothing older was given before it) or not (a cached page may hide it).
 */
export const expectEndOf = (
  items: readonly RestTransaction[],
  seen: readonly (string | null)[],
  atLeast: number,
) => {
  expect(seen).toEqual(items.slice(items.length - seen.length).map(({ hash }) => hash));
  expect(seen.length).toBeGreaterThanOrEqual(atLeast);
};
