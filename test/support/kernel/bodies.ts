import { addressOf, collectible, hashOf, timeAt, transaction } from '../upstream/builders.ts';
import type { Random } from './random.ts';

/** Bodies of both lists in JSON that is written by hand, so that a part can have any form. */

/** JSON as it stands. */
class Raw {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}
const raw = (json: string) => new Raw(json);

/** A list of members: a name, in quotes already, may come twice. */
type Members = (readonly [name: string, value: unknown])[];

const membersOf = (fields: object): Members =>
  Object.entries(fields).map(([name, value]) => [JSON.stringify(name), value]);

const F = 'F'.repeat(40);

/** Values of every kind, usual and odd. */
const VALUES: readonly unknown[] = [
  ...[
    null,
    undefined,
    true,
    false,
    '',
    'plain',
    'é',
    '✨🔥',
    'a"b\\c\n\t\b',
    '\u0001\u007f\u2028',
    '\ud800',
    'x\udc00y',
  ],
  ...[
    '0x',
    '0xAbC',
    '0xABCDEF',
    `0x${F}`,
    `0x${'aB'.repeat(32)}`,
    `0x${'f'.repeat(64)}`,
    `0x${'f'.repeat(65)}`,
    `0x${'f'.repeat(98)}`,
    `0x${'f'.repeat(99)}`,
  ],
  ...[
    '0X1F',
    '0X',
    '0xg',
    `0x${'0'.repeat(60)}1f`,
    '0xffffffffffffffff',
    '0x10000000000000000',
    '0x3b9aca00',
  ],
  ...['0x5f5e100', '0x2386f26fc10000', '0xde0b6b3a7640000', `0x${'f'.repeat(17)}`, '0x2', '0x0', '0x00'],
  ...[
    '007',
    '-0',
    '-12',
    '0',
    '9'.repeat(99),
    '9'.repeat(100),
    '9'.repeat(101),
    `-${'9'.repeat(99)}`,
    '1.5',
    '1e5',
  ],
  ...[
    '1.',
    '.5',
    '-1.50E+3',
    '1e',
    'true',
    'null',
    'SENDER',
    'receiver',
    'Sender',
    'ERC-721',
    'erc1155',
    'ERC20',
  ],
  ...[
    'erc721',
    'ERC 1155',
    'erc721ſ',
    'erc\n721',
    'unique_buyerſ',
    'ſ',
    'ERC-721é',
    'trade_volume',
    'UNIQUE_BUYERS',
    'a'.repeat(100),
    'b'.repeat(300),
    // With a hash of 66 characters, the longest identity and one that is too long.
    'c'.repeat(189),
    'c'.repeat(190),
  ],
  ...[
    0,
    -0,
    1,
    -1,
    12,
    1.5,
    1e21,
    1e-7,
    0.000001,
    123456789012345,
    2 ** 53,
    14.285714285714286,
    33.33333333333333,
  ],
  ...[
    '12345678901234567890',
    '9007199254740993',
    '1.0',
    '1e3',
    '0.17000',
    '-0',
    '-0.0',
    '0.0000001',
    '1e999',
    '1E+2',
  ]
    .concat([
      '0.1234567890123456789',
      '1'.repeat(400),
      '-5',
      '100000000000000000000',
      '1.7976931348623157e308',
    ])
    .concat([
      '0.00012345678901234',
      '123456789.123456',
      '5e-324',
      '-1e-7',
      '1e400',
      '10.50',
      '0.10000000000000001',
    ])
    .map(raw),
  ...[
    '"\\u0041\\/b"',
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    '"\\ude00\\ude00\\ud83d\\ude00"',
    '"\\uD83Dx"',
    '"\\u0000\\u001F\\u0022\\u005C"',
  ]
    .concat([
      '"\\u00e9\\u20AC\\u07ff\\u0800"',
      '"0\\u0078aa"',
      '"\\u0030x"',
      '  "x"  ',
      '[ "0xAA" , "0x" ]',
      '["0xaa", "0xbb"]',
      '["0xaa" ,"0xbb"]',
      '["0xaa","0xbb" ]',
      '[ "0xaa"]',
      '[ 1 ]',
      '[1e2]',
      '"\\b\\f\\n\\r\\t"',
    ])
    .concat([
      '[1, 2 , [true,null, {"a": 1.0}]]',
      '{"b":1,"1":2}',
      '{"a":1,"a":2}',
      '{"\\u0061":1}',
      '{"__proto__":[1]}',
    ])
    .concat([
      '{ "a" : [ "\\/" , 1e2 , 12345678901234567890 ] }',
      `${'['.repeat(200)}${']'.repeat(200)}`,
      '[[],{},""]',
    ])
    .concat([
      `${'['.repeat(201)}${']'.repeat(201)}`,
      `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
      '["a", "b"]',
    ])
    .concat(['[{"inputs":[]}]', '{"toJSON":1,"length":2}', '["1",["2",["3"]]]', '[-0,1.0,0.5]', '[ ]', '{ }'])
    .map(raw),
  ...[[], {}, [1], ['0x1'], ['0xAA', '0xbb'], [null], [{}], [[]], [['a'], 'b', 1], { a: 1 }, { uri: 1 }],
  ...[{ uri: 'u', attributes: null }, { attributes: 1 }, { attributes: [1, { key: 1, value: null }, null] }],
  ...[
    {
      attributes: [
        { key: 'k', value: [1, '2', { a: '"' }] },
        { key: {}, value: true },
        { value: raw('1e3') },
      ],
    },
  ],
  ...[
    { name: null },
    { inputs: 5 },
    { name: 'f', inputs: null },
    { name: 5, inputs: [null, { value: 5 }, {}] },
  ],
  ...[
    {
      name: raw('12345678901234567890'),
      inputs: [{ name: 'a', type: 't', value: raw('[1,[true,"x"],{"n":1}]') }],
    },
  ],
  ...[{ inputs: [{ name: 'a', type: 'uint256', value: '5' }, { value: ['1', ['2']] }, 'x'] }, { other: 1 }],
  ...[[{ feature: 'unique_buyers', value: true, feature_score: 0.1, feature_weight: raw('1.0') }, 5]],
  ...[
    [{ feature: 'new', value: { a: raw('1.50') } }],
    [{ value: 1 }],
    [{ feature: 'UNIQUE_sellers', value: 'x' }],
  ],
  ...[[{ address: `0x${F}` }], [{ address: `0x${F}`, topics: ['0xA'], data: null, decoded: {} }], [null, {}]],
  ...[[{ address: `0x${F}`, topics: [], decoded: { name: 'Transfer', inputs: [{ value: raw('1.0') }] } }]],
  ...[
    '2026-11-19T23:34:54.319Z',
    '2026-11-19T23:34:54Z',
    '2026-11-19T23:34:54+00:00',
    '1969-12-31T23:59:59Z',
  ],
  ...[
    '2026-11-19T23:34:54.123456+00:00',
    '2026-11-19T23:34:54.123456789Z',
    '2026-11-19T23:34:54.1Z',
    '2000-02-28T00:00:00.9999Z',
  ],
  ...[
    '2026-11-19T23:34:54.12',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2024-02-29T00:00:00.000Z',
    '2100-03-01T00:00:00Z',
  ],
  ...[
    '2026-11-19',
    '2026-11-19T25:00:00Z',
    '2026-11-19T24:00:00Z',
    '2026-11-19T23:34:54.319+02:00',
    '1972-12-31T00:00:00Z',
  ],
  ...[
    '2026-11-19 23:34:54',
    '2026-11-19T23:34:54',
    '2026-11-19T23:34:60Z',
    '2026-11-31T00:00:00Z',
    '2026-11-19t00:00:00z',
  ],
];

const decoded = (name: string) => ({
  name,
  inputs: [
    { name: 'to', type: 'address', value: addressOf(9) },
    { name: 'amounts', type: 'uint256[]', value: ['1', '2'] },
    { name: 'flag', type: 'bool', value: true },
  ],
});

const transactionItem = (number: number): object => ({
  ...transaction({
    hash: hashOf(number),
    block_time: timeAt(10_000 - number),
    value: `0x${(number ** 9).toString(16)}`,
  }),
  decoded: number % 3 === 0 ? decoded('transfer') : null,
  logs: Array.from({ length: number % 4 }, (_, index) => ({
    address: addressOf(index),
    data: `0x${'00'.repeat(index * 32)}`,
    topics: [hashOf(1), hashOf(index)].slice(0, index),
    ...(index % 2 === 0 && { decoded: decoded('Transfer') }),
  })),
});

const collectibleItem = (number: number): object => ({
  ...collectible({ token_id: String(number), last_acquired: timeAt(number) }),
  description: `A longer text, with “quotes” and \n lines: ${'x'.repeat(number)}`,
  image_url: `https://example.com/${number}.png`,
  last_sale_price: '0.5',
  metadata: {
    uri: 'ipfs://x',
    attributes: Array.from({ length: number % 5 }, (_, index) => ({
      key: `trait ${index}`,
      value: String(index),
    })),
  },
  spam_score: number * 1.1,
  explanations: ['trade_volume', 'suspicious_words', 'brand_new'].slice(0, number % 4).map((feature) => ({
    feature,
    value: number % 2 === 0 ? number : false,
    feature_score: 50,
    feature_weight: 0.25,
  })),
});

const LISTS = {
  transactions: { item: transactionItem, field: 'transactions' },
  collectibles: { item: collectibleItem, field: 'entries' },
} as const;

export type ListName = keyof typeof LISTS;

/** Writes JSON with Raw parts and Members; a value that is undefined is left out. */
const writeJson = (value: unknown, space: string): string => {
  if (value instanceof Raw) return value.json;
  if (Array.isArray(value) && value.every(isMember) && value.length > 0)
    return writeMembers(value as Members, space);
  if (Array.isArray(value))
    return `[${space}${value.map((each) => writeJson(each ?? null, space)).join(`${space},${space}`)}${space}]`;
  if (typeof value === 'object' && value !== null) return writeMembers(membersOf(value), space);
  return JSON.stringify(value) ?? 'null';
};

const isMember = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && value[0].startsWith('"');

const writeMembers = (members: Members, space: string): string => {
  const written = members
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}${space}:${space}${writeJson(value, space)}`);
  return `{${space}${written.join(`${space},${space}`)}${space}}`;
};

/** Replaces, adds or repeats a member, of the item or of a record in it. */
const mutate = (item: Members, random: Random): void => {
  const nested = item.filter(([, value]) => typeof value === 'object' && value !== null);
  if (nested.length > 0 && random.once(2)) {
    const index = item.indexOf(random.pick(nested));
    const [name, value] = item[index] ?? ['', null];
    item[index] = [name, mutateNested(value, random)];
    return;
  }
  mutateMember(item, random);
};

const mutateNested = (value: unknown, random: Random): unknown => {
  if (Array.isArray(value)) {
    const copy = [...value];
    const index = random.below(copy.length + 1);
    copy[index] =
      index < value.length && random.once(2) ? mutateNested(copy[index], random) : random.pick(VALUES);
    return copy;
  }
  if (typeof value !== 'object' || value === null || value instanceof Raw) return random.pick(VALUES);
  const members = membersOf(value);
  mutate(members, random);
  return members.length === 0 ? {} : members;
};

const mutateMember = (item: Members, random: Random): void => {
  const index = random.below(item.length);
  const name = item[index]?.[0] ?? '"name"';
  const value = random.once(3)
    ? random.pick(VALUES)
    : random.once(4)
      ? hexOf(random)
      : random.pick(fitting(name));
  const unknown = { a: [1, { b: '}{"\\' }], n: -1.5e-7 };
  const escaped = `"\\u00${name.charCodeAt(1).toString(16)}${name.slice(2)}`;
  const changes = [
    () => item.push([name, value]),
    () => item.push([escaped, value]),
    () => item.splice(random.below(item.length), 0, ['"x_new"', unknown]),
    () => item.sort(() => random.below(3) - 1),
    () => item.splice(index, 1),
  ];
  const change = changes[random.below(40)];
  if (change) change();
  else item[index] = [name, value];
};

