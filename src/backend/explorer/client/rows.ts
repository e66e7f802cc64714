import { z } from 'zod';
import {
  address,
  amount,
  count,
  data,
  decimal,
  decimals,
  flag,
  hash,
  lenient,
  orNull,
  text,
  time,
} from './fields.ts';

/** What explorers answer, as far as lookups read it. Addresses and hashes become lower-case, amounts bigints, times milliseconds. */

const account = z.object({
  hash: address,
  name: text,
  ens_domain_name: text,
  is_contract: flag,
  is_verified: flag,
  is_scam: flag,
  reputation: text,
});

export type Account = z.output<typeof account>;

/** What a token is: without any of it, lookups would leave the token out. */
export const token = z.object({
  address_hash: address,
  /** Such as `ERC-20`. Chains add types of their own. */
  type: orNull(z.string()),
  symbol: orNull(z.string()),
  name: orNull(z.string()),
  decimals,
  holders_count: lenient(amount),
  total_supply: lenient(amount),
  /** Dollars a whole unit. */
  exchange_rate: decimal,
  circulating_market_cap: decimal,
  icon_url: text,
  /** `scam` where the explorer says so. */
  reputation: text,
});

export type ExplorerToken = z.output<typeof token>;

const parameter = z.object({ name: z.string(), type: z.string(), value: z.unknown() });

const decoded = lenient(
  z.object({ method_call: z.string(), method_id: text, parameters: z.array(parameter) }),
);

export const transaction = z.object({
  hash,
  /** Null where the chain does not say it. */
  status: lenient(z.enum(['ok', 'error'])),
  result: text,
  block_number: count,
  timestamp: time,
  position: count,
  from: account,
  to: account.nullable(),
  created_contract: lenient(account),
  value: amount,
  nonce: count,
  type: lenient(count),
  gas_limit: lenient(amount),
  gas_used: lenient(amount),
  gas_price: lenient(amount),
  fee: lenient(z.object({ type: z.string(), value: lenient(amount) })),
  raw_input: data,
  decoded_input: decoded,
  /** What a failed one says: decoded, or as `{ raw }`. */
  revert_reason: z.unknown(),
  method: text,
  transaction_types: lenient(z.array(z.string())),
  /** Dollars a whole unit of the chain's own coin: now, and on the transaction's day. */
  exchange_rate: decimal,
  historic_exchange_rate: decimal,
});

export type ExplorerTransaction = z.output<typeof transaction>;

/** An NFT as far as every place that shows it says it. */
const instance = lenient(
  z.object({ id: amount, metadata: z.unknown(), image_url: text, media_url: text, owner: lenient(account) }),
);

/** What moved: an amount, an id, or both, by the type of the token. Types that are not known may have neither. */
const moved = z.object({
  value: lenient(amount),
  token_id: orNull(amount),
  decimals: lenient(decimals),
  token_instance: instance,
});

const isMovedKnown = (type: string | null, total: z.output<typeof moved> | null): boolean => {
  const { value = null, token_id = null } = total ?? {};
  if (type === null) return false;
  if (type === 'ERC-20') return value !== null;
  if (type === 'ERC-721') return token_id !== null;
  if (type === 'ERC-404') return value !== null || token_id !== null;
  return type !== 'ERC-1155' || (value !== null && token_id !== null);
};

export const tokenTransfer = z
  .object({
    /** Null for what the chain itself moves. */
    transaction_hash: hash.nullable(),
    block_hash: lenient(hash),
    block_number: count,
    timestamp: time.nullable(),
    log_index: count,
    from: account,
    to: account,
    token,
    token_type: text,
    /** Such as `token_minting`. */
    type: text,
    method: text,
    total: lenient(moved),
  })
  .refine(({ token, token_type, total }) => isMovedKnown(token.type ?? token_type, total), {
    path: ['total'],
  });

export type ExplorerTransfer = z.output<typeof tokenTransfer>;

export const internalTransaction = z.object({
  transaction_hash: hash,
  transaction_index: lenient(count),
  index: count,
  block_number: count,
  timestamp: time,
  type: text,
  from: account,
  to: lenient(account),
  created_contract: lenient(account),
  value: amount,
  success: z.boolean(),
});

export const log = z.object({
  address: account,
  /** The explorer always sends four, of which the last ones may be null. */
  topics: z
    .array(hash.nullable())
    .refine((all) => all.every((topic, at) => topic !== null || (all[at + 1] ?? null) === null))
    .transform((all) => all.filter((topic) => topic !== null)),
  data,
  index: count,
  decoded,
  transaction_hash: hash,
  block_hash: lenient(hash),
  block_number: count,
});

export const addressToken = z.object({ token, value: amount.nullable(), token_id: lenient(amount) });

export const nft = z
  .object({
    id: amount,
    token,
    token_type: text,
    /** Missing for an ERC-721, of which there is one. */
    value: lenient(amount),
    /** The whole document. It may be any JSON, of strangers. */
    metadata: z.unknown(),
    image_url: text,
    media_url: text,
    animation_url: text,
    external_app_url: text,
    thumbnails: lenient(z.record(z.string(), z.unknown())),
    owner: lenient(account),
  })
  .refine(({ token, token_type }) => (token.type ?? token_type) !== null, { path: ['token_type'] });

export const holder = z.object({ address: account, value: amount.nullable(), token_id: lenient(amount) });

/** What is known of an address, also of one that no block names. */
export const addressInfo = z.object({
  ...account.shape,
  /** Wei; null where it is not known. */
  coin_balance: amount.nullable(),
  /** Dollars a whole unit of the chain's own coin. */
  exchange_rate: decimal,
  block_number_balance_updated_at: lenient(count),
  token: lenient(token),
  creator_address_hash: lenient(address),
  creation_transaction_hash: lenient(hash),
});

export const block = z.object({
  hash,
  height: count,
  timestamp: time,
  parent_hash: lenient(hash),
  transactions_count: lenient(count),
  /** Such as `reorg`. */
  type: text,
});

export const contract = z.object({
  name: text,
  abi: lenient(z.array(z.record(z.string(), z.unknown()))),
  is_verified: flag,
  implementations: lenient(z.array(z.object({ address_hash: address, name: text }))),
});

export const stats = z.object({ coin_price: decimal, total_blocks: text });

export const indexingStatus = z.object({
  finished_indexing: flag,
  finished_indexing_blocks: flag,
  indexed_blocks_ratio: lenient(z.union([z.number(), z.string().transform(Number)])),
  indexed_internal_transactions_ratio: lenient(z.union([z.number(), z.string().transform(Number)])),
});

export const backendVersion = z.object({ backend_version: text });

const digits = z.string().regex(/^\d+$/);
const whole = digits.transform(Number).refine(Number.isSafeInteger);

/** A transaction of the Etherscan-style route, where everything is text and an absent address is an empty one. */
export const etherscanTransaction = z.object({
  hash,
  blockNumber: whole,
  blockHash: hash,
  timeStamp: whole.transform((seconds) => seconds * 1000),
  transactionIndex: whole,
  nonce: whole,
  from: address,
  to: z.union([address, z.literal('').transform(() => null)]),
  contractAddress: lenient(z.union([address, z.literal('').transform(() => null)])),
  value: amount,
  gas: lenient(amount),
  gasPrice: lenient(amount),
  gasUsed: lenient(amount),
  input: data,
  isError: z.enum(['0', '1']),
  txreceipt_status: text,
});

export type EtherscanTransaction = z.output<typeof etherscanTransaction>;
