import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExactJson } from '../../src/lib/json/exact-json.ts';
import { runs } from '../support/runs.ts';

/** The expected value, from the source of each number that JSON.parse passes to its reviver. */
const byReviver = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    const { source } = context;
    if (!Number.isFinite(value)) return source;
    const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e');
    const [whole = '', decimals = ''] = mantissa.split('.');
    const fraction = decimals.replace(/0+$/, '');
    const zeros = Number(exponent) - fraction.length;
    if (zeros > 100) return value;
    if (zeros < 0) {
      const isExact = String(value) === source || (whole + fraction).replace('-', '').length <= 15;
      return isExact ? value : source;
    }
    const digits = BigInt(whole + fraction + '0'.repeat(zeros)).toString();
    return Number.isSafeInteger(value) && String(value) === digits ? value : digits;
  });

const orError = (parse: () => unknown): unknown => {
  try {
    return { value: parse() };
  } catch (error) {
    return error instanceof SyntaxError ? 'refused' : error;
  }
};

const digit = fc.constantFrom('0', '1', '5', '9');
const digits = (minLength: number) =>
  fc.oneof(
    fc.string({ unit: digit, minLength, maxLength: 3 }),
    fc.string({ unit: digit, minLength: 12, maxLength: 22 }),
  );
const exponent = fc
  .tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), fc.nat({ max: 400 }))
  .map(([e, n]) => `${e}${n}`);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(1),
    fc.option(digits(1), { nil: null }),
    fc.option(exponent, { nil: '' }),
  )
  .map(([sign, whole, fraction, e]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${e}`);
const token = fc.oneof(
  { weight: 5, arbitrary: number },
  { weight: 6, arbitrary: fc.constantFrom('[', ']', '{', '}', ',', ':', ' ', '\n', 'null', 'true') },
  fc.tuple(number, fc.constantFrom('', '\\"', '\\\\', ',', ' ')).map(([n, end]) => `"${end}, ${n}${end}"`),
  fc.constantFrom('"', '\\', '\u00a0', 'e5', '.'),
);
const space = fc.constantFrom('', ' ', '\n\t');
const valid = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number.filter((text) => /^-?(?:0|[1-9])(?![\d])|^-?[1-9]/.test(text)),
    fc.constantFrom('"1e5"', '", 12345678901234567890"', '"\\", 1e9"', '"\\\\"', 'null'),
    fc.array(tie('value'), { maxLength: 4 }).map((parts) => `[${parts.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', ':1e9', '[1e9'), space, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([key, gap, value]) => `"${key}"${gap}:${gap}${value}`).join()}}`),
  ),
})).value;

test('every number keeps its digits, wherever it is in the text', () => {
  fc.assert(
    fc.property(valid, space, (value, gap) => {
      for (const text of [`[${value}${gap}]`, `${gap}${value}${gap}`])
        expect(parseExactJson(text)).toEqual(byReviver(text));
    }),
    { numRuns: runs(3000) },
  );
});

test('JSON is rejected where JSON.parse rejects it, and parsed where it does not', () => {
  fc.assert(
    fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
      const text = `[${tokens.join('')}]`;
      expect(orError(() => parseExactJson(text))).toEqual(orError(() => byReviver(text)));
    }),
    { numRuns: runs(10_000) },
  );
});

test.each([
  ['{12345678901234567890: 1}', 'refused'],
  ['[1e400 :1]', 'refused'],
  ['[01e400]', 'refused'],
  ['[12345678901234567890.]', 'refused'],
  ['[1e400', 'refused'],
  ['["12345678901234567890', 'refused'],
  ['{"a":12345678901234567890,"a":12345678901234567891}', { value: { a: '12345678901234567891' } }],
  ['[-0, -0e0, 1E+2, 1e16, 0.5e17]', { value: [-0, -0, 100, '10000000000000000', '50000000000000000'] }],
  ['[1e400, -1E400, 1e-400]', { value: ['1e400', '-1E400', 0] }],
  ['[0.30000000000000004, 0.300000000000000041]', { value: [0.30000000000000004, '0.300000000000000041'] }],
])('%s', (text, outcome) => {
  expect(orError(() => parseExactJson(text))).toEqual(outcome);
});

test.each([
  ['numbers that may lose digits', '1e1,'],
  ['numbers that do', '1e20,'],
  ['strings of such numbers', '", 1e20",'],
])('a long list of %s takes no longer than its length', (_what, part) => {
  const take = (count: number): number => {
    const text = `[${part.repeat(count)}1]`;
    const startedAt = performance.now();
    parseExactJson(text);
    return performance.now() - startedAt;
  };
  take(1000);
  // A hundred times as much, with room for a busy machine; a quadratic one would take 10,000 times as long.
  expect(take(200_000)).toBeLessThan(2000 * Math.max(1, take(2000)));
});
