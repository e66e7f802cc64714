import fc, { type GeneratorValue } from 'fast-check';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { addressOf, type Fields, hashOf, timeAt } from '../upstream/builders.ts';
import { sampleOf } from './samples.ts';

/** JSON text that stands for itself: spellings that JSON.stringify does not write. */
class Spelled {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const spelled = (text: string) => new Spelled(text);

/** Values that a field may have: some that readers accept in another form, and some that they don't accept. */
const VALUES: readonly unknown[] = [
  ...[undefined, null, true, false, {}, [], '', ' ', '0x', '0x0', '0xAbCdEf', '0X1F', '0xg'],
  ...['plain', 'é', '✨🔥', 'a"b\\c\n\t\b/', '\u0001\u007f\u2028', '\ud83d', '\ude00x', 'x'.repeat(300)],
  ...['007', '-0', '-12', '0', '9'.repeat(78), '9'.repeat(101), '1.5', '1e5', '0.170', 'true'],
  ...[0, -0, 1, -1, 12, 1.5, 1e21, 1e-7, 2 ** 53, 123456789012345],
  ...['12345678901234567890', '1.0', '1e3', '-0.0', `1${'0'.repeat(400)}`, `0.${'1'.repeat(400)}`].map(
    spelled,
  ),
  ...['"\\u0041\\/b"', '"\\ud83d\\ude00"', '"\\ud800"', '  "x"  ', '[ "0xAA" , "0x" ]'].map(spelled),
  ...[
    '2026-11-19T23:34:54.319Z',
    '2026-11-19T23:34:54+02:00',
    '2026-11-19 23:34:54',
    '2026-02-30',
    '2026-11-19',
  ],
  ...['ERC-721', 'erc1155', 'ERC20', 'SENDER', 'receiver', addressOf(0xabc).toUpperCase().replace('X', 'x')],
  ...[addressOf(3), hashOf(4), ['0xAA', '0xbb'], [null], ['0x1', 2], [{}], [[1, [true, 'a']]], { toJSON: 1 }],
  {
    name: 'transfer',
    inputs: [{ name: 'to', type: 'address', value: addressOf(1) }, { value: [1, { a: 1n }] }, 3],
  },
  { name: 1, inputs: {} },
  { uri: 'ipfs://x', attributes: [{ key: 'a', value: 1 }, { key: 2, value: ['"'] }, null, 'x'] },
  { uri: 1, attributes: null },
  { attributes: 1 },
  [{ address: addressOf(9), topics: ['0xA'], data: null, decoded: { name: 'Transfer', inputs: [] } }],
  [
    { feature: 'trade_volume', value: 3, feature_score: '1.5', feature_weight: 0.25 },
    { feature: 'new', value: [] },
    1,
  ],
  spelled('{"a":[1,{"b":"}{\\"\\\\"}],"n":-1.5e-7,"1":1,"0":2,"__proto__":3}'),
  spelled(`${'['.repeat(150)}${']'.repeat(150)}`),
];

/** Makes the text of one page. Of most pages, some items have values that are odd, or that can't be parsed. */
export const randomBody = (gen: GeneratorValue, lookup: AnyLookup): string => {
  const { itemsField: list, table } = lookup;
  const known = Object.values(table.fields).map(({ from }) => from);
  const upTo = (max: number): number => gen(fc.integer, { min: 0, max });
  const value = () => copyOf(VALUES[upTo(VALUES.length - 1)]);
  const change = (item: Fields): void => {
    const names = [...new Set([...Object.keys(item), ...known, 'x_new'])];
    const name = names[upTo(names.length - 1)] ?? '';
    const inner = Array.isArray(item[name]) ? item[name][0] : item[name];
    if (typeof inner === 'object' && inner !== null && upTo(2) > 0) {
      const keys = Object.keys(inner);
      if (keys.length > 0) (inner as Fields)[keys[upTo(keys.length - 1)] ?? ''] = value();
    } else item[name] = value();
  };
  /** How many of nine items are changed: most pages have few odd items or none. */
  const changed = [0, 1, 1, 5][upTo(3)] ?? 0;
  const item = (index: number): unknown => {
    const made = structuredClone(sampleOf(lookup).item(index));
    if (upTo(8) >= changed) return made;
    for (let changes = upTo(2); changes >= 0; changes -= 1) change(made);
    return upTo(10) === 0 ? value() : made;
  };
  // A long list is written in slices.
  const length = upTo(9) === 0 ? 60 : upTo(6);
  const items = Array.from({ length }, (_, index) => item(length - index));
  const envelope: Fields = { [list]: items, request_time: timeAt(100), response_time: timeAt(101) };
  if (upTo(5) === 0) envelope.errors = [value()];
  if (upTo(30) === 0) envelope[upTo(1) === 0 ? list : 'next_offset'] = value();
  return write(envelope, upTo(4) === 0 ? ' \n' : '');
};

/** A copy, for values are changed in their turn. */
const copyOf = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Spelled) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)]));
};

const write = (value: unknown, space: string): string => {
  if (value instanceof Spelled) return value.text;
  if (typeof value === 'bigint') return String(value);
  const between = `${space},${space}`;
  if (Array.isArray(value))
    return `[${space}${value.map((inner) => write(inner ?? null, space)).join(between)}${space}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const written = fields.map(([name, inner]) => `${JSON.stringify(name)}${space}:${write(inner, space)}`);
  return `{${space}${written.join(between)}${space}}`;
};
