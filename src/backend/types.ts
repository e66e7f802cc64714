/**
 * Chains and what happens on them: a source makes blocks of these, the lookups and the webhooks read them. Addresses
 * and hashes are 0x-prefixed lower-case hex everywhere.
 */

export type Hex = `0x${string}`;

/** A value that is there, or that is waited for: what a source must fetch, such as balances from a node. */
export type Awaitable<T> = T | Promise<T>;

export const ACTIVITY_TYPES = ['approve', 'mint', 'burn', 'receive', 'send', 'swap', 'call'] as const;
export const ASSET_TYPES = ['native', 'erc20', 'erc721', 'erc1155'] as const;

export type ActivityType = (typeof ACTIVITY_TYPES)[number];
export type AssetType = (typeof ASSET_TYPES)[number];

/** What a chain may support, under the names that the list of supported chains uses. */
export const CHAIN_LOOKUPS = [
  'balances',
  'transactions',
  'transaction',
  'activity',
  'token_info',
  'token_holders',
  'collectibles',
  'approvals',
  'names',
  'defi_positions',
] as const;

export type ChainLookup = (typeof CHAIN_LOOKUPS)[number];

export type NativeAsset = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
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
  /** The block explorer that its data comes from. Default: none. */
  readonly explorer?: ExplorerPages;
};

/** A block explorer, as people open it. */
export type ExplorerPages = {
  readonly name: string;
  /** Where its pages are, without a slash at the end; null where that is not known. */
  readonly url: string | null;
};

/** A token contract whose metadata is known. The decimals of NFTs are 0. */
export type Token = {
  readonly chain: Chain;
  readonly address: Hex;
  readonly standard: 'erc20' | 'erc721' | 'erc1155';
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** The value in dollars of the biggest pool that trades it; null when no pool does. Default: it is unknown. */
  readonly poolSizeUsd?: number | null;
  /** Whether its price is pegged to a currency, with or without a yield. Default: false. */
  readonly isStable?: boolean;
  /** Whether the source flags it as spam. Default: it does not say. */
  readonly flagged?: boolean;
  /** The value in dollars of what circulates of it. Default: it is unknown. */
  readonly marketCapUsd?: number;
  /** The project's site. Default: it is unknown. */
  readonly site?: string;
};

/** What an account has of an asset just before and just after a transfer; null where that is not known. */
export type BalanceChange = { readonly before: bigint | null; readonly after: bigint | null };

/** One movement of an asset. */
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
  /**
   * The balances of both sides, each null where it is unknown; null when both are. Webhooks need those of the addresses
   * that they watch, and lookups none.
   */
  readonly balances: { readonly from: BalanceChange | null; readonly to: BalanceChange | null } | null;
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

export type LogEntry = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** The event, from a source that decodes logs itself; null where it can't. */
  readonly decoded?: Decoded | null | undefined;
};

/** A call, as far as it is needed to decode it. */
export type Call = {
  readonly chain: Chain;
  /** Null when it creates a contract. */
  readonly to: Hex | null;
  readonly data: Hex;
  /** The call, from a source that decodes calls itself; null where it can't. */
  readonly decoded?: Decoded | null | undefined;
};

/** A transaction as a list has it. What is null is not known, or was not asked for. */
export type ListedTransaction = Call & {
  readonly blockHash: Hex | null;
  readonly blockNumber: number;
  /** Milliseconds since 1970. */
  readonly blockTime: number;
  /** The position in the block. */
  readonly index: number;
  readonly hash: Hex;
  readonly from: Hex;
  readonly value: bigint;
  readonly nonce: number;
  readonly gasPrice: bigint | null;
  readonly gasUsed: bigint | null;
  readonly effectiveGasPrice: bigint | null;
  /** What its sender paid for it, beside its value. */
  readonly fee: bigint | null;
  /** The transaction type of EIP-2718. */
  readonly type: number | null;
  /** Null where the chain does not say it. Only a transaction that is known to have succeeded has logs and effects. */
  readonly success: boolean | null;
  /** The contract that it created; null when it created none. */
  readonly created: Hex | null;
  readonly logs: readonly LogEntry[] | null;
};

/** A transaction of a block: all of it is known. */
export type MinedTransaction = ListedTransaction & {
  readonly blockHash: Hex;
  readonly gasPrice: bigint;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  readonly fee: bigint;
  readonly type: number;
  readonly logs: readonly LogEntry[];
};

/** With what it did. */
export type Transaction = MinedTransaction & { readonly effects: readonly Effect[] };

/** What is known of a transaction by its effects. Where a source knows no more than these, the members of the call are null. */
export type EffectiveTransaction = Pick<
  ListedTransaction,
  'chain' | 'blockNumber' | 'blockTime' | 'hash' | 'to' | 'success' | 'decoded'
> & {
  readonly from: Hex | null;
  readonly value: bigint | null;
  readonly data: Hex | null;
  readonly effects: readonly Effect[];
};

/** What is known of a transaction of which a source without blocks tells, for one address. */
export type FoundTransaction = EffectiveTransaction & {
  /** Null where the address has neither sent nor got it, and only its effects are known. */
  readonly listed: ListedTransaction | null;
};

/** What a source without blocks has found of one address in one block. */
export type Finding = {
  readonly chain: Chain;
  readonly address: Hex;
  /** The number of the block. */
  readonly number: number;
  readonly transactions: readonly FoundTransaction[];
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
