import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonValidator } from '../../src/lib/json/validator.ts';
import { runs } from '../support/runs.ts';

const parses = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
};

/** Validates a text in two chunks, cut anywhere. */
const isValid = (text: string, cut: number): boolean => {
  const bytes = Buffer.from(text);
  const at = cut % (bytes.length + 1);
  const validator = new JsonValidator(1000);
  validator.add(bytes.subarray(0, at));
  validator.add(bytes.subarray(at));
  return validator.isComplete;
};

const token = fc.constantFrom(
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '""',
    '"a"',
    '"a":',
    '\\',
    '\\u00e9',
    '\\"',
    '\\x',
    '\\u00g0',
    ' ',
    '\n',
  ],
  ...[
    '\u00a0',
    '\ufeff',
    '\t',
    '\f',
    '\u0001',
    'null',
    'true',
    'nul',
    '1',
    '-',
    '0',
    '01',
    '1.5',
    '1.',
    '.5',
    'e',
  ],
  ...['1e5', '1E+5', '1e', '+1', '-0', 'NaN', 'é', '/', '//'],
);

test('a text is valid where JSON.parse returns an object or a list, and nowhere else', () => {
  fc.assert(
    fc.property(
      fc.array(token, { maxLength: 8 }),
      fc.nat(),
      fc.constantFrom('[]', '{}', '  '),
      (tokens, cut, brackets) => {
        const text = `${brackets[0]}${tokens.join('')}${brackets[1]}`;
        expect(isValid(text, cut)).toBe(parses(text));
      },
    ),
    { numRuns: runs(20_000) },
  );
});

test('JSON is valid with any white space, and invalid wherever it is damaged', () => {
  const written = fc.tuple(fc.json({ maxDepth: 5 }), fc.nat(3));
  fc.assert(
    fc.property(written, fc.nat(), fc.nat(), token, ([json, space], cut, place, damage) => {
      const text = JSON.stringify([JSON.parse(json)], null, space);
      expect(isValid(text, cut)).toBe(true);
      const at = place % text.length;
      const damaged = text.slice(0, at) + damage + text.slice(at + 1);
      expect(isValid(damaged, cut)).toBe(parses(damaged));
    }),
    { numRuns: runs(5000) },
  );
});
