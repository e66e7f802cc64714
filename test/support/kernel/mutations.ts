import { type Members, membersOf, Raw } from './hand-written-json.ts';
import type { Random } from './random.ts';
import { VALUES } from './values.ts';

/** Replaces, adds or repeats a member, of the item or of a record in it. */
export const mutate = (item: Members, random: Random): void => {
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
