import type { Changes } from './changes.ts';
import type { Revert } from './evm/revert.ts';
import type { Operation } from './http/http.ts';
import type {
  ActivityType,
  AssetType,
  Awaitable,
  Block,
  Call,
  Chain,
  Decoded,
  EffectiveTransaction,
  Hex,
  ListedTransaction,
  LogEntry,
  Token,
  Transaction,
} from './types.ts';

/**
 * What is known of chains, their assets and their contracts. It answers at once: what a block needs is fetched before listeners
 * hear of that block.
 */
export type ChainReader = {
  readonly chains: readonly Chain[];
  /**
   * Whether native currency that a call carries, or moves within it, is an activity. The hosted service reads logs and plain
   * payments: these escape it.
   */
  readonly seesCallValues: boolean;
  /** The token at an address; null when its metadata is unknown. */
  token(chainId: number, address: Hex): Token | null;
  /** The URL of an asset's logo; null when it has none. A null token is the chain's native asset. */
  logo(chainId: number, token: Hex | null): string | null;
  /**
   * An asset's price at a time in milliseconds since 1970, in dollars a whole unit; null when it has none then. A null
   * token is the chain's native asset.
   */
  price(chainId: number, token: Hex | null, time: number): number | null;
  /** The name of a contract; null when it is unknown. */
  contractName(chainId: number, address: Hex): string | null;
  /**
   * The decoded call; null when the contract or the method is unknown, or the call data does not fit the method. See `learnAbis`.
   */
  decodeCall(call: Call): Decoded | null;
  decodeLog(chainId: number, log: LogEntry): Decoded | null;
};

/** A place in a list, which offsets carry. What it means is the source's own business. */
export type Place = readonly (string | number)[];

/** What is asked for of a list: `limit` items or more from behind a place on, as far as there are any. */
export type Wanted = { readonly after: Place | null; readonly limit: number };

/** A chain that could not be read, so that what a list has of it is missing. */
export type FailedChain = {
  readonly chainId: number;
  /** Null where it is not known. */
  readonly reason: string | null;
  /** Whether it fails until its operator changes something, as with a wrong key. Default: false. */
  readonly lasts?: boolean;
  /** Whether all else of it was read, so that a list without items is an answer. Default: false. */
  readonly isPart?: boolean;
};

/** Items of a list, in its order. They may be more than was asked for. */
export type Part<Item> = {
  readonly items: readonly Item[];
  /** How many of the items come before the place, which a source may return as well. Default: 0. */
  readonly before?: number;
  /** The place behind which the list goes on; null when that was all. */
  readonly next: Place | null;
  /** Whether a page may end with them although it could have more, as those cost further requests. Default: false. */
  readonly isEnough?: boolean;
  /** The chains of which anything is missing. Default: none. */
  readonly failed?: readonly FailedChain[];
};

/** Where a page begins: behind a place, or, `including` it, with the item at the place. */
export type PageStart = { readonly place: Place; readonly including: boolean };

/** A transaction in a list, newest first. */
export type Listed<Of> = { readonly transaction: Of; readonly place: Place };

/**
 * What a list of transactions must say beside what it says anyway. Some sources need a request for each transaction: without the
 * detail, they leave null what it is about. With it nothing is null: a chain where it can't be read has failed.
 */
export const DETAILS = ['logs', 'block_hash'] as const;

export type Detail = (typeof DETAILS)[number];

/** A detail that costs a source requests of its own. */
export type CostlyDetail = {
  readonly detail: Detail;
  /** The most transactions of a page that has it, as each may take a request; null for as many as without it. */
  readonly page: number | null;
};

/** The activities that are wanted: those of these types, of one of these assets. Null: any. */
export type ActivityFilter = {
  readonly types: readonly ActivityType[] | null;
  readonly assetTypes: readonly AssetType[] | null;
  readonly tokens: readonly Hex[] | null;
};

/** One NFT, or several of one ERC-1155 id, that a wallet holds. */
export type Holding = {
  readonly chain: Chain;
  readonly contract: Hex;
  readonly standard: 'erc721' | 'erc1155';
  /** Null when it is unknown. */
  readonly symbol: string | null;
  readonly tokenId: bigint;
  readonly balance: bigint;
  /** When the wallet last received it, in milliseconds since 1970; null when it is unknown. */
  readonly acquiredAt: number | null;
  /** Its last price on a marketplace, in the native asset's smallest unit; null when it is unknown. */
  readonly soldFor: bigint | null;
  /** Its metadata, from a source that lists it with the NFT. */
  readonly metadata?: NftMetadata | null;
  readonly place: Place;
};

/** What the metadata document of an NFT says. */
export type NftMetadata = {
  readonly name: string | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
  /** The document's own address; null when there is none. */
  readonly uri: string | null;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
};

