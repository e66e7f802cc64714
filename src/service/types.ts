/**
 * The types that the sandbox's parts share: the chain simulator makes blocks of these, the lookups and the webhooks
 * read them. Addresses and hashes are 0x-prefixed lower-case hex everywhere.
 */

export type Hex = `0x${string}`;

export const ACTIVITY_TYPES = ['approve', 'mint', 'burn', 'receive', 'send', 'swap', 'call'] as const;
export const ASSET_TYPES = ['native', 'erc20', 'erc721', 'erc1155'] as const;

export type ActivityType = (typeof ACTIVITY_TYPES)[number];
export type AssetType = (typeof ASSET_TYPES)[number];

/** What a chain may support, under the names that the list of supported chains uses. */
export const CHAIN_LOOKUPS = [
  'balances',
  'transactions',
  'activity',
  'token_info',
  'token_holders',
  'collectibles',
  'defi_positions',
] as const;

export type ChainLookup = (typeof CHAIN_LOOKUPS)[number];

/** A chain's native asset. All of them have 18 decimals. */
export type NativeAsset = {
  readonly symbol: string;
  readonly name: string;
  /** The price around which its market moves, in dollars; 0 when it has no market. */
  readonly priceUsd: number;
  /** Whether its price is pegged to a currency. Default: false. */
  readonly isStable?: boolean;
};

export type Chain = {
  /** May exceed 2^31-1. */
  readonly id: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly native: NativeAsset;
  /** Whether webhooks support this chain, as a filter and in deliveries. The lookups cover more chains. */
  readonly webhooks: boolean;
  /** The lookups that do not cover this chain. */
  readonly unsupported: readonly ChainLookup[];
};

/** A token contract whose metadata is known. ERC-20s have decimals, a pool and mostly a price. */
export type Token = {
  readonly chain: Chain;
  readonly address: Hex;
  readonly standard: 'erc20' | 'erc721' | 'erc1155';
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** The price around which its market moves, in dollars a whole token; null when no market makes a price. */
  readonly priceUsd: number | null;
  /** The value in dollars of the biggest pool that trades it; null when no pool does. */
  readonly poolSizeUsd: number | null;
  /** Whether its price is pegged to a currency, with or without a yield. Default: false. */
  readonly isStable?: boolean;
  /** When it first traded, in milliseconds since 1970: it has no price before. Default: before every block. */
  readonly tradedSince?: number;
  /** The project's site. Default: it is unknown. */
  readonly site?: string;
};

/** One movement of an asset, with the balances of both sides just before and just after it. */
export type Transfer = {
  readonly kind: 'transfer';
  readonly asset: AssetType;
  /** Null for the native asset. */
  readonly token: Hex | null;
  /** Null unless the asset is an ERC-721 or ERC-1155. */
  readonly tokenId: bigint | null;
  /** The zero address when the asset is minted. */
  readonly from: Hex;
  /** The zero address when the asset is burned. */
  readonly to: Hex;
  readonly value: bigint;
  readonly fromBefore: bigint;
  readonly fromAfter: bigint;
  readonly toBefore: bigint;
  readonly toAfter: bigint;
};

export type Approval = {
  readonly kind: 'approval';
  readonly asset: Token['standard'];
  readonly token: Hex;
  readonly tokenId: bigint | null;
  readonly owner: Hex;
  readonly spender: Hex;
  readonly value: bigint;
};

/** A trade through a router. The transfers that it caused are effects of their own. */
export type Swap = {
  readonly kind: 'swap';
  readonly trader: Hex;
  readonly router: Hex;
  readonly sold: { readonly token: Hex | null; readonly value: bigint };
  readonly bought: { readonly token: Hex | null; readonly value: bigint };
};

export type Effect = Transfer | Approval | Swap;

export type LogEntry = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex };

export type Transaction = {
  readonly chain: Chain;
  readonly blockHash: Hex;
  readonly blockNumber: number;
  /** Milliseconds since 1970. */
  readonly blockTime: number;
  /** The position in the block. */
  readonly index: number;
  readonly hash: Hex;
  readonly from: Hex;
  /** Null when the transaction creates a contract. */
  readonly to: Hex | null;
  readonly value: bigint;
  readonly data: Hex;
  readonly nonce: number;
  readonly gasPrice: bigint;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  /** The transaction type of EIP-2718. */
  readonly type: number;
  /** A failed transaction has no logs and no effects. */
  readonly success: boolean;
  readonly logs: readonly LogEntry[];
  readonly effects: readonly Effect[];
};

export type Block = {
  readonly chain: Chain;
  readonly number: number;
  readonly hash: Hex;
  readonly time: number;
  readonly transactions: readonly Transaction[];
};

export type DecodedInput = { readonly name: string; readonly type: string; readonly value: unknown };
export type Decoded = { readonly name: string; readonly inputs: readonly DecodedInput[] };

