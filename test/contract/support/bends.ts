import { type Bend, type Passing, type Returning, said } from './bending-proxy.ts';

export type Item = Record<string, unknown>;

const LISTS = [
  'transactions',
  'entries',
  'approvals',
  'balances',
  'activity',
  'tokens',
  'holders',
  'positions',
  'chains',
];

/** Changes the JSON of an answer that is a 200. */
export const json = (answer: Returning, change: (body: Item) => unknown): void => {
  if (answer.status !== 200 || answer.body === '') return;
  const body = JSON.parse(answer.body);
  answer.body = JSON.stringify(change(body) ?? body);
};

/** Changes the items of a list, whatever the lookup calls it. */
export const items = (answer: Returning, change: (items: Item[]) => Item[]): void =>
  json(answer, (body) => {
    if (Array.isArray(body)) return change(body);
    const member = LISTS.find((each) => Array.isArray(body[each]));
    if (member !== undefined) body[member] = change(body[member] as Item[]);
    return body;
  });

export const each = (answer: Returning, change: (item: Item) => void): void =>
  items(answer, (list) => {
    for (const item of list) change(item);
    return list;
  });

/** A list of this length, by other items like its first. */
export const padded = (list: Item[], length: number): Item[] => [
  ...list,
  ...Array.from({ length: Math.max(0, length - list.length) }, (_, at) => ({
    ...list[0],
    hash: at,
    token_id: at,
  })),
];

/** Answers as if a parameter were not sent. */
export const ignoring = (...names: readonly string[]): Bend => ({
  request({ query }) {
    for (const name of names) query.delete(name);
    return undefined;
  },
});

/** Fails where a request has such a parameter. */
export const failing = (name: string, isMeant: (value: string) => boolean): Bend => ({
  request: ({ query }) => (isMeant(query.get(name) ?? '') ? said(500, 'Internal server error') : undefined),
});

/** Changes parameters of the query. */
export const asking = (change: (query: URLSearchParams) => void): Bend => ({
  request({ query }) {
    change(query);
    return undefined;
  },
});

/** Answers in place of the service where a request is meant. */
export const instead = (isMeant: (passing: Passing) => boolean, answer: Returning): Bend => ({
  request: (passing) => (isMeant(passing) ? answer : undefined),
});

/** Changes the answers to requests that are meant. */
export const answering = (
  isMeant: (passing: Passing) => boolean,
  change: (answer: Returning) => unknown,
): Bend => ({
  answer(answer, passing) {
    if (isMeant(passing)) change(answer);
  },
});

/** A server that differs: its name, how, the operations that it concerns, and how the promises begin that it breaks. */
export type Mutant = readonly [name: string, bend: Bend, operations: RegExp, promises: readonly string[]];

/** The address that the suite takes for one that nobody has used. */
export const UNUSED = '0x00000000000000000000000000000000c0ffee42';
export const OTHER = '0x1111111111111111111111111111111111111111';
