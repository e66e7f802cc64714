import { isObject, type RawObject } from '../lib/json/exact-json.ts';
import { itemLookup } from '../upstream/item-lookup.ts';
import { MalformedFieldError, malformed } from '../upstream/parse/fields.ts';
import {
  nullable,
  type RecordTable,
  type RecordValue,
  readRecord,
  required,
} from '../upstream/parse/record.ts';

const FOUND = {
  name: 'found',
  fields: {
    chainId: required('chain_id', 'chainId'),
    address: required('address', 'address'),
    symbol: nullable('symbol', 'lenientString'),
    name: nullable('name', 'lenientString'),
    logo: nullable('logo', 'lenientString'),
    decimals: nullable('decimals', 'int'),
  },
} as const satisfies RecordTable;

/** What a search is of. `address` is its text. */
type Search = { readonly address: string; readonly chains: string | null };

/** Upstream's largest answer: it costs as much as one of a single token. */
export const MAX_FOUND = 50;

const readFound = readRecord(FOUND);

/** An item that is no token is left out. */
const readOne = (raw: RawObject): RecordValue<typeof FOUND>[] => {
  try {
    return [readFound(raw)];
  } catch (error) {
    if (error instanceof MalformedFieldError) return [];
    throw error;
  }
};

/** ERC-20 tokens by symbol and name. */
export const searchLookup = itemLookup({
  name: 'search',
  path: (_search: Search) => ['v1', 'evm', 'search', 'tokens'],
  query: ({ address }) => ({ query: address, limit: String(MAX_FOUND) }),
  price: 2,
  // Symbols and names hardly change.
  timesHead: 300,
  read(body) {
    if (!Array.isArray(body)) throw malformed('body', 'a list', body);
    return body.slice(0, MAX_FOUND).filter(isObject).flatMap(readOne);
  },
});
