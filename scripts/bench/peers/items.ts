/** The items of upstream's lists under the names that clients see. Their values pass as they are. */

export type Input = { name: string; type: string; value: unknown };
export type Decoded = { name: string; inputs: Input[] };
export type Log = { address: string; topics: string[]; data: string; decoded?: Decoded };

export type Transaction = {
  address: string;
  blockHash: string;
  blockNumber: string;
  blockTime: string;
  chain: string;
  from: string;
  to: string | null;
  data: string;
  gasPrice: string;
  hash: string;
  index: string;
  nonce: string;
  transactionType: string;
  value: string;
  decoded: Decoded | undefined;
  logs: Log[];
};

export type Attribute = { key: string; value: string };
export type Metadata = { uri: string; attributes: Attribute[] };

export type Collectible = {
  contractAddress: string;
  tokenStandard: string;
  tokenId: string;
  chain: string;
  chainId: number;
  name: string;
  description: string;
  symbol: string;
  imageUrl: string;
  lastSalePrice: string;
  metadata: Metadata;
  isSpam: boolean;
  balance: string;
  lastAcquired: string;
};

export type RawTransaction = {
  address: string;
  block_hash: string;
  block_number: string;
  block_time: string;
  chain: string;
  from: string;
  to: string | null;
  data: string;
  gas_price: string;
  hash: string;
  index: string;
  nonce: string;
  transaction_type: string;
  value: string;
  decoded?: Decoded;
  logs: Log[];
};

export const toTransaction = (raw: RawTransaction): Transaction => ({
  address: raw.address,
  blockHash: raw.block_hash,
  blockNumber: raw.block_number,
  blockTime: raw.block_time,
  chain: raw.chain,
  from: raw.from,
  to: raw.to,
  data: raw.data,
  gasPrice: raw.gas_price,
  hash: raw.hash,
  index: raw.index,
  nonce: raw.nonce,
  transactionType: raw.transaction_type,
  value: raw.value,
  decoded: raw.decoded,
  logs: raw.logs,
});

export type RawCollectible = {
  contract_address: string;
  token_standard: string;
  token_id: string;
  chain: string;
  chain_id: number;
  name: string;
  description: string;
  symbol: string;
  image_url: string;
  last_sale_price: string;
  metadata: Metadata;
  is_spam: boolean;
  balance: string;
  last_acquired: string;
};

export const toCollectible = (raw: RawCollectible): Collectible => ({
  contractAddress: raw.contract_address,
  tokenStandard: raw.token_standard,
  tokenId: raw.token_id,
  chain: raw.chain,
  chainId: raw.chain_id,
  name: raw.name,
  description: raw.description,
  symbol: raw.symbol,
  imageUrl: raw.image_url,
  lastSalePrice: raw.last_sale_price,
  metadata: raw.metadata,
  isSpam: raw.is_spam,
  balance: raw.balance,
  lastAcquired: raw.last_acquired,
});
