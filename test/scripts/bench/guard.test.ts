import { expect, test } from 'vitest';
import { judge } from '../../../scripts/bench/guard/verdict.ts';

/** Rounds of a noisy machine, of something that costs `factor` times as much as before. */
const roundsOf = (factor: number) =>
  [0.96, 1.05, 0.99, 1.01, 1.08, 0.94, 0.98, 1.02].map((noise) => factor * noise);

test('the guard says worse, equal or better', () => {
  expect(judge(roundsOf(1.15)).verdict).toBe('worse');
  expect(judge(roundsOf(1)).verdict).toBe('equal');
  expect(judge(roundsOf(1 / 1.15)).verdict).toBe('better');
});

test('a difference within 3 % is equal, however sure it is', () => {
  expect(judge(Array(8).fill(1.02)).verdict).toBe('equal');
  expect(judge(Array(8).fill(1 / 1.02)).verdict).toBe('equal');
  expect(judge(Array(8).fill(1.04)).verdict).toBe('worse');
});

test('one round that is far off decides nothing', () => {
  expect(judge([...roundsOf(1).slice(1), 3]).verdict).toBe('equal');
  expect(judge([...roundsOf(1.15).slice(1), 0.5]).middle).toBeGreaterThan(1.05);
});

test('the interval is that of the signed ranks', () => {
  // Of six rounds the least and the greatest ratio: all above or all below the true one are 2 cases of 64.
  const { low, high, confidence } = judge([1.01, 1.02, 1.04, 1.08, 1.16, 1.32]);
  expect(low).toBeCloseTo(1.01, 10);
  expect(high).toBeCloseTo(1.32, 10);
  expect(confidence).toBe(62 / 64);
  // Of eight rounds one mean is left out at each end: two of 256 cases each.
  expect(judge(roundsOf(1)).confidence).toBe(252 / 256);
});

test('rounds without a ratio compare nothing', () => {
  expect(judge([1, Number.NaN, 1]).verdict).toBe('not comparable');
  expect(judge([]).verdict).toBe('not comparable');
});
