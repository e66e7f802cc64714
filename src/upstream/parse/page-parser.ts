import { isObject, parseExactJson, type RawObject } from '../../lib/json/exact-json.ts';
import { parseInSlices } from '../../lib/json/parse-in-slices.ts';
import { isWithin } from '../../lib/json/size.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import { parseJson, type ReceivedBody } from '../client/body.ts';
import { UpstreamError } from '../client/errors.ts';
import type { IndexedList } from '../kernel/compile-list.ts';
import type { IndexedPage } from '../kernel/indexed-page.ts';
import type { PageKernel } from '../kernel/page-kernel.ts';
import type { Page, PageItems, PartialErrors } from '../page.ts';
import { type AskedChains, otherChainOf } from './asked-chains.ts';
import { MalformedFieldError, malformed, optional, readTime } from './fields.ts';
import {
  IndexedItems,
  type ItemReader,
  isWorthIndexing,
  type Listed,
  type ParsedItem,
  ParsedItems,
  readItem,
} from './items.ts';
import { RepeatedItems } from './repeated-items.ts';

/** What a page was requested for. */
type Requested = Listed & {
  /** The number of items that were requested. A page with more is invalid. */
  readonly limit: number;
  /** In milliseconds since 1970. */
  readonly fetchedAt: number;
};

/** Parses the pages of one list, from the bytes of a body to its items. */
export type PageParser<Value> = {
  /**
   * Parses the part of a body that does not depend on the list. `limit` is the number of requested items. The kernel indexes
   * the bytes; they are parsed if there is no kernel or it does not accept them. Rejects with UpstreamError
   * `invalidResponse`.
   */
  parseBody(body: ReceivedBody, limit: number, kernel: PageKernel | null): Promise<PageBody>;
  /** Makes a page of a parsed body. Rejects as `parsePage` does. */
  toPage(body: PageBody, requested: Requested): Promise<Page<Value>>;
};

/** The parsed JSON of a body, or the index of its bytes. */
type PageBody = { readonly json: unknown } | { readonly page: IndexedPage; readonly kernel: PageKernel };

/**
 * The plain parser reads larger bodies, in slices and with less memory: the kernel needs four times their size. No page that
 * follows the contract is this large.
 */
const MAX_INDEXED_BYTES = 8 * 1024 * 1024;

export const createPageParser = <Value>(
  indexedList: IndexedList,
  reader: ItemReader<Value>,
): PageParser<Value> => ({
  async parseBody(body, limit, kernel) {
    const isIndexable = kernel !== null && body.bytes <= MAX_INDEXED_BYTES && !body.hidesSecret;
    const page = isIndexable ? kernel.index(body.chunks, indexedList, limit, body.secret) : null;
    if (kernel && page && isWorthIndexing(page)) return { page, kernel };
    return { json: await parseJson(body) };
  },
  async toPage(body, requested) {
    if ('json' in body) return parsePage(body.json, reader, requested);
    const { page, kernel } = body;
    const envelope = orInvalidResponse(readEnvelope, (await parseEnvelope(page.envelope())) as RawObject);
    const items = await IndexedItems.of(page, kernel, reader, requested);
    return { ...envelope, fetchedAt: requested.fetchedAt, items: counted(items, reader) };
  },
});

/**
 * The parser of answers that are one thing: the only item of their page. `read` returns null for an answer that says that
 * there is none. It throws MalformedFieldError.
 */
export const createItemParser = <Value>(
  read: (body: unknown, chains: AskedChains | null) => Value | null,
): PageParser<Value> => ({
  parseBody: async (body) => ({ json: await parseJson(body) }),
  async toPage(body, { fetchedAt, chains = null }) {
    if (!('json' in body)) throw new TypeError('Expected parsed JSON, got an index of bytes.');
    const value = orInvalidResponse((json) => read(json, chains), body.json);
    const items = value === null ? [] : [{ identity: '', rank: null, value }];
    return {
      items: new ParsedItems(items, 'unordered'),
      nextOffset: null,
      requestTime: null,
      responseTime: null,
      partialErrors: isObject(body.json) ? readPartialErrors(body.json) : null,
      fetchedAt,
    };
  },
});

/** Most envelopes have few members, and take less time than a promise. */
const SMALL_ENVELOPE_CHARACTERS = 4096;

const parseEnvelope = (text: string): unknown =>
  text.length > SMALL_ENVELOPE_CHARACTERS ? parseInSlices(text, parseExactJson) : parseExactJson(text);

/**
 * Parses the envelope that all lists share, in slices between which other work runs. Rejects with UpstreamError
 * `invalidResponse` when the body is not such an envelope, or has more items than requested.
 */
