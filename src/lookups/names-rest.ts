import { isObject } from '../lib/json/exact-json.ts';
import { itemLookup } from '../upstream/lookup.ts';
import { malformed, optional, readString } from '../upstream/parse/fields.ts';

/** Names a wallet on a chain. */
type NameOf = {
  readonly address: string;
  /** The chain's id. */
  readonly chains: string;
};

/** A longer name is none: ENS has none, and pages show it beside the address. */
const MAX_CHARACTERS = 255;

/** The primary name of a wallet. Hosted services can't say it. */
export const namesLookup = itemLookup({
  name: 'names',
  path: ({ address }: NameOf) => ['v1', 'evm', 'name', address],
  query: () => ({}),
  price: 1,
  // The service, too, keeps what it has read for an hour.
  timesHead: 1800,
  supportedAs: 'NAMES',
  bodyOfAbsent: null,
  read(body): string | null {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    const name = optional(readString)(body.name, 'name');
    return name === null || name.length > MAX_CHARACTERS || UNSAFE.test(name) ? null : name;
  },
});

/** Control characters, and those that change how others read. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