/** Statistics about a collection's trading; null where they are unknown. */
export type Reputation = {
  readonly trades: number | null;
  readonly buyers: number | null;
  readonly sellers: number | null;
  /** Whether third parties flagged it as spam; null when none has assessed it. */
  readonly flagged: boolean | null;
};

/** An NFT contract. What is null is unknown. */
export type Collection = {
  readonly name: string | null;
  readonly symbol: string | null;
  /** Milliseconds since 1970. */
  readonly launchedAt: number | null;
  readonly reputation: Reputation;
  /** Whether its source says that it is spam, which then decides alone; null where it does not say. Absent: signals decide. */
  readonly verdict?: boolean | null;
  /** The URI of a token's metadata; it may be a template with `{id}` for the token id. */
  readonly uri: string | null;
};

/** Where the lists of a chain begin that lack its oldest blocks. */
export type Beginning = {
  /** The oldest block that they have; null while they have none. */
  readonly block: number | null;
  /** Whether older blocks are not wanted, rather than to come. */
  readonly isLate: boolean;
  /** Whether `transactions` goes on below it, with those in whose calls a wallet took part. Default: false. */
  readonly hasOlder?: boolean;
};

/** What an account holds of the native asset (a null token) or of an ERC-20. */
export type AssetBalance = {
  readonly chain: Chain;
  readonly token: Hex | null;
  readonly amount: bigint;
  readonly place: Place;
};

/** What an account allows another one to move of its assets now. */
export type Allowance = {
  readonly chain: Chain;
  readonly token: Hex;
  /** Null where it is not known which kind of NFT it is. */
  readonly standard: Token['standard'] | null;
  readonly spender: Hex;
  /** How much of an ERC-20; null for NFTs. */
  readonly amount: bigint | null;
  /** The NFT that it is for; null for an ERC-20, and for all NFTs of the contract. */
  readonly tokenId: bigint | null;
  readonly place: Place;
};

export type Allowances = Part<Allowance> & {
  /** The approvals that could not be read. */
  readonly unread: readonly { readonly chain: Chain; readonly token: Hex }[];
};

export type Holder = {
  readonly account: Hex;
  /** More than 0. */
  readonly amount: bigint;
  /** When it first received the token, in milliseconds since 1970; null when it is unknown. */
  readonly acquiredAt: number | null;
  /** Whether it ever sent the token; null when it is unknown. */
  readonly hasSent: boolean | null;
  readonly place: Place;
};

export type Holders = Part<Holder> & {
  /** Whether its events say who holds a token. Without, each amount is right, but the order may not be, and holders may be missing. */
  readonly isWhole: boolean;
};

export type FoundTokens = {
  readonly tokens: readonly Token[];
  /** Default: none. */
  readonly failed?: readonly FailedChain[];
};

