import type { z } from 'zod';

/** A place of an answer that is not as it is read. */
export type Difference = {
  /** By the explorer's names, such as `items.token.decimals`. */
  readonly where: string;
  /** `refused`: the answer can't be used. `unread`: what is there is taken as unknown. `missing`: in no row at all. */
  readonly kind: 'refused' | 'unread' | 'missing';
  /** What is there, or why it is refused: never a value. */
  readonly what: string;
  /** The places, of all rows. */
  readonly count: number;
};

type Found = Omit<Difference, 'count'>;

/** Where an answer differs from what a schema reads, each place once for all rows. */
export const differencesIn = (schema: z.ZodType, body: unknown): readonly Difference[] => {
  const { success, data, error } = schema.safeParse(body);
  const found = new Map<string, Difference>();
  const note = (each: Found): void => {
    const key = `${each.where} ${each.what}`;
    found.set(key, { ...each, count: (found.get(key)?.count ?? 0) + 1 });
  };
  if (!success) {
    for (const { path, message } of issuesIn(error.issues))
      note({ where: placeOf(path), kind: 'refused', what: message });
    return [...found.values()];
  }
  const present = new Set<string>();
  compare(body, data, [], (each) => {
    if (each.kind === 'present') present.add(each.where);
    else note({ where: each.where, kind: each.kind, what: each.what });
  });
  return [...found.values()].filter(({ kind, where }) => kind !== 'missing' || !present.has(where));
};

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/** Of what may be one thing or another, what keeps it from being the last one. */
const issuesIn = (issues: readonly z.core.$ZodIssue[]): readonly Issue[] =>
  issues.flatMap((issue): readonly Issue[] => {
    const others = issue.code === 'invalid_union' ? (issue.errors.at(-1) ?? []) : [];
    if (others.length === 0) return [issue];
    return issuesIn(others).map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
  });

/** A path without the numbers of rows. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path.filter((part) => typeof part === 'string').join('.') || 'the body';

type Noted = Found | { readonly where: string; readonly kind: 'present' };

/** Compares what came with what was read of it: what was read as unknown, and what was not there. */
const compare = (
  came: unknown,
  read: unknown,
  path: readonly PropertyKey[],
  note: (noted: Noted) => void,
): void => {
  const where = placeOf(path);
  if (came === undefined) {
    note({ where, kind: 'missing', what: 'is in no row' });
    return;
  }
  if (path.length > 0) note({ where, kind: 'present' });
  if (came === read || came === null) return;
  if (read === null) note({ where, kind: 'unread', what: `is ${kindOf(came)} that can't be read` });
  else if (Array.isArray(came) && Array.isArray(read)) {
    // Some lists are read without their nulls.
    if (came.length === read.length)
      for (const [at, each] of came.entries()) compare(each, read[at], [...path, at], note);
  } else if (typeof came === 'object' && typeof read === 'object')
    for (const [name, value] of Object.entries(read))
      compare(Reflect.get(came, name), value, [...path, name], note);
};

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
};
