import { collectiblesEnvelope, type Fields, transactionsEnvelope } from './builders.ts';
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

type Item = Fields & { hash?: string; block_time?: string; token_id?: string };
type Place = { page: number; position: number; after: { identity: string; time: string } | null };

const encode = (place: Place) => Buffer.from(JSON.stringify(place)).toString('base64url');
const decode = (offset: string): Place => JSON.parse(Buffer.from(offset, 'base64url').toString());

const identity = (item: Item) => String(item.hash ?? item.token_id);
const time = (item: Item) => String(item.block_time ?? '');

/** One page of a newest-first list, which may change between pages. */
const pageOf = (items: readonly Item[], scheme: PagingScheme, offset: string | null, limit: number) => {
  const place: Place = offset ? decode(offset) : { page: 0, position: 0, after: null };
  const start = scheme.by === 'position' ? place.position : placeAfter(items, place.after);
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

const placeAfter = (items: readonly Item[], after: Place['after']) => {
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

/** Serves a wallet's transactions, newest first, from a list that may change while it is paged. */
export const servingTransactions =
  (items: readonly Item[], scheme: PagingScheme = { by: 'item' }): Answer =>
  (request) => {
    const { page, next } = pageOf(items, scheme, request.query.get('offset'), limitOf(request, 100, 100));
    return { json: transactionsEnvelope(page, { wallet_address: request.address, ...next }) };
  };

/** The same for a wallet's collectibles. */
export const servingCollectibles =
  (items: readonly Item[], scheme: PagingScheme = { by: 'item' }): Answer =>
  (request) => {
    const { page, next } = pageOf(items, scheme, request.query.get('offset'), limitOf(request, 250, 2500));
    return { json: collectiblesEnvelope(page, { address: request.address, ...next }) };
  };