export const parsePage = async <Value>(
  json: unknown,
  reader: ItemReader<Value>,
  requested: Requested,
): Promise<Page<Value>> => {
  const { limit, fetchedAt } = requested;
  const { itemsField } = reader;
  const items = orInvalidResponse((body) => {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    const listed = body[itemsField];
    if (!Array.isArray(listed)) throw malformed(itemsField, 'a list', listed);
    if (listed.length > limit)
      throw new MalformedFieldError(
        itemsField,
        `expected at most ${limit}, as requested, got ${listed.length}`,
      );
    return listed;
  }, json);
  const envelope = orInvalidResponse(readEnvelope, json as RawObject);
  const read = new ParsedItems(await readItems(items, reader, requested), reader.order.kind);
  const page = { ...envelope, fetchedAt, items: counted(read, reader) };
  const { moreField } = reader;
  if (moreField === undefined) return page;
  const { chains = null } = requested;
  const isOther = (item: unknown) =>
    chains !== null && isObject(item) && otherChainOf(chains, wireChainOf(item)) !== null;
  // What a page says about all of its items includes those.
  return { ...page, more: items.some(isOther) ? null : (json as RawObject)[moreField] };
};

const wireChainOf = ({ chain_id, chain }: RawObject): Parameters<typeof otherChainOf>[1] => ({
  chainId: typeof chain_id === 'number' ? chain_id : null,
  chain: typeof chain === 'string' ? chain : null,
});

/** Equal items are counted where a list has such. */
const counted = <Value>(items: PageItems<Value>, { content }: ItemReader<Value>): PageItems<Value> =>
  content === undefined ? items : new RepeatedItems(items);

/** Reads a body. Throws UpstreamError `invalidResponse` if it is malformed. */
const orInvalidResponse = <Body, Value>(read: (body: Body) => Value, body: Body): Value => {
  try {
    return read(body);
  } catch (cause) {
    if (!(cause instanceof MalformedFieldError)) throw cause;
    throw new UpstreamError('invalidResponse', `Upstream's answer could not be parsed. ${cause.message}.`, {
      cause,
    });
  }
};

/** A page is parsed in slices of this length, so that other work runs meanwhile. */
const SLICE_MS = 5;

const readItems = async <Value>(
  items: readonly unknown[],
  reader: ItemReader<Value>,
  listed: Listed,
): Promise<ParsedItem<Value>[]> => {
  const slices = createTimeSlices(SLICE_MS);
  const read: ParsedItem<Value>[] = [];
  for (const [index, item] of items.entries()) {
    if (slices.isOver()) await slices.next();
    read.push(readItem(reader, listed, item, index));
  }
  return read;
};

/** What a page says in addition to its items. */
type Envelope = Pick<Page<unknown>, 'nextOffset' | 'requestTime' | 'responseTime' | 'partialErrors'>;

/** Reads the members that the pages of all lists share. Throws MalformedFieldError. */
const readEnvelope = (body: RawObject): Envelope => ({
  nextOffset: readOffset(body),
  requestTime: optional(readTime)(body.request_time, 'request_time'),
  responseTime: optional(readTime)(body.response_time, 'response_time'),
  partialErrors: readPartialErrors(body),
});

/** Real offsets have about sixty characters. A cursor with a longer one would be too long to be sent back. */
const MAX_OFFSET_BYTES = 4096;

/** Absent, null and "" all mean the last page. */
const readOffset = (body: RawObject): string | null => {
  const offset = body.next_offset ?? '';
  if (typeof offset === 'number') return String(offset);
  if (typeof offset !== 'string') throw malformed('next_offset', 'a string', offset);
  // The size in JSON counts, since cursors are JSON.
  if (offset.length > MAX_OFFSET_BYTES || Buffer.byteLength(JSON.stringify(offset)) > MAX_OFFSET_BYTES)
    throw new MalformedFieldError(
      'next_offset',
      `expected at most ${MAX_OFFSET_BYTES} bytes, got ${offset.length} characters`,
    );
  return offset === '' ? null : offset;
};

/** Every cached page has them, and an answer may repeat them a hundred times. */
const MAX_PROBLEM_CHARACTERS = 65_536;
const MAX_PROBLEM_LEVELS = 200;

const readPartialErrors = ({ errors, warnings }: RawObject): PartialErrors | null => {
  const present = {
    ...(hasContent(errors) && { errors: withinBounds(errors, 'errors') }),
    ...(hasContent(warnings) && { warnings: withinBounds(warnings, 'warnings') }),
  };
  return Object.keys(present).length > 0 ? present : null;
};

const withinBounds = (problems: unknown, field: string): unknown =>
  isWithin(problems, { levels: MAX_PROBLEM_LEVELS, characters: MAX_PROBLEM_CHARACTERS })
    ? problems
    : `Upstream sent ${field} of more than ${MAX_PROBLEM_CHARACTERS} characters or ${MAX_PROBLEM_LEVELS} levels, which are left out.`;

const hasContent = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
