import { addressOf, collectible, hashOf, timeAt, transaction } from '../upstream/builders.ts';
import { type Members, membersOf, writeJson } from './hand-written-json.ts';
import { mutate } from './mutations.ts';
import type { Random } from './random.ts';
import { VALUES } from './values.ts';

/** Bodies of both lists: usual ones, and ones whose parts have any form. */

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
