import { Refused } from './http/query.ts';
import type { FailedChain, PageStart, Part, Place } from './source.ts';
import type { Awaitable } from './types.ts';

/** One of several lists of which a page is made: that of a source. */
export type MemberList<Item> = {
  /** The chains that it is of. */
  readonly chainIds: ReadonlySet<number>;
  /** Reads it from its beginning, or from a place of its own. */
  readonly ask: (start: PageStart | null) => Awaitable<Part<Item>>;
};

type Options<Item> = {
  readonly start: PageStart | null;
  readonly limit: number;
  readonly patienceMs: number;
  /** Below 0 where the first item comes before the second one. Null: their order does not matter. */
  readonly compare: ((one: Item, other: Item) => number) | null;
  /** Is told what a list fails by. */
  readonly onProblem: (chainIds: ReadonlySet<number>, problem: unknown) => void;
};

/** Where a walk is in a member: its last place in it, or one of these. */
type Position = Place | typeof TOP | typeof ENDED | typeof FAILED | typeof REFUSED;

const TOP = 0;
const ENDED = 1;
/** What came meanwhile would be out of order: for the rest of the walk the member is missing. */
const FAILED = 2;
/** As a member that has failed, of one that fails at every request. */
const REFUSED = 3;

/**
 * A page of several lists, read at the same time. A place has the position in each of them, and names the one of its item. A list
 * that fails or is late leaves the others whole: its chains are named, on this page and the later ones of the walk.
 */
export const mergedList = async <Item extends { readonly place: Place }>(
  members: readonly MemberList<Item>[],
  { start, limit, patienceMs, compare, onProblem }: Options<Item>,
): Promise<Part<Item>> => {
  const { positions, last } = readPlace(start?.place ?? null, members.length);
  const failed: FailedChain[] = [];
  const fail = (at: number, failure: Failure): void => {
    positions[at] = failure.lasts ? REFUSED : FAILED;
    for (const chainId of members[at]?.chainIds ?? []) failed.push({ chainId, ...failure });
  };
  const readMember = async ({ chainIds, ask }: MemberList<Item>, at: number): Promise<Part<Item>> => {
    const position = positions[at] ?? TOP;
    if (position === ENDED) return NOTHING;
    if (position === FAILED || position === REFUSED) {
      const reason = 'it could not be read for an earlier page';
      fail(at, { reason, ...(position === REFUSED && { lasts: true }) });
      return NOTHING;
    }
    const from =
      position === TOP ? null : { place: position, including: start?.including === true && at === last };
    try {
      const part = await inTime(patienceMs, ask(from));
      failed.push(...(part.failed ?? []));
      return part;
    } catch (problem) {
      if (!(problem instanceof Refused)) onProblem(chainIds, problem);
      fail(at, failureOf(problem));
      return NOTHING;
    }
  };
  const parts = await Promise.all(members.map(readMember));
  const lists = parts.map(({ items, before = 0, next }) => ({ items: items.slice(before), taken: 0, next }));
  const items: Item[] = [];
  let current = last;
  while (items.length < limit) {
    // What follows the last item of a list that goes on may come before the items of the others.
    const isOpen = lists.some(({ items: all, taken, next }) => taken === all.length && next !== null);
    const at = compare !== null && isOpen ? null : firstOf(lists, compare);
    const list = at === null ? undefined : lists[at];
    const item = list?.items[list.taken];
    if (at === null || list === undefined || item === undefined) break;
    list.taken += 1;
    positions[at] = item.place;
    current = at;
    items.push({ ...item, place: writePlace(positions, current) });
  }
  for (const [at, { items: all, taken, next }] of lists.entries())
    if (taken === all.length && !isFailed(positions[at])) positions[at] = next ?? ENDED;
  const isOver = positions.every((position) => position === ENDED || isFailed(position));
  return {
    items,
    next: isOver ? null : writePlace(positions, current),
    isEnough: parts.some(({ isEnough }) => isEnough),
    failed,
  };
};

const NOTHING = { items: [], next: null };

const isFailed = (position: Position | undefined): boolean => position === FAILED || position === REFUSED;

type Failure = Omit<FailedChain, 'chainId'>;

/** What a rejection says of the chains that it is of. */
export const failureOf = (problem: unknown): Failure => {
  if (!(problem instanceof Refused)) return { reason: null };
  return { reason: problem.message, ...(problem.status === 400 && { lasts: true }) };
};

type Open<Item> = { readonly items: readonly Item[]; readonly taken: number };

/** Which list has the next item; null where all are at their ends. */
const firstOf = <Item>(
  lists: readonly Open<Item>[],
  compare: ((one: Item, other: Item) => number) | null,
): number | null => {
  let first: { readonly at: number; readonly item: Item } | null = null;
  for (const [at, { items, taken }] of lists.entries()) {
    const item = items[taken];
    if (item === undefined) continue;
    if (first === null || (compare !== null && compare(item, first.item) < 0)) first = { at, item };
  }
  return first?.at ?? null;
};

/** The positions of a walk, one for each member, and the member of its last item. */
const readPlace = (place: Place | null, count: number): { positions: Position[]; last: number } => {
  const [last = 0, ...members] = place ?? [];
  const positions = Array.from({ length: count }, (_, at): Position => {
    const member = members[at] ?? TOP;
    if (typeof member === 'string') return JSON.parse(member);
    return member === ENDED || member === FAILED || member === REFUSED ? member : TOP;
  });
  return { positions, last: Number(last) };
};

const writePlace = (positions: readonly Position[], last: number): Place => [
  last,
  ...positions.map((position) => (typeof position === 'number' ? position : JSON.stringify(position))),
];

/** Rejects with Refused when something takes too long. `subject` begins its sentence where nothing else does. */
export const inTime = async <Result>(
  patienceMs: number,
  work: Awaitable<Result>,
  subject = '',
): Promise<Result> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Refused(503, `${subject}no answer in ${patienceMs} ms`)),
    patienceMs,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};
