import { HttpError } from './json-body.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** The page size asked for: 100 unless said, larger than 1,000 reduced, 0 raised to 1; not a number: 400. */
export const readLimit = (query: URLSearchParams): number => {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  if (!/^\d+$/.test(text))
    throw new HttpError(400, 'Failed to deserialize query string: limit: invalid digit found in string');
  return Math.min(Math.max(Number(text), 1), MAX_LIMIT);
};

/** An opaque cursor: which list it walks, and the number of the last item seen. */
export const writeOffset = (list: string, sequence: number): string =>
  Buffer.from(`${list}/${sequence}`).toString('base64url');

/** The number that `writeOffset` was given, or 0, the start: an offset made up or of another list has no effect. */
export const readOffset = (query: URLSearchParams, list: string): number => {
  const [name, sequence, ...rest] = Buffer.from(query.get('offset') ?? '', 'base64url')
    .toString()
    .split('/');
  if (name !== list || sequence === undefined || rest.length > 0 || !/^\d{1,15}$/.test(sequence)) return 0;
  return Number(sequence);
};

/** One more than the page holds tells whether there is a next one. */
export const withNext = <T>(
  found: readonly T[],
  limit: number,
  offset: (last: T) => string,
): { page: readonly T[]; next_offset?: string } => {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return found.length > limit && last !== undefined ? { page, next_offset: offset(last) } : { page };
};
