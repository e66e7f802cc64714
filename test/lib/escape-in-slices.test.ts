import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeInSlices } from '../../src/lib/json/escape-in-slices.ts';
import { createTimeSlices } from '../../src/lib/time-slices.ts';
import { runs } from '../support/runs.ts';

test('any text in any chunks is what JSON.stringify makes of it, without its quotation marks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.integer({ min: 1, max: 4000 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      async (text, times, cuts) => {
        const whole = Buffer.from(text.repeat(times));
        const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length].toSorted(
          (a, b) => a - b,
        );
        const chunks = places.slice(1).map((end, index) => whole.subarray(places[index], end));
        const escaped = Buffer.concat(await escapeInSlices(chunks, createTimeSlices(0))).toString();
        expect(`"${escaped}"` === JSON.stringify(whole.toString())).toBe(true);
      },
    ),
    { numRuns: runs(50) },
  );
});

test('others have their turn between the slices of a long text', async () => {
  const slices = 8;
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  await escapeInSlices([Buffer.alloc(slices * 256 * 1024, 'x')], createTimeSlices(0));
  clearImmediate(counting);
  expect(turns).toBeGreaterThanOrEqual(slices - 1);
});
