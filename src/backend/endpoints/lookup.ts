import type { FaultRule } from '../http/http.ts';
import { json, type Operation, type ServiceResponse, text } from '../http/http.ts';
import { type Cursors, MalformedQuery, pageOf, Refused, type Scope, single } from '../http/query.ts';
import { sizeOfJson } from '../json-size.ts';
import type { Beginning, ChainData, FailedChain, Part, Place, Wanted } from '../source.ts';
import type { Awaitable, Chain } from '../types.ts';

/** What all lookups share. */
export type Service = {
  readonly data: ChainData;
  readonly cursors: Cursors;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The service's own base URL, without a trailing slash. */
  readonly baseUrl: () => string;
};

export type Asked = Service & {
  /** The parameters of the path by their names. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly fault: FaultRule | null;
};

export type Answer = {
  readonly body: object;
  /** The chains that the request processed, which its price may depend on. */
  readonly chains: number;
};

/** One lookup: all that the service says about it. `registry.ts` lists them. */
export type Lookup = {
  /** With its parameters in braces, such as `/v1/evm/activity/{address}`. */
  readonly path: string;
  /** Default: true. */
  readonly needsKey?: boolean;
  readonly errors: keyof typeof ERRORS;
  /** How it writes numbers. Default: as JavaScript does. */
  readonly numbers?: NumberStyle;
  /** The compute units of a request that processes this number of chains. */
  readonly computeUnits: (chains: number) => number;
  /** @throws MalformedQuery, Refused */
  readonly answer: (asked: Asked) => Awaitable<Answer>;
};

const CODES: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  404: 'NOT_FOUND',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};

/** The bodies of errors. Whatever answers a lookup behind the front door has its own. */
const ERRORS = {
  message: (status: number, message: string) => json(status, { message }),
  error: (status: number, message: string) => json(status, { error: message }),
  text,
  coded: (status: number, message: string) =>
    json(status, { error: { message, code: CODES[status] ?? 'INTERNAL_SERVER_ERROR' } }),
} satisfies Record<string, (status: number, message: string) => ServiceResponse>;

/** The statuses that the front door answers by itself, in one form for all lookups. */
const FRONT_DOOR: Readonly<Record<number, string>> = {
  401: 'invalid API Key',
  402: 'This request would exceed the quota of compute units',
  403: 'The API key lacks the permission for this request',
  429: 'Too many requests. Please contact support to increase your limit.',
};

const SENTENCES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  404: 'Not found',
  500: 'Internal server error',
  503: 'Try again later',
};

/** A lookup as an operation of the HTTP API. */
export const operationOf = (lookup: Lookup, service: Service): Operation => {
  const refuse = ERRORS[lookup.errors];
  return {
    path: lookup.path,
    needsKey: lookup.needsKey ?? true,
    fail(status) {
      const frontDoor = FRONT_DOOR[status];
      return frontDoor === undefined
        ? refuse(status, SENTENCES[status] ?? `Status ${status}`)
        : ERRORS.error(status, frontDoor);
    },
    async answer({ query }, path, fault) {
      const write = async (asked: URLSearchParams): Promise<Written> => {
        const { body, chains } = await lookup.answer({ ...service, path, query: asked, fault });
        return { body, chains, text: writeJson(ended(body, fault), lookup.numbers) };
      };
      try {
        const { text: written, chains } = await withinSize(query, write);
        return { ...json(200, null, lookup.computeUnits(chains)), body: written };
      } catch (problem) {
        if (problem instanceof MalformedQuery) return text(400, problem.message);
        if (problem instanceof Refused) return refusal(refuse(problem.status, problem.message), problem);
        throw problem;
      }
    },
  };
};

/** A 503 that says it is about a chain: the service itself works, and its sentence is for clients. */
const refusal = (response: ServiceResponse, { status, retryAfter }: Refused): ServiceResponse => ({
  ...response,
  headers: {
    ...response.headers,
    ...(status === 503 && { 'x-failure-of': 'chain' }),
    ...(retryAfter !== null && { 'retry-after': String(retryAfter) }),
  },
});

/**
 * The size of a page's JSON from which on it is made again with fewer items. The gateway takes 32 MB and 1,000,000 values, and more
 * than one of 8 MB only after another.
 */
const MAX_PAGE_BYTES = 7_500_000;

type Written = Answer & { readonly text: string };

