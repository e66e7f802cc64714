import { lookups } from '../../../src/lookups/registry.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import {
  addressOf,
  balance,
  collectible,
  type Fields,
  hashOf,
  nativeBalance,
  timeAt,
  transaction,
} from '../upstream/builders.ts';

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

const tokenMetadata = (number: number): Fields => ({
  symbol: `T${number}`,
  decimals: 18,
  name: `Token “${number}”`,
  logo: `https://example.com/token/logo/1/${addressOf(number)}`,
});

/** An activity of each type in turn, with every field that upstream may send of it. */
const activityItem = (number: number, block_time: string): Fields => {
  const base = { chain_id: 1, block_number: 21_000_000 + number, block_time, tx_hash: hashOf(number) };
  const priced = { ...tokenMetadata(number), price_usd: number * 1.1, pool_size: 9_000.5 + number * 400 };
  const token = { asset_type: 'erc20', token_address: addressOf(number), token_metadata: priced };
  switch (number % 6) {
    case 0:
      return {
        ...base,
        type: 'send',
        ...token,
        to: addressOf(7),
        value: '5',
        value_usd: 0.14017463965013963,
      };
    case 1:
      return {
        ...base,
        type: 'receive',
        asset_type: 'native',
        from: addressOf(8),
        value: '1000',
        value_usd: 3,
      };
    case 2:
      return {
        ...base,
        type: 'swap',
        to: addressOf(9),
        from_token_address: 'native',
        from_token_value: '12',
        from_token_metadata: tokenMetadata(number),
        to_token_address: addressOf(number),
        to_token_value: String(number),
        to_token_metadata: tokenMetadata(number),
      };
    case 3:
      return { ...base, type: 'approve', ...token, spender: addressOf(9), value: String(2n ** 256n - 1n) };
    case 4:
      return {
        ...base,
        type: 'call',
        to: addressOf(9),
        value: '0',
        function: { signature: '0xa9059cbb', name: 'transfer', inputs: decoded('transfer').inputs },
        contract_metadata: { name: 'Vault' },
        tx_from: addressOf(1),
        tx_to: addressOf(9),
        tx_value: '0',
        call_type: 'outgoing',
        data: '0xA9059CBB',
      };
    default:
      return { ...base, type: 'mint', ...token, asset_type: 'erc721', id: String(number), value: '1' };
  }
};

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
  activity: {
    key: ['transactionHash', 'tx_hash'],
    item: (number, atOnce = 1) => activityItem(number, timeAt(Math.floor(number / atOnce))),
  },
  defiPositions: {
    key: ['contract', 'vault_address'],
    path: 'defi/positions',
    item: (number) => ({
      type: 'FluidVault',
      chain: 'ethereum',
      chain_id: 1,
      logo: null,
      value_usd: number * 1.1,
      vault_address: addressOf(number),
      nft_id: `0x${number.toString(16)}`,
      vault_type: 'T1',
      is_liquidated: false,
      supply0: {
        token: { address: addressOf(5), name: 'Five', symbol: 'FIVE', decimals: 18 },
        quote: { balance: number / 3, price_usd: 2.5, value_usd: 8.852246853764e-6 },
      },
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
  approvals: {
    key: ['amount', 'amount'],
    item: (number) => ({
      chain: 'ethereum',
      chain_id: 1,
      token_address: addressOf(number),
      spender: addressOf(9),
      ...(number % 2 === 0 && { spender_name: `Router “${number}”` }),
      scope: 'amount',
      token_standard: 'ERC20',
      amount: String(number),
      is_unlimited: number % 3 === 0,
      is_for_all: false,
      token_metadata: { ...tokenMetadata(number), price_usd: number * 1.1, pool_size: 9_000.5 + number },
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
  balances: {
    key: ['amount', 'amount'],
    item: (number) => ({
      ...(number % 7 === 0
        ? nativeBalance({ chain: `chain_${number}`, chain_id: number })
        : balance({ address: addressOf(number), low_liquidity: number % 2 === 0 })),
      amount: String(number),
      token_metadata: { logo: `https://example.com/${number}.png`, ...(number % 3 === 0 && { url: null }) },
      historical_prices: [24, 1]
        .slice(0, number % 3)
        .map((offset_hours) => ({ offset_hours, price_usd: 2.5 })),
      ...(number % 4 === 0 && {
        pool: {
          pool_type: 'uniswap_v3',
          address: addressOf(number + 1),
          chain_id: 1,
          tokens: [addressOf(number), addressOf(3)],
        },
      }),
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
