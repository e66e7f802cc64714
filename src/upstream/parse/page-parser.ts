import { hash } from 'node:crypto';
import { isWithin } from '../../lib/json/bounds.ts';
import { isObject, type RawObject } from '../../lib/json/raw-object.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import { UpstreamError } from '../client/errors.ts';
import type { Page, PartialErrors } from '../page.ts';
import { MalformedFieldError, malformed, optional, readTime } from './fields.ts';
import { type ParsedItem, ParsedItems } from './parsed-items.ts';

type ListReader<Value> = {
  readonly entriesField: string;
  /** The number of entries that were requested. A page with more is invalid. */
  readonly maxEntries: number;
  readonly read: (raw: RawObject) => Value;
  readonly identity: (value: Value) => string;
  readonly time: (value: Value) => number | null;
};

/**
 * Parses the envelope that all lists share, in slices between which other work runs. Rejects with UpstreamError
 * `invalidResponse` when the body is not such an envelope, or has more entries than requested.
 */
export const parsePage = async <Value>(
  body: unknown,
  reader: ListReader<Value>,
  fetchedAt: number,
): Promise<Page<Value>> => {
  const { entriesField, maxEntries } = reader;
  try {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    const entries = body[entriesField];
    if (!Array.isArray(entries)) throw malformed(entriesField, 'a list', entries);
    if (entries.length > maxEntries)
      throw new MalformedFieldError(
        entriesField,
        `expected at most ${maxEntries}, as requested, got ${entries.length}`,
      );
    return {
      nextOffset: readOffset(body),
      requestTime: optional(readTime)(body.request_time, 'request_time'),
      responseTime: optional(readTime)(body.response_time, 'response_time'),
      partialErrors: readPartialErrors(body),
      fetchedAt,
      items: new ParsedItems(await readItems(entries, reader)),
    };
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
  entries: readonly unknown[],
  reader: ListReader<Value>,
): Promise<ParsedItem<Value>[]> => {
  const slices = createTimeSlices(SLICE_MS);
  const items: ParsedItem<Value>[] = [];
  let time: number | null = null;
  for (const [index, entry] of entries.entries()) {
    if (slices.isOver()) await slices.next();
    const value = readEntry(entry, `${reader.entriesField}[${index}]`, reader);
    if (value instanceof MalformedFieldError) {
      // A malformed entry has no identity, and perhaps no time: its bytes identify it, and it gets its neighbour's time.
      items.push({ identity: `?${digest(JSON.stringify(essenceOf(entry)))}`, time, value });
    } else {
      time = reader.time(value);
      items.push({ identity: short(reader.identity(value)), time, value });
    }
  }
  return items;
};

const readEntry = <Value>(entry: unknown, place: string, reader: ListReader<Value>) => {
  try {
    if (!isObject(entry)) throw malformed('entry', 'an object', entry);
    return reader.read(entry);
  } catch (error) {
    if (!(error instanceof MalformedFieldError)) throw error;
    return error.within(place);
  }
};

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

/** Every cursor has the identity of an item, so a long one is replaced by its digest. */
const MAX_IDENTITY = 256;

const short = (identity: string): string =>
  identity.length > MAX_IDENTITY ? `#${digest(identity)}` : identity;

/** The part of a malformed entry that identifies it: the entry itself, or the beginning of a large one. */
const essenceOf = (entry: unknown): unknown => {
  if (isWithin(entry, { levels: 200, characters: 16_384 })) return entry;
  if (typeof entry === 'string') return entry.slice(0, MAX_IDENTITY);
  if (!isObject(entry)) return [Array.isArray(entry) && entry.length];
  const fields = Object.entries(entry).slice(0, 100);
  return fields.map(([name, value]) => [name, typeof value === 'object' ? null : essenceOf(value)]);
};

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 16);
