import { collectibles } from '../../../src/lookups/collectibles.ts';
import { transactions } from '../../../src/lookups/transactions.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { sampleOf } from '../lookups/samples.ts';
import { type Fields, timeAt } from './builders.ts';
import type { Answer, SeenRequest } from './fake-service.ts';

/** How a service may page. Any mix of these keeps the contract. */
export type PagingScheme = {
  /** What an offset names: the last item given (pages stay put), or a position (growth at the head shifts them). */
  by: 'item' | 'position';
  /** Page sizes in turn, each cut to the limit; 0 is an empty page that leads on. Left out: as many as the limit. */
  sizes?: readonly number[];
  /** How the last page says that it is the last. */
  end?: 'absent' | 'null' | 'empty';
  /** Whether the page with the last item still leads on, to an empty one. */
  trailingPage?: boolean;
};

type Item = Fields & { block_time?: string };
type Place = { page: number; position: number; after: { identity: string; time: string } | null };

const encode = (place: Place) => Buffer.from(JSON.stringify(place)).toString('base64url');
const decode = (offset: string): Place => JSON.parse(Buffer.from(offset, 'base64url').toString());

const time = (item: Item) => String(item.block_time ?? '');

/** One page of a newest-first list, which may change between pages. */
const pageOf = (
  items: readonly Item[],
  identity: (item: Item) => string,
  scheme: PagingScheme,
  offset: string | null,
  limit: number,
) => {
  const place: Place = offset ? decode(offset) : { page: 0, position: 0, after: null };
  const start = scheme.by === 'position' ? place.position : placeAfter(items, identity, place.after);
  const sizes = scheme.sizes ?? [limit];
  const end = start + Math.min(limit, sizes[place.page % sizes.length] ?? limit);
  const page = items.slice(start, end);
  const last = page.at(-1);
  const next: Place = {
    page: place.page + 1,
    position: start + page.length,
    after: last ? { identity: identity(last), time: time(last) } : place.after,
  };
  const more = end < items.length || (scheme.trailingPage === true && page.length > 0);
  return { page, next: more ? { next_offset: encode(next) } : endOf(scheme) };
};

const placeAfter = (items: readonly Item[], identity: (item: Item) => string, after: Place['after']) => {
  if (!after) return 0;
  const found = items.findIndex((item) => identity(item) === after.identity);
  if (found >= 0) return found + 1;
  // The item is gone, as after a reorg: go on with what is older.
  const older = items.findIndex((item) => time(item) < after.time);
  return older >= 0 ? older : items.length;
};

const endOf = ({ end = 'absent' }: PagingScheme) =>
  ({ absent: {}, null: { next_offset: null }, empty: { next_offset: '' } })[end];

const limitOf = ({ query }: SeenRequest, usual: number, most: number) =>
  Math.min(Number(query.get('limit') ?? usual), most);

/** Serves one list of a wallet, which may change while it is paged. */
export const serving =
  (lookup: AnyLookup, items: readonly Item[], scheme: PagingScheme = { by: 'item' }): Answer =>
  (request) => {
    const { itemsField, pageSizes } = lookup;
    const [, key] = sampleOf(lookup).key;
    const limit = limitOf(request, pageSizes.newest, pageSizes.older);
    const offset = request.query.get('offset');
    const { page, next } = pageOf(items, (item) => String(item[key]), scheme, offset, limit);
    const times = { request_time: timeAt(100), response_time: timeAt(101) };
    const { address } = request;
    return { json: { [itemsField]: page, address, wallet_address: address, ...times, ...next } };
  };

export const servingTransactions = (items: readonly Item[], scheme?: PagingScheme): Answer =>
  serving(transactions, items, scheme);

export const servingCollectibles = (items: readonly Item[], scheme?: PagingScheme): Answer =>
  serving(collectibles, items, scheme);
