import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partsOfSmall, RawJson, stringifyChunks } from '../../src/lib/json/stringify.ts';
import { runs } from '../support/runs.ts';

/** The chunks together are what JSON.stringify returns, and no chunk is long. */

const MAX_PIECE = 6 * 16_384 + 1024;

const piecesOf = (value: unknown) => [...stringifyChunks(value)];

const textOf = (pieces: ReturnType<typeof piecesOf>) =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.parts.join(''))).join('');

/** What is written already is one piece, however long. */
const areShort = (pieces: ReturnType<typeof piecesOf>) =>
  pieces.every((piece) => typeof piece !== 'string' || piece.length <= MAX_PIECE);

const odd = fc.oneof(
  fc.constant(undefined),
  fc.constant(() => 1),
  fc.constant(Symbol('s')),
  fc.double(),
  fc.date().map((date) => date),
  fc.jsonValue().map((written) => new RawJson([JSON.stringify(written)])),
  fc.string({ unit: 'binary' }),
  // Halves of characters, alone and in pairs, across the places where strings are cut.
  fc
    .tuple(
      fc.integer({ min: 16_380, max: 16_386 }),
      fc.constantFrom('\ud83d\ude00', '\ud83d', '\ude00', '"', '\u0001'),
    )
    .map(([length, end]) => `${'x'.repeat(length)}${end.repeat(4)}`),
  fc.string().map((text) => ({ toJSON: (key: string) => ({ key, text }) })),
  fc
    .integer({ min: 1, max: 3000 })
    .map((length) => Array.from({ length }, (_, index) => ({ index, text: '\u2028"' }))),
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    odd,
    fc.jsonValue(),
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value')),
    fc.dictionary(fc.string(), tie('value')).map((fields) => Object.assign(Object.create(null), fields)),
  ),
}));

test('the chunks of any value are together what JSON.stringify returns', () => {
  fc.assert(
    fc.property(value, (whole) => {
      const pieces = piecesOf(whole);
      expect(textOf(pieces)).toBe(JSON.stringify(whole) ?? '');
      expect(areShort(pieces)).toBe(true);
    }),
    { numRuns: runs(300) },
  );
});

test('the parts of a small value are together what JSON.stringify returns', () => {
  let written = 0;
  fc.assert(
    fc.property(value, (whole) => {
      const parts = partsOfSmall(whole);
      if (parts === null) return;
      written += 1;
      expect(parts.join('')).toBe(JSON.stringify(whole));
    }),
    { numRuns: runs(300) },
  );
  expect(written).toBeGreaterThan(0);
  const list = new RawJson(['[', Buffer.from('1,2'), ']']);
  expect(partsOfSmall({ a: { nodes: list, b: null }, c: [list] })).toEqual([
    '{"a":{"nodes":[',
    Buffer.from('1,2'),
    '],"b":null},"c":[[',
    Buffer.from('1,2'),
    ']]}',
  ]);
  expect(partsOfSmall(Array(1000).fill(null))).toBe(null);
  expect(partsOfSmall({ a: 'x'.repeat(100_000) })).toBe(null);
});

test.each([
  ['one long string', `${'\u0000'.repeat(1_000_000)}`],
  ['a long list', Array.from({ length: 100_000 }, () => ({ a: null }))],
  [
    'an object of many keys',
    Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, {}])),
  ],
  ['lists in lists', JSON.parse(`${'['.repeat(3000)}"${'x'.repeat(30_000)}"${']'.repeat(3000)}`)],
])('%s comes in short pieces', (_what, whole) => {
  const pieces = piecesOf(whole);
  expect(textOf(pieces)).toBe(JSON.stringify(whole));
  expect(pieces.length).toBeGreaterThan(1);
  expect(areShort(pieces)).toBe(true);
});
