import { isObject } from '../../lib/json/raw-object.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import { UpstreamError } from '../client/errors.ts';
import { parseJson } from '../client/json-body.ts';
import type { ReceivedBody } from '../client/received-body.ts';
import type { Page } from '../page.ts';
import { readEnvelope } from './envelope.ts';
import { MalformedFieldError, malformed } from './fields.ts';
import { type ItemReader, readItem } from './item-reader.ts';
import { type ParsedItem, ParsedItems } from './parsed-items.ts';

/** What a page was requested for. */
type Requested<List> = {
  readonly list: List;
  /** The number of items that were requested. A page with more is invalid. */
  readonly limit: number;
  /** In milliseconds since 1970. */
  readonly fetchedAt: number;
};

/** Parses the pages of one list, from the bytes of a body to its items. */
export type PageParser<List, Value> = {
  /** Parses a body as far as it does not depend on the list. Rejects with UpstreamError `invalidResponse`. */
  parseBody(body: ReceivedBody): Promise<PageBody>;
  /** Makes a page of a parsed body. Rejects as `parsePage` does. */
  toPage(body: PageBody, requested: Requested<List>): Promise<Page<Value>>;
};

/** The parsed JSON of a body. */
type PageBody = { readonly json: unknown };

export const createPageParser = <List, Value>(reader: ItemReader<List, Value>): PageParser<List, Value> => ({
  parseBody: async (body) => ({ json: await parseJson(body) }),
  toPage: ({ json }, requested) => parsePage(json, reader, requested),
});

/**
 * Parses the envelope that all lists share, in slices between which other work runs. Rejects with UpstreamError
 * `invalidResponse` when the body is not such an envelope, or has more items than requested.
 */
export const parsePage = async <List, Value>(
  json: unknown,
  reader: ItemReader<List, Value>,
  { list, limit, fetchedAt }: Requested<List>,
): Promise<Page<Value>> => {
  const { itemsField } = reader;
  try {
    if (!isObject(json)) throw malformed('body', 'an object', json);
    const items = json[itemsField];
    if (!Array.isArray(items)) throw malformed(itemsField, 'a list', items);
    if (items.length > limit)
      throw new MalformedFieldError(
        itemsField,
        `expected at most ${limit}, as requested, got ${items.length}`,
      );
    return { ...readEnvelope(json), fetchedAt, items: new ParsedItems(await readItems(items, reader, list)) };
  } catch (cause) {
    if (!(cause instanceof MalformedFieldError)) throw cause;
    throw new UpstreamError('invalidResponse', `Upstream's answer could not be parsed. ${cause.message}.`, {
      cause,
    });
  }
};

/** A page is parsed in slices of this length, so that other work runs meanwhile. */
const SLICE_MS = 5;

const readItems = async <List, Value>(
  items: readonly unknown[],
  reader: ItemReader<List, Value>,
  list: List,
): Promise<ParsedItem<Value>[]> => {
  const slices = createTimeSlices(SLICE_MS);
  const read: ParsedItem<Value>[] = [];
  for (const [index, item] of items.entries()) {
    if (slices.isOver()) await slices.next();
    read.push(readItem(reader, list, item, index, read.at(-1)?.time ?? null));
  }
  return read;
};
