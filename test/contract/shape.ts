import { type Finding, membersOf, shown } from './finding.ts';

/** The form of a value. It finds what is wrong about a value at a place. */
export type Shape = (value: unknown, at: string) => Iterable<Finding>;

export const is = (expected: string, test: (value: unknown) => boolean): Shape =>
  function* (value, at) {
    if (!test(value)) yield { kind: 'differs', at, expected, got: shown(value) };
  };

const matching = (expected: string, pattern: RegExp): Shape =>
  is(expected, (value) => typeof value === 'string' && pattern.test(value));

/** What is promised, or another form that services are known to have, which is a note. */
export const or = (promised: Shape, tolerated: Shape): Shape =>
  function* (value, at) {
    const found = [...promised(value, at)];
    const kind = found.length > 0 && [...tolerated(value, at)].length === 0 ? 'note' : null;
    for (const finding of found) yield kind === null ? finding : { ...finding, kind };
  };

/** A fact that is observed but not promised: all that differs is a note. */
export const observed = (shape: Shape): Shape =>
  function* (value, at) {
    for (const finding of shape(value, at)) yield { ...finding, kind: 'note' };
  };

export const listOf = (item: Shape): Shape =>
  function* (value, at) {
    if (!Array.isArray(value)) yield { kind: 'differs', at, expected: 'a list', got: shown(value) };
    else for (const each of value) yield* item(each, `${at}[]`);
  };

/** Null stands for an absent list, which clients must tolerate. */
export const nullOr = (shape: Shape): Shape =>
  or(
    shape,
    is('null', (value) => value === null),
  );

type Members = Readonly<Record<string, Shape>>;

/**
 * An object. Optional members may be absent or null, which services mix; an absent required member differs. Members
 * that are not named may have any value.
 */
export const record = (required: Members, optional: Members = {}): Shape =>
  function* (value, at) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return yield { kind: 'differs', at, expected: 'an object', got: shown(value) };
    const members = membersOf(value);
    const inside = (name: string) => (at === '' ? name : `${at}.${name}`);
    for (const [name, shape] of Object.entries(required)) yield* shape(members[name], inside(name));
    for (const [name, shape] of Object.entries(optional))
      if (members[name] !== undefined && members[name] !== null) yield* shape(members[name], inside(name));
  };

/** The shape that fits a value: it may depend on the value's own members. */
export const byMember = (choose: (members: Readonly<Record<string, unknown>>) => Shape): Shape =>
  function* (value, at) {
    yield* choose(membersOf(value))(value, at);
  };

export const both = (...shapes: readonly Shape[]): Shape =>
  function* (value, at) {
    for (const shape of shapes) yield* shape(value, at);
  };

export const text = is('a text', (value) => typeof value === 'string');
export const flag = is('true or false', (value) => typeof value === 'boolean');
export const number = is('a number', (value) => typeof value === 'number');
export const integer = is('a whole number', Number.isInteger);
export const anything = is('any value', () => true);

export const oneOf = (...words: readonly string[]): Shape =>
  is(words.join(', '), (value) => typeof value === 'string' && words.includes(value));

/** A set that grows: other words are notes. */
export const openSet = (...words: readonly string[]): Shape => or(oneOf(...words), text);

/** Addresses are in lower case; EIP-55 case is tolerated. */
export const address = or(
  matching('an address in lower case', /^0x[0-9a-f]{40}$/),
  matching('an address', /^0x[0-9a-fA-F]{40}$/),
);
export const mixedAddress = matching('an address', /^0x[0-9a-fA-F]{40}$/);
export const assetAddress = or(matching('an address or native', /^(?:0x[0-9a-f]{40}|native)$/), mixedAddress);
export const hash = matching('a hash of 32 bytes', /^0x[0-9a-f]{64}$/i);
export const bytes = matching('hex bytes', /^0x(?:[0-9a-f]{2})*$/i);
export const hexNumber = matching('a hex number', /^0x[0-9a-f]+$/i);

/** A number in any of its forms. */
export const someNumber = is(
  'a number as a decimal or hex text or in JSON',
  (value) => Number.isInteger(value) || (typeof value === 'string' && /^(?:0x[0-9a-f]+|\d+)$/i.test(value)),
);
/** Numbers come as decimal or hex texts or as JSON numbers, by deployment. */
export const quantity = or(matching('a hex quantity', /^0x(?:0|[1-9a-f][0-9a-f]*)$/i), someNumber);
export const decimal = or(matching('a decimal text', /^\d+$/), someNumber);
/** A decimal text that may have a fraction. */
export const fraction = or(matching('a decimal text', /^\d+(?:\.\d+)?$/), number);
/** An amount in the smallest unit: digits would be lost in a JSON number. */
export const amount = matching('a decimal text', /^\d+$/);

export const time = is(
  'a time (RFC 3339)',
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
);
export const uuid = matching('a UUID', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i);
export const url = is('a URL', (value) => typeof value === 'string' && URL.canParse(value));

/** The findings of a shape, each kind once, with how often it occurs where that is more than once. */
export const judge = (shape: Shape, value: unknown): readonly Finding[] => {
  const groups = Map.groupBy(shape(value, ''), ({ kind, at, expected }) => `${kind} ${at} ${expected}`);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    return others.length === 0 ? first : { ...first, got: `${first.got} and ${others.length} more` };
  });
};
