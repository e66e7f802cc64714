import type { Parameter } from 'ox/AbiParameters';
import type { Hex } from '../../../src/backend/types.ts';

/** What a simulated explorer knows of a chain. Times are in milliseconds since 1970, and what is null it does not know. */
export type Contents = {
  readonly chainId: number;
  /** From the first one on. */
  readonly blocks: readonly KnownBlock[];
  readonly transactions: readonly KnownTransaction[];
  readonly transfers: readonly KnownTransfer[];
  readonly internals: readonly KnownInternal[];
  readonly tokens: ReadonlyMap<Hex, KnownToken>;
  readonly contracts: ReadonlyMap<Hex, KnownContract>;
  /** The primary names of accounts. Default: none. */
  readonly names?: ReadonlyMap<Hex, string>;
  /** In wei. */
  readonly coins: ReadonlyMap<Hex, bigint>;
  readonly holdings: readonly KnownHolding[];
  /** Dollars a whole unit of the chain's own coin. */
  readonly coinPrice: number | null;
};

export type KnownBlock = {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly time: number;
};

export type KnownLog = {
  /** Its place in the block. */
  readonly index: number;
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
};

export type KnownTransaction = {
  readonly hash: Hex;
  /** Null for one that is in no block yet. */
  readonly block: KnownBlock | null;
  readonly position: number;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly created: Hex | null;
  readonly value: bigint;
  readonly nonce: number;
  readonly type: number;
  readonly gas: bigint;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  readonly input: Hex;
  readonly status: 'ok' | 'error' | null;
  readonly logs: readonly KnownLog[];
};

/** One row of a transfer: a batch of an ERC-1155 has one for each id. */
export type KnownTransfer = {
  readonly transaction: KnownTransaction & { readonly block: KnownBlock };
  readonly logIndex: number;
  /** The place in its batch; null where it is alone in its log. */
  readonly place: number | null;
  readonly token: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly tokenId: bigint | null;
  /** Null for an ERC-721. */
  readonly value: bigint | null;
};

export type KnownInternal = {
  readonly transaction: KnownTransaction & { readonly block: KnownBlock };
  readonly index: number;
  readonly type: string;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly created: Hex | null;
  readonly value: bigint;
  readonly success: boolean;
};

export type KnownToken = {
  readonly address: Hex;
  readonly type: 'ERC-20' | 'ERC-721' | 'ERC-1155';
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly supply: bigint | null;
  readonly price: number | null;
  readonly isScam: boolean;
};

export type KnownContract = {
  /** Null where nobody has verified it. */
  readonly verified: { readonly name: string; readonly abi: readonly AbiItem[] } | null;
};

/** An entry of an ABI, as far as calls need it. */
export type AbiItem = {
  readonly type: string;
  readonly name?: string | undefined;
  readonly inputs: readonly Parameter[];
};

export type KnownHolding = {
  readonly owner: Hex;
  readonly token: Hex;
  readonly tokenId: bigint | null;
  readonly value: bigint;
  /** The metadata document of an NFT. */
  readonly metadata: unknown;
};

/** Reads the newest contents. */
export type ReadContents = () => Contents | Promise<Contents>;

export const ZERO: Hex = `0x${'0'.repeat(40)}`;
