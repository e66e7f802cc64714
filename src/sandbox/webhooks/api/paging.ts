import { HttpError } from './json-body.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/**
 * The requested page size. Default: 100. Above 1,000 it is reduced, 0 is raised to 1, and anything but a number is a
 * 400.
 */
export const readLimit = (query: URLSearchParams): number => {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  if (!/^\d+$/.test(text))
    throw new HttpError(400, 'Failed to deserialize query string: limit: invalid digit found in string');
  return Math.min(Math.max(Number(text), 1), MAX_LIMIT);
};

/** An opaque offset: the list that it belongs to, and the number of the last item of the page. */
export const writeOffset = (list: string, sequence: number): string =>
  Buffer.from(`${list}/${sequence}`).toString('base64url');

/** The number in an offset. An offset that is made up or of another list has no effect: it is 0, the start. */
export const readOffset = (query: URLSearchParams, list: string): number => {
  const [name, sequence, ...rest] = Buffer.from(query.get('offset') ?? '', 'base64url')
    .toString()
    .split('/');
  if (name !== list || sequence === undefined || rest.length > 0 || !/^\d{1,15}$/.test(sequence)) return 0;
  return Number(sequence);
};

/**
 * The page of what was found. The caller finds one item more than the page holds, which shows whether another page
 * follows.
 */
export const withNext = <T>(
  found: readonly T[],
  limit: number,
  offset: (last: T) => string,
): { page: readonly T[]; next_offset?: string } => {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return found.length > limit && last !== undefined ? { page, next_offset: offset(last) } : { page };
};
