import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { SerializedData } from '../../../src/graph/answer/serialize.ts';
import { createSharedAnswers } from '../../../src/graph/answer/shared-answers.ts';
import { BufferLease, BufferPool } from '../../../src/lib/buffers.ts';
import { createCacheBudget } from '../../../src/upstream/cache/entries.ts';

/** The memory of a shared answer is used again once all operations that share it have sent it, and not before. */

const BYTES = 100_000;
/** An operation that reads no page. */
const operation = { reads: [] } as object as Context;

test('an answer is there for as long as an operation needs it, though it is no longer kept', async () => {
  const pool = new BufferPool();
  const budget = createCacheBudget(10 * BYTES);
  const answers = createSharedAnswers(budget, {});
  const make = async () => {
    const lease = new BufferLease(pool);
    const data = new SerializedData([lease.copy(Buffer.alloc(BYTES, 'a'))], lease);
    await answers.make('a key', operation, () => ({ data: data as never }));
    return lease;
  };
  /** Makes other answers use all free memory. */
  const answerOthers = () => pool.take(BYTES).fill('b');
  const first = await make();
  const second = await make();
  second.release();
  const [one, other] = [answers.find('a key', operation), answers.find('a key', operation)];
  const isIntact = () => other?.chunks[0]?.every((byte) => byte === 'a'.charCodeAt(0));

  one?.lease?.release();
  budget.remove('a key');
  answerOthers();
  expect(isIntact()).toBe(true);
  other?.lease?.release();
  answerOthers();
  expect(isIntact()).toBe(false);
  // The first answer of a key is not kept.
  first.release();
  expect(pool.take(BYTES)[0]).toBe('a'.charCodeAt(0));
});
