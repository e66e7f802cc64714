import type { Chain, Decoded, Hex, LogEntry, NativeAsset, Token, Transaction } from './types.ts';

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
