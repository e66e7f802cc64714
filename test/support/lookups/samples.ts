import { lookups } from '../../../src/lookups/registry.ts';
import type { AnyLookup } from '../../../src/upstream/list-lookup.ts';
import { addressOf, collectible, type Fields, hashOf, timeAt, transaction } from '../upstream/builders.ts';

/** What tests know of a list beside its definition: how upstream sends it. */
type Sample = {
  /**
   * A whole item, with every field that upstream may send. Each number is another item; in a list by time the higher one is
   * newer, and so many in a row have the same time.
   */
  readonly item: (number: number, atOnce?: number) => Fields;
  /** The field of an item that no other item of a sample has equal, as clients and as upstream name it. */
  readonly key: readonly [client: string, upstream: string];
  /** The path of the list below `/v1/evm/`, up to what it is of. Default: the name of the lookup. */
  readonly path?: string;
  /** The field of Query that has the list of `$address`. Default: its wallet. */
  readonly parent?: string;
  /** Whether the connection of an empty list is null. Default: false. */
  readonly isNullIfEmpty?: boolean;
};

const decoded = (name: string) => ({
  name,
  inputs: [
    { name: 'to', type: 'address', value: addressOf(9) },
    { name: 'amounts', type: 'uint256[]', value: ['1', '2'] },
    { name: 'flag', type: 'bool', value: true },
  ],
});

/** By the names of the lookups. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  transactions: {
    key: ['hash', 'hash'],
    item: (number, atOnce = 1) => ({
      ...transaction({
        hash: hashOf(number),
        block_time: timeAt(Math.floor(number / atOnce)),
        value: `0x${(number ** 9).toString(16)}`,
      }),
      decoded: number % 3 === 0 ? decoded('transfer') : null,
      logs: Array.from({ length: number % 4 }, (_, index) => ({
        address: addressOf(index),
        data: `0x${'00'.repeat(index * 32)}`,
        topics: [hashOf(1), hashOf(index)].slice(0, index),
        ...(index % 2 === 0 && { decoded: decoded('Transfer') }),
      })),
    }),
  },
  collectibles: {
    key: ['tokenId', 'token_id'],
    item: (number) => ({
      ...collectible({ token_id: String(number), last_acquired: timeAt(number) }),
      description: `A longer text, with “quotes” and \n lines: ${'x'.repeat(number)}`,
      image_url: `https://example.com/${number}.png`,
      last_sale_price: '0.5',
      metadata: {
        uri: 'ipfs://x',
        attributes: Array.from({ length: number % 5 }, (_, index) => ({
          key: `trait ${index}`,
          value: String(index),
        })),
      },
      spam_score: number * 1.1,
      explanations: ['trade_volume', 'suspicious_words', 'brand_new'].slice(0, number % 4).map((feature) => ({
        feature,
        value: number % 2 === 0 ? number : false,
        feature_score: 50,
        feature_weight: 0.25,
      })),
    }),
  },
  holders: {
    path: 'token-holders',
    parent: 'token(token: { contract: { chainId: 1, address: $address } })',
    isNullIfEmpty: true,
    key: ['balance', 'balance'],
    item: (number) => ({
      wallet_address: addressOf(number),
      balance: String(number * 10 ** 15),
      share: number / 1e6,
      first_acquired: timeAt(number),
      has_initiated_transfer: number % 2 === 0,
    }),
  },
};

export const sampleOf = ({ name }: Pick<AnyLookup, 'name'>): Sample => {
  const sample = SAMPLES[name];
  if (sample === undefined) throw new TypeError(`Expected a sample of ${name} in samples.ts.`);
  return sample;
};

/** `count` items as upstream lists them: those with the highest numbers come first. */
export const sampleItems = (lookup: AnyLookup, count: number, atOnce = 1): Fields[] =>
  Array.from({ length: count }, (_, place) => sampleOf(lookup).item(count - place, atOnce));

/** The lookup whose list is at a path of upstream; undefined for any other path. */
export const lookupAt = (path: string): AnyLookup | undefined =>
  lookups.find((lookup) => path.includes(`/v1/evm/${sampleOf(lookup).path ?? lookup.name}/`));
