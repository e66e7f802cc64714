import { createHash } from 'node:crypto';
import { UpstreamError } from './errors.ts';
import {
  isObject,
  MalformedFieldError,
  malformed,
  optional,
  type RawObject,
  readList,
  readTime,
} from './fields.ts';
import type { Page, PartialErrors } from './pages.ts';

/** One entry of a page: what it is, and how a walk finds it again when the pages have shifted. */
export type Item<Value> = {
  /** Equal for the same thing on any page of the list. */
  readonly identity: string;
  /** Milliseconds since 1970 by which the list is ordered, newest first; null where it has no such order. */
  readonly time: number | null;
  /** An error in place of an entry that does not read: it stands for itself alone. */
  readonly value: Value | MalformedFieldError;
};

type ItemReader<Value> = {
  readonly read: (raw: RawObject) => Value;
  readonly identity: (value: Value) => string;
  readonly time: (value: Value) => number | null;
};

/** The envelope that both lookups share. Throws UpstreamError `invalidResponse` when it is not one. */
export const readPage = <Value>(
  body: unknown,
  entriesField: string,
  reader: ItemReader<Value>,
  fetchedAt: number,
): Page<Item<Value>> => {
  try {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    if (!Array.isArray(body[entriesField])) throw malformed(entriesField, 'a list', body[entriesField]);
    return {
      items: readItems(readList(body, entriesField), entriesField, reader),
      nextOffset: readOffset(body),
      requestTime: optional(readTime)(body, 'request_time'),
      responseTime: optional(readTime)(body, 'response_time'),
      partialErrors: readPartialErrors(body),
      fetchedAt,
    };
  } catch (cause) {
    if (!(cause instanceof MalformedFieldError)) throw cause;
    throw new UpstreamError('invalidResponse', `The service's answer does not read. ${cause.message}.`, {
      cause,
    });
  }
};

const readItems = <Value>(
  entries: readonly unknown[],
  entriesField: string,
  reader: ItemReader<Value>,
): Item<Value>[] => {
  const items: Item<Value>[] = [];
  let time: number | null = null;
  for (const [index, entry] of entries.entries()) {
    const value = readEntry(entry, `${entriesField}[${index}]`, reader);
    if (value instanceof MalformedFieldError) {
      // It has no name and perhaps no time of its own: its bytes name it, and its neighbour's time places it.
      items.push({ identity: `?${digest(JSON.stringify(entry))}`, time, value });
    } else {
      time = reader.time(value);
      items.push({ identity: reader.identity(value), time, value });
    }
  }
  return items;
};

const readEntry = <Value>(entry: unknown, place: string, reader: ItemReader<Value>) => {
  try {
    if (!isObject(entry)) throw malformed('entry', 'an object', entry);
    return reader.read(entry);
  } catch (error) {
    if (!(error instanceof MalformedFieldError)) throw error;
    return error.within(place);
  }
};

/** Absent, null and "" all mean the last page. */
const readOffset = (body: RawObject): string | null => {
  const offset = body.next_offset ?? '';
  if (typeof offset === 'string') return offset === '' ? null : offset;
  if (typeof offset === 'number') return String(offset);
  throw malformed('next_offset', 'a string', offset);
};

const readPartialErrors = ({ errors, warnings }: RawObject): PartialErrors | null => {
  const present = {
    ...(hasContent(errors) && { errors }),
    ...(hasContent(warnings) && { warnings }),
  };
  return Object.keys(present).length > 0 ? present : null;
};

const hasContent = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) ? Object.keys(value).length > 0 : Boolean(value);

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16);
