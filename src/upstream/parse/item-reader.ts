import { hash } from 'node:crypto';
import { isWithin } from '../../lib/json/bounds.ts';
import { isObject, type RawObject } from '../../lib/json/raw-object.ts';
import { MalformedFieldError, malformed } from './fields.ts';
import { type ListOrder, rankOf } from './list-order.ts';
import type { ParsedItem } from './parsed-items.ts';

/** How the items of a list are read. */
export type ItemReader<List, Value> = {
  /** The member of a page that has the items. */
  readonly itemsField: string;
  /** Throws MalformedFieldError. */
  readonly read: (raw: RawObject, list: List) => Value;
  /** The properties that identify an item in its list, on whichever page it is. */
  readonly identity: readonly (keyof Value)[];
  readonly order: ListOrder<keyof Value>;
};

/** Reads the item at `index` of a page. `rankBefore` is the rank of the item before it; null for the first one. */
export const readItem = <List, Value>(
  reader: ItemReader<List, Value>,
  list: List,
  item: unknown,
  index: number,
  rankBefore: number | null,
): ParsedItem<Value> => {
  try {
    if (!isObject(item)) throw malformed('entry', 'an object', item);
    const value = reader.read(item, list);
    return { identity: short(identityOf(value, reader.identity)), rank: rankOf(reader.order, value), value };
  } catch (error) {
    if (!(error instanceof MalformedFieldError)) throw error;
    // A malformed item has no identity, and perhaps no rank: its bytes identify it, and it gets its neighbour's rank.
    const identity = `?${digest(JSON.stringify(essenceOf(item)))}`;
    return { identity, rank: rankBefore, value: error.within(`${reader.itemsField}[${index}]`) };
  }
};

const identityOf = <Value>(value: Value, properties: readonly (keyof Value)[]): string => {
  let identity = '';
  for (const [index, property] of properties.entries())
    identity += index === 0 ? value[property] : `:${value[property]}`;
  return identity;
};

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