/** Writes the page that a query asks for, or as much of it as is not too large. One item is written whatever its size. */
const withinSize = async (
  query: URLSearchParams,
  write: (query: URLSearchParams) => Promise<Written>,
): Promise<Written> => {
  let written = await write(query);
  for (let count = itemsOf(written); count > 1 && sizeOfJson(written.text) > MAX_PAGE_BYTES; ) {
    const fewer = new URLSearchParams(query);
    count = Math.floor(count / 2);
    fewer.set('limit', String(count));
    const shorter = await write(fewer);
    // Not every list has pages.
    if (itemsOf(shorter) > count || !('next_offset' in shorter.body)) return written;
    written = shorter;
  }
  return written;
};

const itemsOf = ({ body }: Answer): number => Object.values(body).find(Array.isArray)?.length ?? 0;

/** A last page says so by leaving `next_offset` out, or, by a fault, by null or an empty text. */
const ended = (body: object, fault: FaultRule | null): object =>
  fault?.lastOffset === undefined || Array.isArray(body) ? body : { next_offset: fault.lastOffset, ...body };

/** The items that one page looks at, about: behind it a filter makes pages that are short, or empty. */
const MAX_LOOKED_AT = 5_000;

/** The page of an ordered list that a request asks for, with the offset of the next one if there is one. */
export const paged = async <Raw, Item>(
  { query, cursors, fault }: Asked,
  scope: Scope,
  list: {
    readonly limit: number;
    readonly ask: (wanted: Wanted) => Awaitable<Part<Raw>>;
    /** Makes the items of one part of the list, and leaves out what the request does not want. */
    readonly choose: (part: readonly Raw[]) => Awaitable<readonly Item[]>;
    readonly placeOf: (item: Item) => Place;
  },
): Promise<{
  readonly page: readonly Item[];
  readonly next: { readonly next_offset?: string };
  /** Each chain that failed, once. */
  readonly failed: readonly FailedChain[];
}> => {
  const { limit, ask, choose, placeOf } = list;
  const failed = new Map<number, FailedChain>();
  const earlier: Item[] = [];
  const found: Item[] = [];
  let behind = cursors.read(scope, single(query, 'offset'));
  // One item more than the page has shows that there is another page.
  for (let lookedAt = 0; found.length <= limit && lookedAt < MAX_LOOKED_AT; ) {
    const part = await ask({ after: behind, limit: limit + 1 });
    const { items, before = 0, next, isEnough = false } = part;
    if (before > 0) earlier.push(...(await choose(items.slice(0, before))));
    for (const item of await choose(items.slice(before))) found.push(item);
    for (const each of part.failed ?? []) failed.set(each.chainId, each);
    lookedAt += limit + 1;
    behind = next;
    if (next === null || isEnough) break;
  }
  const bent = { shift: fault?.shift ?? 0, short: fault?.short ?? 0 };
  const { page, last } = pageOf([...earlier, ...found], { first: earlier.length, limit, bent });
  const end = last === null ? behind : placeOf(last);
  return {
    page,
    next: end === null ? {} : { next_offset: cursors.issue(scope, end) },
    failed: [...failed.values()],
  };
};

/** A warning about chains: what is missing of them in an answer. */
export type Warning = {
  readonly code: string;
  readonly message: string;
  readonly chain_ids: readonly number[];
  readonly docs_url?: string;
};

/** The `warnings` of an answer: requested chains that the lookup does not cover, and others. */
export const warnings = (
  subject: string,
  chainIds: readonly number[],
  { baseUrl }: Service,
  others: readonly Warning[] = [],
): object => {
  const unsupported = {
    code: 'UNSUPPORTED_CHAIN_IDS',
    message: `Some requested chain_ids are not supported. ${subject} are returned only for supported chains.`,
    chain_ids: chainIds,
    docs_url: `${baseUrl()}/v1/evm/supported-chains`,
  };
  const all = [...(chainIds.length === 0 ? [] : [unsupported]), ...others];
  return all.length === 0 ? {} : { warnings: all };
};

/** What the lists of a chain lack, in words. */
export const lacking = ({ name }: Chain, { block, isLate }: Beginning): string => {
  if (block === null) return `No block of ${name} is indexed yet`;
  return isLate
    ? `The index of ${name} begins with block ${block} (START_BLOCK)`
    : `The blocks of ${name} before ${block} are not indexed yet`;
};

