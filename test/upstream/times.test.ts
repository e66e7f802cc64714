import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MalformedFieldError, readTime } from '../../src/upstream/parse/fields.ts';
import { runs } from '../support/runs.ts';

/** Times that need no conversion are passed on without one. */

const two = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, '0'));
const small = fc.integer({ min: 0, max: 24 }).map((number) => String(number).padStart(2, '0'));
const year = fc.constantFrom('0000', '1969', '1970', '2024', '2025', '9999');

const readOrNull = (value: string): string | null => {
  try {
    return readTime(value, 'time');
  } catch (error) {
    if (error instanceof MalformedFieldError) return null;
    throw error;
  }
};

const convert = (value: string): string | null => {
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
};

test('a time in UTC with milliseconds is read as Date writes it, also one that no calendar has', () => {
  fc.assert(
    fc.property(
      year,
      fc.oneof(two, small),
      fc.oneof(two, small),
      small,
      two,
      two,
      (year, month, day, ...time) => {
        const value = `${year}-${month}-${day}T${time.join(':')}.120Z`;
        expect([value, readOrNull(value)]).toEqual([value, convert(value)]);
      },
    ),
    { numRuns: runs(20_000, 2000) },
  );
  for (const day of ['28', '29', '30', '31'])
    for (const month of ['02', '04', '12'])
      expect(readOrNull(`2023-${month}-${day}T23:59:59.999Z`)).toBe(
        convert(`2023-${month}-${day}T23:59:59.999Z`),
      );
});
