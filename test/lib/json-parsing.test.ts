import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExactJson } from '../../src/lib/json/exact-json.ts';
import type { ParseJson } from '../../src/lib/json/parse-in-slices.ts';
import { MAX_SHAPES, parseSteps, TooManyShapesError } from '../../src/lib/json/parse-in-slices.ts';
import { runs } from '../support/runs.ts';

/** Parsing in pieces returns what JSON.parse returns, and no piece is long. */

const inPieces = (text: string, pieceCharacters: number, parse: ParseJson = JSON.parse): unknown => {
  const parsing = parseSteps(text, parse, pieceCharacters);
  for (let step = parsing.next(); ; step = parsing.next()) if (step.done) return step.value;
};

const orRejected = (parse: () => unknown): unknown => {
  try {
    return { value: parse(), json: JSON.stringify(parse()) };
  } catch (error) {
    return error instanceof SyntaxError ? 'rejected' : error;
  }
};

/**
 * A name with a backslash is not tried: once V8 has parsed one, it may read an escape in another name as that backslash
 * (https://github.com/nodejs/node/issues/63785).
 */
const passOverBackslashInName = (text: string): void => fc.pre(!/\\\\(?:\\.|[^"\\])*"\s*:/s.test(text));

const pieceCharacters = fc.integer({ min: 1, max: 20 });

const TOKENS = [
  ...['[', ']', '{', '}', ',', ':', ' ', '\n', '\u00a0', '"', '\\', '1', '-2.5e3', 'null', 'tru'],
  ...['"a"', '"a":', '"b":', '"__proto__":', '"7":', '"\\"]"', '"\\\\"', '"\\u00e9,{"', '[]', '{}', '[1,2]'],
  ...['{"a":1}', '{"a":[', '[{"a":', '12345678901234567890'],
];

test('a list or an object of any tokens is parsed or rejected as JSON.parse does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...TOKENS), { maxLength: 12 }),
      fc.constantFrom('[]', '{}', '  '),
      pieceCharacters,
      (tokens, brackets, size) => {
        const text = `${brackets[0]}${tokens.join('')}${brackets[1]}`;
        passOverBackslashInName(text);
        expect(orRejected(() => inPieces(text, size))).toEqual(orRejected(() => JSON.parse(text)));
      },
    ),
    { numRuns: runs(30_000) },
  );
});

test('JSON is parsed as JSON.parse does, with any white space, and wherever it is damaged', () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 6 }),
      fc.nat(3),
      fc.nat(),
      fc.constantFrom('', ...TOKENS),
      pieceCharacters,
      (json, space, place, damage, size) => {
        passOverBackslashInName(json);
        const text = JSON.stringify(JSON.parse(json), null, space);
        expect(orRejected(() => inPieces(text, size))).toEqual(orRejected(() => JSON.parse(text)));
        const at = place % text.length;
        const damaged = text.slice(0, at) + damage + text.slice(at + 1);
        passOverBackslashInName(damaged);
        expect(orRejected(() => inPieces(damaged, size))).toEqual(orRejected(() => JSON.parse(damaged)));
      },
    ),
    { numRuns: runs(10_000) },
  );
});

test('no number loses digits', () => {
  const text = `[${'{"a":12345678901234567890,"b":[1e20,1.5]},'.repeat(20)}1e400]`;
  for (const size of [1, 10, 50]) expect(inPieces(text, size, parseExactJson)).toEqual(parseExactJson(text));
});

const list = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join();

test.each([
  ['one object of many names', `{${list(50_000, (index) => `"name ${index}":1`)}}`],
  [
    'many objects of names that are all different',
    `[${list(2000, (row) => `{${list(20, (i) => `"${row}_${i}":[]`)}}`)}]`,
  ],
  ['numbers', `[${list(100_000, () => '1e20')}]`],
  ['lists in lists', `${'['.repeat(50_000)}1${']'.repeat(50_000)}`],
  ['a list of lists within it', `[[[${list(50_000, () => '[[]]')}]]]`],
])('%s are parsed in many short pieces', (_what, text) => {
  const lengths: number[] = [];
  const parsing = parseSteps(text, (piece) => {
    lengths.push(piece.length);
    return JSON.parse(piece);
  });
  let step = parsing.next();
  for (; !step.done; step = parsing.next());
  expect(JSON.stringify(step.value) === JSON.stringify(JSON.parse(text))).toBe(true);
  expect(Math.max(0, ...lengths)).toBeLessThan(17_000);
});

test('a long string is one piece, whatever is around it', () => {
  const long = '\\",'.repeat(10_000);
  const text = `[{"a":1,"b":"${long}","c":2},"${long}",3]`;
  expect(inPieces(text, 100)).toEqual(JSON.parse(text));
});

const parsed = (text: string): unknown => inPieces(text, 16_384);

test.each([
  ['names of one object', MAX_SHAPES, (count: number) => `{${list(count, (index) => `"${index}x":1`)}}`],
  [
    'objects of one name each',
    MAX_SHAPES,
    (count: number) => `[${list(count, (index) => `{"${index}x":1}`)}]`,
  ],
  [
    // The first name of each row, and what follows it.
    'orders of few names',
    223,
    (count: number) =>
      `[${list(count, (row) => list(count, (column) => `{"a${row}":1,"b${column}":1}`))}${',{}'.repeat(10)}]`,
  ],
])('JSON is rejected for too many %s', (_what, most, write) => {
  expect(parsed(write(most))).toEqual(JSON.parse(write(most)));
  expect(() => parsed(write(most + 1))).toThrow(TooManyShapesError);
});

test('equal objects share one shape, however many they are', () => {
  const alike = `{"a":1,"b":{"c":[{"a":1},{"a":2,"d":3}]}}`;
  const text = `[${list(20_000, () => alike)}]`;
  expect(parsed(text)).toEqual(JSON.parse(text));
});
