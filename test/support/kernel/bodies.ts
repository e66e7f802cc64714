import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { sampleItems, sampleOf } from '../lookups/samples.ts';
import { addressOf, timeAt } from '../upstream/builders.ts';
import { type Members, membersOf, writeJson } from './hand-written-json.ts';
import { mutate } from './mutations.ts';
import type { Random } from './random.ts';
import { VALUES } from './values.ts';

/** Bodies of any list: usual ones, and ones whose parts have any form. */

/** Returns the JSON of a page whose items are mutated. */
export const randomBody = (lookup: AnyLookup, random: Random, items = 6): string => {
  const { itemsField: field } = lookup;
  const { item } = sampleOf(lookup);
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
export const usualBody = (lookup: AnyLookup, count: number): string =>
  JSON.stringify({
    [lookup.itemsField]: sampleItems(lookup, count),
    next_offset: 'abc',
    request_time: timeAt(0),
    response_time: timeAt(1),
  });

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
export function* everyBody(lookup: AnyLookup, size: number): Generator<string, void, undefined> {
  const { itemsField: field } = lookup;
  const items = [...withEveryValue(sampleOf(lookup).item(3))];
  for (let from = 0; from < items.length; from += size)
    yield writeJson({ [field]: items.slice(from, from + size).map((each) => each ?? null) }, '');
}
