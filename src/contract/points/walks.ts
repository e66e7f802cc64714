import { differs, expecting, type Finding, membersOf, note, Skipped, shown } from '../finding.ts';
import { ask, items, type Lookup, placesOf, type Where } from '../lookup.ts';
import { bodyOf, type Judged } from '../point.ts';

/** Pages that a walk takes at most: a list that goes on is not walked to its end. */
const MAX_PAGES = 5;
/** The items that are walked through in small pages, and the number of those pages. */
const WALKED = 30;
const STEPS = 3;

type Page = { readonly identities: readonly string[]; readonly next: unknown };

const isEnd = (next: unknown): boolean => next === undefined || next === null || next === '';

/** A page as the service has it now. */
const pageAt = async (
  judged: Judged,
  lookup: Lookup,
  where: Where,
  query: Readonly<Record<string, string>>,
): Promise<Page> => {
  const answer = await ask(judged, lookup, where, query, { again: true });
  const identity = lookup.list?.identity ?? shown;
  return { identities: items(lookup, answer).map(identity), next: membersOf(bodyOf(answer)).next_offset };
};

/** The pages from the first on, until the last or `most` of them. */
const walk = async (
  judged: Judged,
  lookup: Lookup,
  where: Where,
  limit: number,
  most: number,
): Promise<readonly Page[]> => {
  const pages: Page[] = [];
  let offset: string | null = null;
  do {
    const query = { limit: String(limit), ...(offset !== null && { offset }) };
    const page: Page = await pageAt(judged, lookup, where, query);
    pages.push(page);
    offset = isEnd(page.next) ? null : String(page.next);
  } while (offset !== null && pages.length < most);
  return pages;
};

/** Equal items get numbers, where a list may have such. */
const numbered = (identities: readonly string[]): readonly string[] => {
  const counts = new Map<string, number>();
  return identities.map((identity) => {
    const count = (counts.get(identity) ?? 0) + 1;
    counts.set(identity, count);
    return count === 1 ? identity : `${identity} (${count})`;
  });
};

const repeated = (texts: readonly string[]): string | undefined =>
  texts.find((each, at) => texts.indexOf(each) !== at);

/** Walks through what one page has in smaller ones. New items at the head of the list do not count as a difference. */
const compareSteps = async (judged: Judged, lookup: Lookup, where: Where): Promise<readonly Finding[]> => {
  const page = await pageAt(judged, lookup, where, { limit: String(WALKED) });
  const whole = numbered(page.identities);
  if (whole.length < 2)
    throw new Skipped('it needs a list of two items or more: name a wallet with --wallet');
  const step = Math.ceil(whole.length / STEPS);
  // A page more, for new items.
  const pages = await walk(judged, lookup, where, step, STEPS + 1);
  const sizes = pages.map(({ identities }) => identities.length);
  const walked = numbered(pages.flatMap(({ identities }) => identities));
  const start = walked.findIndex((identity) => whole.includes(identity));
  const common = start < 0 ? [] : walked.slice(start, start + whole.length);
  const wrong = common.findIndex((identity, at) => identity !== whole[at]);
  // Pages may be shorter than their limit, so that the walk does not come as far.
  const isShort = !isEnd(pages.at(-1)?.next);
  return [
    ...expecting(Math.max(...sizes) <= step, `pages of at most ${step} items`, sizes),
    ...expecting(
      wrong < 0 && (isShort || common.length >= whole.length),
      `item ${Math.max(wrong, 0)} of a page of ${whole.length} as ${whole[Math.max(wrong, 0)]}`,
      `${common[Math.max(wrong, 0)]} in pages of ${step}`,
    ),
  ];
};

/** A list that changes while it is walked through may differ once, but not twice. */
export const walkInSteps = async (judged: Judged, lookup: Lookup): Promise<readonly Finding[]> => {
  const where = await lookup.find(judged);
  const found = await compareSteps(judged, lookup, where);
  return found.length === 0 ? found : compareSteps(judged, lookup, where);
};

/** Walks to the end of a list that has one within a few pages. */
export const walkToTheEnd = async (judged: Judged, lookup: Lookup): Promise<readonly Finding[]> => {
  const limit = lookup.list?.limit?.most ?? 1;
  const found = await lookup.find(judged);
  const places = lookup.chains === 'many' ? await placesOf(judged, lookup) : [found];
  for (const where of places) {
    const pages = await walk(judged, lookup, where, limit, MAX_PAGES);
    const identities = pages.flatMap((page) => page.identities);
    const twice = lookup.list?.hasEqualItems === true ? undefined : repeated(identities);
    const loop = repeated(pages.flatMap(({ next }) => (isEnd(next) ? [] : String(next))));
    const last = pages.at(-1)?.next;
    if (twice !== undefined) return [differs('each item once', `${twice} twice`)];
    if (loop !== undefined) return [differs('another next_offset on each page', `${loop} twice`)];
    if (identities.length > 0 && isEnd(last))
      return last === undefined ? [] : [note('no next_offset', JSON.stringify(last))];
  }
  throw new Skipped(`no list ended within ${MAX_PAGES} pages: name a wallet with fewer items by --wallet`);
};