const hexOf = (random: Random): string =>
  `0x${Array.from({ length: random.below(67) }, () => random.pick([...'0123456789abcdefF'])).join('')}`;

const STRINGS = VALUES.filter((value) => typeof value === 'string');
const FITTING: readonly (readonly [names: RegExp, fits: (value: string) => boolean])[] = [
  [/time|acquired/, (value) => /^\d{4}-/.test(value)],
  [/address|from|to"/, (value) => /^0x.{40}$/.test(value) || value === ''],
  [/hash|data/, (value) => /^0x[0-9a-fA-F]*$/.test(value)],
  [
    /price|gas|nonce|index|value|type|number|balance|_id/,
    (value) => /^(?:0x[0-9a-fA-F]*|-?\d+)$/.test(value),
  ],
];

/** Values that a field of this name may have, most of them. */
const fitting = (name: string): readonly unknown[] => {
  const found = FITTING.find(([names]) => names.test(name));
  const fits = found
    ? STRINGS.filter(found[1])
    : [...STRINGS, ...VALUES.filter((value) => value instanceof Raw)];
  return [null, undefined, ...fits];
};

/** Returns the JSON of a page whose items are mutated. */
export const randomBody = (list: ListName, random: Random, items = 6): string => {
  const { item, field } = LISTS[list];
  const entries = Array.from({ length: random.below(items) + 1 }, () => {
    if (random.once(40)) return random.pick(VALUES) ?? null;
    const members = membersOf(item(random.below(30)));
    for (let count = random.below(3); count > 0; count -= 1) mutate(members, random);
    return members;
  });
  const envelope: Members = [
    [`"${field}"`, entries],
    ['"next_offset"', random.once(3) ? random.pick(VALUES) : 'abc'],
    ['"request_time"', random.once(8) ? random.pick(VALUES) : timeAt(0)],
    ['"response_time"', timeAt(1)],
    ['"errors"', random.once(8) ? random.pick(VALUES) : undefined],
    ['"wallet_address"', addressOf(1)],
  ];
  if (random.once(30)) envelope.push(['"warnings"', random.pick(VALUES)]);
  if (random.once(60)) envelope.push([`"${random.pick([field, 'next_offset'])}"`, random.pick(VALUES)]);
  if (random.once(4)) envelope.sort(() => random.below(3) - 1);
  return writeJson(envelope, random.once(4) ? ' \n' : '');
};

/** Returns the JSON of a page of well-formed items. */
export const usualBody = (list: ListName, count: number): string => {
  const { item, field } = LISTS[list];
  const items = Array.from({ length: count }, (_, index) => item(index + 1));
  return JSON.stringify({
    [field]: items,
    next_offset: 'abc',
    request_time: timeAt(0),
    response_time: timeAt(1),
  });
};

type Json = unknown;

/** The items that have another value in the place of one part of `whole`. Of a list only the first part is replaced. */
function* withEveryValue(whole: Json): Generator<Json, void, undefined> {
  yield* VALUES;
  if (Array.isArray(whole) && whole.length > 0)
    for (const first of withEveryValue(whole[0])) yield [first ?? null, ...whole.slice(1)];
  else if (typeof whole === 'object' && whole !== null && !Array.isArray(whole))
    for (const [name, part] of Object.entries(whole))
      for (const other of withEveryValue(part)) yield { ...whole, [name]: other };
}

/** Returns the JSON of pages that have every value in the place of every part of an item, `size` items on each. */
export function* everyBody(list: ListName, size: number): Generator<string, void, undefined> {
  const { item, field } = LISTS[list];
  const items = [...withEveryValue(item(3))];
  for (let from = 0; from < items.length; from += size)
    yield writeJson({ [field]: items.slice(from, from + size).map((each) => each ?? null) }, '');
}
