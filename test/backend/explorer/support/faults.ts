import fc from 'fast-check';
import type { Fault } from '../../../support/blockscout/server.ts';

/** What an explorer may answer in place of the truth, by what is known of them. */

type Body = Readonly<Record<string, unknown>>;

const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const html = { 'content-type': 'text/html' };
const MINUTE = { 'x-ratelimit-reset': '60000' };

/** What is answered in place of any truth. */
const REPLIES: Readonly<Record<string, Fault>> = {
  'a wrong key': { status: 401, json: { error: 'Unauthorized' } },
  'a request to pay': { status: 402, json: { error: 'Pay' }, headers: { 'payment-required': 'e30=' } },
  'no credits': { status: 402, json: { error: 'Out of credits' } },
  'a protection': { status: 403, text: 'error code: 1010' },
  'a protection in HTML': { status: 403, text: '<html></html>', headers: html },
  'a restricted address': { status: 403, json: { message: 'Restricted access' } },
  'a network that is not there': {
    status: 404,
    json: { error: 'Network not supported', source: 'internal' },
  },
  'a route that is not there': { status: 404, json: { error: 'Page not found' } },
  'a page that is not there': { status: 404, text: '<html>Not Found</html>', headers: html },
  'a parameter too many': { status: 422, json: { errors: [{ source: { pointer: '/type' } }] } },
  'a hash that is none': { status: 422, json: { message: 'Invalid parameter(s)' } },
  'too many requests': { status: 429, json: { message: 'Too many requests' } },
  'too many requests, for a while': { status: 429, json: { error: 'Too many' }, headers: MINUTE },
  'a database that is late': { status: 500, json: { message: 'Internal server error' } },
  'a failure in HTML': { status: 500, text: '<html></html>', headers: html },
  'a gateway without its instance': { status: 502, json: { error: 'Bad gateway', source: 'upstream' } },
  maintenance: { status: 503, text: 'maintenance' },
  'an instance that is late': { status: 504, json: { error: 'Timeout', source: 'upstream' } },
  'a redirect': { status: 302, text: '', headers: { location: 'https://elsewhere.example/' } },
  'no content': { status: 204, text: '' },
  HTML: { text: '<html>Just a moment</html>', headers: html },
  nothing: { text: '' },
  null: { json: null },
  'other JSON': { json: { message: 'ok' } },
  'a list': { json: [] },
  'an error in the style of Etherscan': { json: { status: '0', message: 'NOTOK', result: null } },
  'half of it': { cutAfter: 40 },
  silence: { isSilent: true },
};

const changed = (change: (page: Body & { readonly items: readonly unknown[] }) => unknown): Fault => ({
  change: (body) =>
    isBody(body) && Array.isArray(body.items) ? change({ ...body, items: body.items }) : body,
});

const PENDING = { block_number: null, timestamp: null, position: null, status: null };

/** A row of a transaction that is in no block yet. */
const pendingOf = (row: unknown): unknown =>
  isBody(row) ? { ...row, ...PENDING, hash: `0x${'ee'.repeat(32)}` } : row;

/** What happens to a page as a whole. */
const pages = (at: number): Readonly<Record<string, Fault>> => ({
  'no items': changed(({ items: _, ...rest }) => rest),
  'items that are null': changed((page) => ({ ...page, items: null })),
  'items that are no list': changed((page) => ({ ...page, items: { ...page.items } })),
  'no word of a next page': changed(({ next_page_params: _, ...rest }) => rest),
  'a next page that is a text': changed((page) => ({ ...page, next_page_params: 'more' })),
  'a next page that is a list': changed((page) => ({ ...page, next_page_params: [1] })),
  'nothing, and a next page': changed((page) => ({
    ...page,
    items: [],
    next_page_params: { block_number: 5, index: 1 },
  })),
  'rows twice': changed((page) => ({ ...page, items: page.items.flatMap((row) => [row, row]) })),
  'the whole page twice': changed((page) => ({ ...page, items: [...page.items, ...page.items] })),
  'rows backwards': changed((page) => ({ ...page, items: page.items.toReversed() })),
  'the first row last': changed(({ items: [first, ...others], ...page }) => ({
    ...page,
    items: first === undefined ? [] : [...others, first],
  })),
  'a row that is null': changed((page) => ({ ...page, items: replaced(page.items, at, () => null) })),
  'a row that is empty': changed((page) => ({ ...page, items: replaced(page.items, at, () => ({})) })),
});

