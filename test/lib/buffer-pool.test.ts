import { expect, onTestFinished, test, vi } from 'vitest';
import { BufferLease, BufferPool, freeBuffer } from '../../src/lib/buffers.ts';

/** Buffers that are used again. */

const KB = 1024;
const MB = 1024 * KB;

test.each([1, 100, 16 * KB, 16 * KB + 1, 100_000, 200_000, 5 * MB])(
  'a buffer for %i bytes has room for them, and is at most an eighth larger',
  (bytes) => {
    const { length } = new BufferPool().take(bytes);
    expect(length).toBeGreaterThanOrEqual(bytes);
    expect(length).toBeLessThanOrEqual(bytes * 1.125);
  },
);

test('a buffer that was given back is the next of its size, and no other is', () => {
  const pool = new BufferPool();
  const [one, other] = [pool.take(100_000), pool.take(100_000)];
  expect(one).not.toBe(other);
  pool.give(one);
  expect(pool.take(50_000)).not.toBe(one);
  expect(pool.take(99_000)).toBe(one);
  expect(pool.take(99_000)).not.toBe(one);
});

/** Counts how many of the buffers the pool still has. */
const kept = (pool: BufferPool, buffers: readonly Buffer[]): number => {
  const all = new Set(buffers);
  return buffers.filter(({ length }) => all.has(pool.take(length))).length;
};

test('idle buffers have 16 MB at most, and one of a size that was not used for long makes room for another', () => {
  const pool = new BufferPool();
  const old = Array.from({ length: 20 }, () => pool.take(1 * MB));
  for (const buffer of old) pool.give(buffer);
  const young = Array.from({ length: 3 }, () => pool.take(2 * MB));
  for (const buffer of young) pool.give(buffer);
  expect(kept(pool, young)).toBe(3);
  expect(kept(pool, old)).toBe(10);
  const others = Array.from({ length: 20 }, () => pool.take(1 * MB));
  for (const buffer of others) pool.give(buffer);
  expect(kept(pool, others)).toBe(16);
});

test('the copies of a lease stay until its last user has released it', () => {
  const pool = new BufferPool();
  const lease = new BufferLease(pool);
  const copy = lease.copy(Buffer.alloc(100_000, 'a'));
  lease.retain();
  lease.release();
  pool.take(100_000).fill('b');
  expect(copy.every((byte) => byte === 0x61)).toBe(true);
  lease.release();
  expect(pool.take(100_000).buffer).toBe(copy.buffer);
});

test('the memory of a buffer that the pool has no room for is free at once', () => {
  const pool = new BufferPool();
  const full = Array.from({ length: 16 }, () => pool.take(1 * MB));
  const [more, larger] = [pool.take(1 * MB), pool.take(20 * MB)];
  for (const buffer of [...full, more, larger]) pool.give(buffer);
  expect(larger.length).toBe(0);
  expect([...full, more].filter(({ length }) => length === 0)).toHaveLength(1);
  pool.give(pool.take(2 * MB));
  expect([...full, more].filter(({ length }) => length === 0)).toHaveLength(3);
});

test('buffers that nothing has needed for a second are freed, and others stay', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const pool = new BufferPool();
  const [idle, used] = [pool.take(100_000), pool.take(100_000)];
  const { length } = used;
  pool.give(idle);
  pool.give(used);
  for (let second = 0; second < 5; second += 1) {
    vi.advanceTimersByTime(1000);
    expect([idle.length, used.length]).toEqual([second === 0 ? length : 0, length]);
    pool.give(pool.take(100_000));
  }
  vi.advanceTimersByTime(2000);
  expect(used.length).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a part of a larger memory is not freed', () => {
  const whole = Buffer.alloc(100_000, 'a');
  freeBuffer(whole.subarray(0, 50_000));
  expect(whole.toString()).toBe('a'.repeat(100_000));
  freeBuffer(whole);
  expect(whole.length).toBe(0);
});

test.each(['é'.repeat(50_000), 'x'.repeat(16 * KB), 'short'])('a text is encoded as UTF-8', (text) => {
  expect(new BufferLease(new BufferPool()).encode(text).toString()).toBe(text);
});

test('small buffers that share their memory are not freed, up to the largest ones', () => {
  const largest = (Buffer.poolSize >>> 1) - 1;
  for (const bytes of [1, 1000, largest]) {
    const buffer = Buffer.allocUnsafe(bytes).fill(7);
    freeBuffer(buffer);
    expect(buffer.equals(Buffer.alloc(bytes, 7))).toBe(true);
  }
});