/** Warnings of chains of which a list lacks the oldest blocks: where it ends, there may be more. */
export const beginnings = (
  { data }: Service,
  chains: readonly Chain[],
  missing: string,
): readonly Warning[] =>
  chains.flatMap((chain) => {
    const beginning = data.beginning(chain.id);
    if (beginning === null) return [];
    const code = beginning.isLate ? 'START_BLOCK' : 'INDEXING';
    return [{ code, message: `${lacking(chain, beginning)}: ${missing}`, chain_ids: [chain.id] }];
  });

/** Why a chain is missing, as the end of a sentence. */
export const because = ({ reason }: FailedChain): string => (reason === null ? '' : `: ${reason}`);

/** Seconds until a list is asked for again of which nothing could be read. */
const RETRY_AFTER = 10;

/** Warnings of chains that could not be read. */
export const unread = (
  subject: string,
  chains: readonly Chain[],
  failed: readonly FailedChain[],
): readonly Warning[] =>
  chains.flatMap((chain) => {
    const failure = failed.find(({ chainId }) => chainId === chain.id);
    if (failure === undefined) return [];
    const code = failure.lasts ? 'CHAIN_NOT_SERVED' : 'CHAIN_UNAVAILABLE';
    const message = `${subject} of ${chain.name} could not be read${because(failure)}`;
    return [{ code, message, chain_ids: [chain.id] }];
  });

/**
 * Warnings of chains that could not be read, so that a page lacks what it would have of them.
 * @throws Refused for an empty page of chains that all failed: it would look like an empty list.
 */
export const unreadable = (
  subject: string,
  chains: readonly Chain[],
  page: readonly unknown[],
  failed: readonly FailedChain[] = [],
): readonly Warning[] => {
  const all = unread(subject, chains, failed);
  if (page.length > 0 || all.length === 0 || all.length < chains.length) return all;
  if (failed.some(({ isPart }) => isPart)) return all;
  const message = all.map((each) => each.message).join('. ');
  throw failed.every(({ lasts }) => lasts)
    ? new Refused(400, message)
    : new Refused(503, message, RETRY_AFTER);
};

/** Chains as the part of a list's scope, in one order. */
export const scopeOf = (chains: readonly { readonly id: number }[]): readonly number[] =>
  chains.map(({ id }) => id).sort((one, other) => one - other);

/** ISO 8601 in UTC, from milliseconds since 1970. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/**
 * How a lookup writes its numbers in JSON. Each service behind the lookups has its own way, and clients must read them
 * all: whole numbers beyond 2^53, exponents, and points where nothing follows.
 */
type NumberStyle = 'fifteen digits' | 'pointed doubles';

/** A text that JSON.stringify writes as it is. The types of ECMAScript do not have it yet. */
const rawJson: (text: string) => unknown = Reflect.get(JSON, 'rawJSON');

/** The members that hold integers, in every lookup. */
const INTEGERS = new Set([
  'chain_id',
  'chain_ids',
  'decimals',
  'lock_end',
  'offset_hours',
  'tick_lower',
  'tick_upper',
]);

/**
 * `7.65e-05` from 1e-4 down, as languages of the C family write it; JavaScript would go on to 1e-6. What needs an
 * exponent for its size has all digits of a double.
 */
const fifteenDigits = (value: number): string => {
  if (Math.abs(value) >= 1e21) return String(value);
  const rounded = Number(value.toPrecision(15));
  if (rounded === 0 || Math.abs(rounded) >= 1e-4) return String(rounded);
  return rounded.toExponential().replace(/e-(\d)$/, 'e-0$1');
};

/** `10.0`, and `8.852246853764e-6` from 1e-5 down. */
const pointed = (value: number): string => {
  const text = value !== 0 && Math.abs(value) < 1e-5 ? value.toExponential() : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
};

const WRITERS: Readonly<Record<NumberStyle, (value: number) => string>> = {
  'fifteen digits': fifteenDigits,
  'pointed doubles': pointed,
};

/** The JSON of a body. Undefined members are left out. Without a style, numbers are written as JavaScript does. */
const writeJson = (body: unknown, style?: NumberStyle): string => {
  if (style === undefined) return JSON.stringify(body);
  const write = WRITERS[style];
  return JSON.stringify(body, (key, value: unknown) => {
    if (INTEGERS.has(key)) return Array.isArray(value) ? value.map((each) => rawJson(String(each))) : value;
    return typeof value === 'number' ? rawJson(write(value)) : value;
  });
};