const replaced = (rows: readonly unknown[], at: number, change: (row: unknown) => unknown) =>
  rows.map((row, place) => (place === at % rows.length ? change(row) : row));

/** What stands in the place of a member. Undefined leaves it out. */
const ODD: readonly unknown[] = [
  ...[undefined, null, -1, 1.5, 1e300, true, '', 'abc', '-5', '1e3', '0x', '0xzz', ' 7', '9'.repeat(100)],
  ...[{}, [], [[]], { value: 5 }],
];

/** Members of a row, or of what it has, by their paths. */
const pathsIn = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  isBody(value)
    ? Object.entries(value).flatMap(([name, member]) => [
        [...path, name],
        ...pathsIn(member, [...path, name]),
      ])
    : [];

const changedAt = (value: unknown, [name, ...rest]: readonly string[], odd: unknown): unknown => {
  if (name === undefined) return odd;
  if (!isBody(value)) return value;
  if (rest.length > 0) return { ...value, [name]: changedAt(value[name], rest, odd) };
  const { [name]: _, ...others } = value;
  return odd === undefined ? others : { ...others, [name]: odd };
};

/** What an explorer may say as well as the truth, so that nobody can tell: by the end of the member's path. */
const UNTOLD: readonly (readonly [path: RegExp, isUntold: (odd: unknown) => boolean])[] = [
  // Nobody got the transaction, as it created a contract; nobody sent it, as the chain itself moved something.
  [/^(to|transaction_hash)$/, (odd) => odd === null],
  // Names, pictures and words of a list that grows; documents of strangers.
  [/(^|[._])(name|symbol|result|url|type|reputation)$/, (odd) => typeof odd === 'string'],
  [/(^|\.)(metadata|token_instance|thumbnails)($|\.)/, () => true],
  // Prices.
  [/(exchange_rate|market_cap)$/, (odd) => odd === '1e3'],
  // The transaction has no data, the log none, or no topics.
  [/^(raw_input|data)$/, (odd) => odd === '0x'],
  [/^topics$/, (odd) => Array.isArray(odd) && odd.length === 0],
  // Tokens whose names the explorer does not know are in no search.
  [/^(name|symbol|decimals)$/, (odd) => odd === null || odd === undefined],
];

const isUntold = (path: readonly string[], odd: unknown): boolean =>
  UNTOLD.some(([pattern, is]) => pattern.test(path.join('.')) && is(odd));

/** One member of one row, or of an item, that is something else. */
const memberFault = (at: number, which: number, odd: unknown): Fault => {
  const change = (row: unknown): unknown => {
    const paths = pathsIn(row).filter((path) => !isUntold(path, odd));
    return changedAt(row, paths[which % Math.max(1, paths.length)] ?? [], paths.length === 0 ? row : odd);
  };
  return {
    change: (body) =>
      isBody(body) && Array.isArray(body.items)
        ? { ...body, items: replaced(body.items, at, change) }
        : change(body),
  };
};

export type Planted = { readonly name: string; readonly fault: Fault };

const named = (faults: Readonly<Record<string, Fault>>): readonly Planted[] =>
  Object.entries(faults).map(([name, fault]) => ({ name, fault }));

const memberFaults = fc.tuple(fc.nat(99), fc.nat(9_999), fc.constantFrom(...ODD)).map(([at, which, odd]) => ({
  name: `${JSON.stringify(odd)} at member ${which} of row ${at}`,
  fault: memberFault(at, which, odd),
}));

/** A fault of any kind. Those of members are more than all others. */
export const faults: fc.Arbitrary<Planted> = fc.oneof(
  fc.constantFrom(...named(REPLIES)),
  fc.nat(99).chain((at) => fc.constantFrom(...named(pages(at)))),
  { weight: 2, arbitrary: memberFaults },
);

/** Whether it changes the order of rows. */
export const isOfOrder = ({ name }: Planted): boolean =>
  name === 'rows backwards' || name === 'the first row last';

/** The first page again, whatever is asked for. */
export const firstPageAgain = (): Fault => {
  let first: unknown;
  return { change: (body) => (first ??= body) };
};

/** Those that come before a transaction that is in no block yet, which is no fault: lists of transactions begin with them. */
export const pendingFirst: Fault = changed((page) => ({
  ...page,
  items: [...page.items.slice(0, 1).map(pendingOf), ...page.items],
}));
