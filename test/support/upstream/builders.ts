/** Answers of the upstream service in the shapes of its contract, each valid as it stands: a test states only what it is about. */

/** A bigint stands for a JSON number of any size: see `toJson`. Undefined stands for a field that is left out. */
export type Fields = Record<string, unknown>;
export type RestTransaction = Fields & { hash: string; block_time: string };
export type RestCollectible = Fields & { contract_address: string; token_id: string };

let made = 0;

const hex = (value: number | bigint, digits: number) => `0x${value.toString(16).padStart(digits, '0')}`;

export const addressOf = (value: number | bigint) => hex(value, 40);

/** An address that no other test in this process has asked for, so that no cached page can answer for it. */
export const freshAddress = () => {
  made += 1;
  return addressOf(0xa0000000000000000000000000000000000000n + BigInt(made));
};

export const hashOf = (value: number | bigint) => hex(value, 64);

/** Seconds after a fixed moment, as the service writes times. */
export const timeAt = (seconds: number) => new Date(Date.UTC(2025, 0, 1) + seconds * 1000).toISOString();

export const transaction = (fields: Partial<RestTransaction> = {}): RestTransaction => ({
  address: addressOf(1),
  block_hash: hashOf(0xb10c),
  block_number: '21000000',
  block_time: timeAt(0),
  chain: 'ethereum',
  from: addressOf(1),
  to: addressOf(2),
  data: '0x',
  gas_price: '0x3b9aca00',
  hash: hashOf(0x7a5),
  index: '7',
  nonce: '0x2a',
  transaction_type: '0x2',
  value: '0xde0b6b3a7640000',
  logs: [],
  ...fields,
});

export const collectible = (fields: Partial<RestCollectible> = {}): RestCollectible => ({
  contract_address: addressOf(0xc011),
  token_standard: 'ERC721',
  token_id: '1',
  chain: 'ethereum',
  chain_id: 1,
  name: 'A picture',
  symbol: 'PIC',
  metadata: {},
  is_spam: false,
  balance: '1',
  last_acquired: timeAt(0),
  ...fields,
});

export const balance = (fields: Fields = {}): Fields => ({
  chain: 'ethereum',
  chain_id: 1,
  address: addressOf(0x70ce),
  amount: '573000000',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  price_usd: 1.5,
  value_usd: 859.5,
  pool_size: 48_210_330.5,
  ...fields,
});

/** The chain's own currency: it has neither a name nor a pool. */
export const nativeBalance = (fields: Fields = {}): Fields => ({
  chain: 'ethereum',
  chain_id: 1,
  address: 'native',
  amount: '1500000000000000000',
  symbol: 'ETH',
  decimals: 18,
  price_usd: 3000,
  value_usd: 4500,
  ...fields,
});

/** `count` transactions, newest first. Several share a block (and so a time), as a busy wallet's do. */
export const history = (count: number, transactionsPerBlock = 1) =>
  Array.from({ length: count }, (_, place) => numbered(count - place, transactionsPerBlock));

/** The transaction with this number in a wallet's life: a higher number is newer. */
export const numbered = (number: number, transactionsPerBlock = 1) => {
  const block = Math.floor(number / transactionsPerBlock);
  return transaction({
    hash: hashOf(number),
    block_number: String(block),
    block_time: timeAt(block),
    index: String(number % transactionsPerBlock),
  });
};

/** `count` collectibles, each with a token id of its own. */
export const collection = (count: number) =>
  Array.from({ length: count }, (_, place) =>
    collectible({ token_id: String(count - place), last_acquired: timeAt(count - place) }),
  );

export const transactionsEnvelope = (transactions: readonly unknown[], fields: Fields = {}): Fields => ({
  transactions,
  wallet_address: addressOf(1),
  request_time: timeAt(100),
  response_time: timeAt(101),
  ...fields,
});

export const balancesEnvelope = (balances: readonly unknown[], fields: Fields = {}): Fields => ({
  wallet_address: addressOf(1),
  balances,
  request_time: timeAt(100),
  response_time: timeAt(101),
  ...fields,
});

export const collectiblesEnvelope = (entries: readonly unknown[], fields: Fields = {}): Fields => ({
  address: addressOf(1),
  entries,
  request_time: timeAt(100),
  response_time: timeAt(101),
  ...fields,
});
