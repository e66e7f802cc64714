import type { Gateway } from '../gateway/start.ts';
import { sampleOf } from '../lookups/samples.ts';

export type PageInfo = {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
};
type Edge = { cursor: string; node: { key: string } | null };
/** The edge of a malformed item is null. */
export type Page = { edges: (Edge | null)[]; pageInfo: PageInfo };
type ParentPage = { parent: { page: Page | null } | null };

const EMPTY: Page = {
  edges: [],
  pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
};

const pageInfo = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

/** Pages of the list of a lookup. */
const documentOf = (lookup: string): string => {
  const { key: keys, parent = 'wallet(address: $address)' } = sampleOf({ name: lookup });
  const [key] = keys;
  return `query ($address: Address!, $first: Int, $after: String) {
    parent: ${parent} {
      page: ${lookup}(first: $first, after: $after) { edges { cursor node { key: ${key} } } ${pageInfo} }
    }
  }`;
};

/** Resolves with one page, and rejects if it is null. Errors of single items are ignored: their edges are null. */
export const pageAt = async (
  gateway: Gateway,
  lookup: string,
  address: string,
  first: number,
  after: string | null = null,
) => {
  const { data, errors, body } = await gateway.query<ParentPage>(documentOf(lookup), {
    address,
    first,
    after,
  });
  if (errors === undefined && data?.parent?.page === null && sampleOf({ name: lookup }).isNullIfEmpty)
    return EMPTY;
  if (!data?.parent?.page) throw new Error(`expected a page of ${lookup}, got ${body}`);
  return data.parent.page;
};

/** More pages than any list in the tests has: a longer walk is a loop. */
const mostPages = 500;

/** Pages forward to the end, as Relay does, and calls `between` after each page. `pages` gets those of a walk that fails, too. */
export const walk = async (
  gateway: Gateway,
  lookup: string,
  address: string,
  first: number,
  between: (page: number) => void = () => {},
  pages: Page[] = [],
) => {
  for (let after: string | null = null; pages.length < mostPages; ) {
    const page = await pageAt(gateway, lookup, address, first, after);
    pages.push(page);
    if (!page.pageInfo.hasNextPage) return pages;
    between(pages.length);
    after = page.pageInfo.endCursor ?? after;
  }
  throw new Error(`the walk did not end within ${mostPages} pages`);
};

/** The hashes (or token ids) of all the nodes of a walk, in order. */
export const keysOf = (pages: readonly Page[]) =>
  pages.flatMap(({ edges }) => edges.map((edge) => edge?.node?.key ?? null));