/** What is known of a chain's assets and contracts. */
export type ChainReader = {
  readonly chains: readonly Chain[];
  /** The token at an address; null when its metadata is unknown. */
  token(chainId: number, address: Hex): Token | null;
  /** The URL of an asset's logo; null when it has none. A null token is the chain's native asset. */
  logo(chainId: number, token: Hex | null): string | null;
  /** An asset's price at a time in milliseconds since 1970, in dollars a whole unit; null when it has none then. */
  price(asset: Token | NativeAsset, time: number): number | null;
  /** The name of a contract; null when it is unknown. */
  contractName(chainId: number, address: Hex): string | null;
  /** The decoded call; null when the contract or the method is unknown, or the call data does not fit the method. */
  decodeCall(transaction: Transaction): Decoded | null;
  decodeLog(chainId: number, log: LogEntry): Decoded | null;
};

/** Statistics about a collection's trading; null where they are unknown. */
type Reputation = {
  readonly trades: number | null;
  readonly buyers: number | null;
  readonly sellers: number | null;
  /** Whether third parties flagged it as spam; null when none has assessed it. */
  readonly flagged: boolean | null;
};

/** An NFT contract as the collectibles lookup describes it. */
export type Collection = {
  readonly token: Token & { readonly standard: 'erc721' | 'erc1155' };
  /** Milliseconds since 1970. */
  readonly launchedAt: number;
  readonly reputation: Reputation;
  /** The URI of a token's metadata, with `{id}` for the token id; null when there is no metadata. */
  readonly uri: string | null;
  readonly description: string | null;
  /** The possible values of each trait, by the trait's name. */
  readonly traits: Readonly<Record<string, readonly string[]>>;
};

/** One NFT, or several of one ERC-1155 id, that a demo wallet holds. */
export type Holding = {
  readonly token: Token;
  readonly tokenId: bigint;
  readonly balance: bigint;
  /** When the wallet last received it, in milliseconds since 1970. */
  readonly acquiredAt: number;
  /** Its last price on the marketplace, in the native asset's smallest unit; null when it was never sold there. */
  readonly soldFor: bigint | null;
  /** Its position among all holdings, by when the wallet first received it: later is greater. */
  readonly slot: number;
};

/** What an account holds of the native asset (a null token) or of an ERC-20. */
export type AssetBalance = { readonly chain: Chain; readonly token: Hex | null; readonly amount: bigint };

export type Holder = {
  readonly account: Hex;
  /** More than 0. */
  readonly amount: bigint;
  /** When it first received the token, in milliseconds since 1970. */
  readonly acquiredAt: number;
  /** Whether it ever sent the token. */
  readonly hasSent: boolean;
};

export type Pool = {
  /** Such as `uniswap_v3`. */
  readonly type: string;
  readonly address: Hex;
  readonly tokens: readonly Hex[];
};

/** The position of a walk through a wallet's transactions: the last transaction of the page before. */
export type Position = { readonly time: number; readonly order: number };

/** A transaction with its position in the order of all transactions. Block times never decrease in that order. */
export type OrderedTransaction = Transaction & { readonly order: number };

export type TransactionPage = {
  /** Newest first. */
  readonly transactions: readonly OrderedTransaction[];
  /** The position of the next page; null on the last page. */
  readonly next: Position | null;
};

/** A DeFi position with its type's own fields, by the names of the lookup. */
export type DefiPosition = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly chain_id: number;
  readonly value_usd: number;
};

/** A family of DeFi protocols and where its positions are found. */
export type ProtocolFamily = {
  readonly family: string;
  readonly chains: readonly { readonly chain: Chain; readonly isPreview: boolean }[];
  readonly forks: readonly string[];
};

/**
 * Where the data of the lookups comes from. Everything that HTTP adds (parameters, pages, formats, prices in compute
 * units, errors) is the lookups' own.
 */
export type ChainData = ChainReader & {
  /** The newest `limit` transactions of a wallet on the given chains that are older than the position. */
  transactions(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    after: Position | null,
  ): TransactionPage;
  /** The NFTs of a wallet, the most recently acquired first. */
  holdings(wallet: Hex): readonly Holding[];
  /** Null for a contract that is no NFT collection. Spam collections are described as well. */
  collection(chainId: number, address: Hex): Collection | null;
  /** What an account holds of fungible assets on the given chains, in no stated order, without what it has none of. */
  balances(account: Hex, chainIds: ReadonlySet<number>): readonly AssetBalance[];
  /** The holders of an ERC-20, in no stated order; null for an unknown token. */
  holders(chainId: number, token: Hex): readonly Holder[] | null;
  /** The pool that makes a token's price; null when none does. */
  pool(chainId: number, token: Hex): Pool | null;
  /** The supply of an ERC-20; null for an unknown token. */
  supply(chainId: number, token: Hex): bigint | null;
  /** The known ERC-20s of the given chains. */
  tokens(chainIds: ReadonlySet<number>): readonly Token[];
  /** The DeFi positions of a wallet at the prices of a time in milliseconds since 1970. */
  defiPositions(wallet: Hex, chainIds: ReadonlySet<number>, time: number): readonly DefiPosition[];
  readonly protocols: readonly ProtocolFamily[];
};
