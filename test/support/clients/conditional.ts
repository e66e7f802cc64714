import { expect } from 'vitest';
import type { EncodedAnswer } from './encoded.ts';

/** The entity tag of an answer. */
export const tagOf = ({ headers }: EncodedAnswer): string => headers.etag ?? expect.fail('no tag');

/** The header of a client that has answers of these tags. */
export const ifNot = (...tags: string[]) => ({ 'if-none-match': tags.join(', ') });

/** Expects that the client's own answer is still right. */
export const expectUnchanged = (answer: EncodedAnswer): void => {
  expect([answer.status, answer.text]).toEqual([304, '']);
  expect(answer.headers).not.toHaveProperty('content-type');
  expect(answer.headers).not.toHaveProperty('content-length');
};

/** Expects an answer that no client may keep. */
export const notStored = (answer: EncodedAnswer): void => {
  expect(answer.headers).not.toHaveProperty('etag');
  expect(answer.headers['cache-control']).toBe('no-store');
};
