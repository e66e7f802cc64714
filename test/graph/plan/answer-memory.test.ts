import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { SerializedData } from '../../../src/graph/answer/serialize.ts';
import { AnswersInFlight } from '../../../src/graph/answer/shared-answers.ts';
import { BufferLease, BufferPool } from '../../../src/lib/buffers.ts';
import type { OperationLookups } from '../../../src/upstream/lookup.ts';
import { ReadLog } from '../../../src/upstream/read-log.ts';

/** The memory of a shared answer is used again once all operations that share it have sent it, and not before. */

const BYTES = 100_000;
/** An operation of which nothing is read, since the one that it follows reads no page. */
const follower = {} as Context;

const startFlight = () => {
  const pool = new BufferPool();
  const lease = new BufferLease(pool);
  const chunk = lease.copy(Buffer.alloc(BYTES, 'a'));
  return {
    lease,
    data: new SerializedData([chunk], lease),
    flight: new AnswersInFlight().begin('a key', new ReadLog<OperationLookups>()),
    /** Makes other answers use all free memory. */
    answerOthers: () => pool.take(BYTES).fill('b'),
  };
};

test('a follower has the answer for as long as it needs it, though the first client has read it', async () => {
  const { lease, data, flight, answerOthers } = startFlight();
  const followed = [flight.follow(follower, null), flight.follow(follower, null)];
  flight.end(data);
  lease.release();
  const [one, other] = await Promise.all(followed);
  one?.lease?.release();
  answerOthers();
  expect(other?.chunks[0]?.every((byte) => byte === 'a'.charCodeAt(0))).toBe(true);
  other?.lease?.release();
  answerOthers();
  expect(data.chunks[0]?.[0]).toBe('b'.charCodeAt(0));
});

test('a follower whose client has left needs it no more', async () => {
  const { lease, data, flight, answerOthers } = startFlight();
  const client = new AbortController();
  const followed = flight.follow(follower, client.signal);
  client.abort();
  flight.end(data);
  lease.release();
  expect(await followed).toBeNull();
  answerOthers();
  expect(data.chunks[0]?.[0]).toBe('b'.charCodeAt(0));
});