export type Pool = {
  /** Such as `uniswap_v3`. */
  readonly type: string;
  readonly address: Hex;
  readonly tokens: readonly Hex[];
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

/** How far a source is with tracing the blocks of a chain: what calls within transactions moved is known only then. */
export type ChainTraces = {
  /** The number of indexed blocks that are not traced yet. */
  readonly behind: number;
  /** Why blocks can't be traced now; null while they are. */
  readonly problem: string | null;
};

/** How far a source is with a chain that it follows. Numbers are those of blocks. */
export type ChainStatus = {
  readonly chainId: number;
  /** Null until the chain's head was seen. */
  readonly index: {
    /** The newest block that the chain is known to have. */
    readonly head: number;
    /** The time of that block, in milliseconds since 1970. */
    readonly headTime: number;
    readonly indexedFrom: number;
    readonly indexedTo: number;
    /** The number of blocks up to the head that are not indexed yet. */
    readonly behind: number;
    readonly traces: ChainTraces;
  } | null;
  /** Why the chain is not followed now; null while it is. */
  readonly problem: string | null;
};

/** A transaction, as far as its call and its logs are to be decoded; null is what is not known of it. */
export type Decodable = Pick<ListedTransaction, 'chain' | 'to' | 'logs' | 'decoded'> & {
  readonly data: Hex | null;
};

/**
 * Where the data of the lookups comes from. Everything that HTTP adds (parameters, pages, formats, prices in compute
 * units, errors) is the lookups' own.
 */
export type ChainData = ChainReader & {
  /** The details that cost it further requests: only those that are wanted are asked for. */
  readonly costly: readonly CostlyDetail[];
  /** The newest `limit` transactions of a wallet on the given chains, or those from a place on. */
  transactions(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    start: PageStart | null,
    details: ReadonlySet<Detail>,
  ): Awaitable<Part<Listed<ListedTransaction>>>;
  /**
   * The transactions by which a wallet's activities are known, as `transactions` lists them. Those may be left out that have none
   * of the wanted activities.
   */
  effects(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    start: PageStart | null,
    filter: ActivityFilter,
  ): Awaitable<Part<Listed<EffectiveTransaction>>>;
  /** The transaction with this hash; null when the chain has none. Rejects with Refused where that can't be known now. */
  transaction(chainId: number, hash: Hex, details: ReadonlySet<Detail>): Awaitable<ListedTransaction | null>;
  /**
   * Finds out whose ABI decodes the calls and logs of transactions. Returns the ids of the chains of which that can't be known now
   * of all of them: parameters may lack names there that they have otherwise.
   */
  learnAbis(transactions: readonly Decodable[]): Awaitable<readonly number[]>;
  /** Why a failed transaction failed. Rejects when that can't be known now. */
  revert(transaction: ListedTransaction): Awaitable<Revert>;
  /** The NFTs of a wallet on the given chains: the most recently acquired first, where the source knows when that was. */
  holdings(wallet: Hex, chainIds: ReadonlySet<number>, wanted: Wanted): Awaitable<Part<Holding>>;
  /** Null when the NFT's metadata is unknown. */
  metadata(holding: Holding): Awaitable<NftMetadata | null>;
  /** Null for a contract that is not an NFT collection. Spam collections are described as well. */
  collection(chainId: number, address: Hex): Awaitable<Collection | null>;
  /**
   * The fungible assets of an account on the given chains, without balances of 0. Where one asset is asked for, others may come
   * with it.
   */
  balances(
    account: Hex,
    chainIds: ReadonlySet<number>,
    wanted: Wanted | { readonly asset: Hex | null },
  ): Awaitable<Part<AssetBalance>>;
  /** What an account allows others on the given chains, as its contracts say it. */
  approvals(owner: Hex, chainIds: ReadonlySet<number>, wanted: Wanted): Awaitable<Allowances>;
  /**
   * The primary name of an account on a chain, such as that of ENS, normalised and confirmed by its forward record; null when it has
   * none. Rejects with Refused where that can't be known now.
   */
  name(account: Hex, chainId: number): Awaitable<string | null>;
  /** The holders of an ERC-20, the greatest first; null for an unknown token. */
  holders(chainId: number, token: Hex, wanted: Wanted): Awaitable<Holders | null>;
  /** The pool that makes a token's price; null when none does. */
  pool(chainId: number, token: Hex): Pool | null;
  /**
   * The supply of an ERC-20; null for an unknown token, one that does not say it, and a null token, the chain's native asset. What
   * else is known of the asset is up to date then.
   */
  supply(chainId: number, token: Hex | null): Awaitable<bigint | null>;
  /** The ERC-20s of the given chains whose symbols or names are like a text, the best first. */
  search(text: string, chainIds: ReadonlySet<number>, limit: number): Awaitable<FoundTokens>;
  /** The DeFi positions of a wallet at the prices of a time in milliseconds since 1970. */
  defiPositions(wallet: Hex, chainIds: ReadonlySet<number>, time: number): Awaitable<readonly DefiPosition[]>;
  readonly protocols: readonly ProtocolFamily[];
  /**
   * Tells of each change. Requests of a source that does are free, and gateways need no ages. Null for one that stands for a
   * hosted service, which does neither.
   */
  readonly changes: Changes | null;
  /** Each chain that is followed. A source whose data needs no following says nothing. */
  status(): readonly ChainStatus[];
  /** Where the lists of a chain begin; null where they have all of it, from its first block on. */
  beginning(chainId: number): Beginning | null;
};

/**
 * Hears of a source's blocks. The calls are synchronous: a source that stores its blocks makes them within the transaction that
 * stores the block, so that what a listener writes into the same database is committed or rolled back with it.
 */
export type BlockListener = {
  /** A chain's next block. */
  added(block: Block): void;
  /**
   * Effects that became known after `added` was called with their block, such as internal transfers: its transactions with the
   * additional effects, of which only the new ones may have balances, and the same transactions as they were. `part` names what
   * became known, once for each block. Default: its traces.
   */
  traced(block: Block, before: readonly Transaction[], part?: string): void;
  /** The chain's blocks from this number on have been unwound by a reorg: they are no longer part of the chain. */
  removed(chainId: number, fromNumber: number): void;
};

/** A source of chain data: the simulated chains, or an index of real ones. The service answers and delivers from it. */
export type Source = ChainData & {
  /** Adds a listener. It hears of new blocks only, not of backfilled ones. */
  onBlock(listener: BlockListener): void;
  /** Operations of its own beside the contract's, such as the pictures that its URLs point at. */
  readonly operations: readonly Operation[];
  /** Begins to make or follow blocks. Resolves when its data can be asked for. */
  start(): Promise<void>;
  /** Stops following blocks. Resolves once no listener will be called again. */
  stop(): Promise<void>;
};
