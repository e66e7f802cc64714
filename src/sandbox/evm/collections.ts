import type { Token } from '../types.ts';

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

/** A collection before its deployment, which gives it another address on each chain. */
export type CollectionTemplate = Omit<Collection, 'token' | 'launchedAt'> & {
  readonly name: string;
  readonly symbol: string;
  readonly standard: 'erc721' | 'erc1155';
  /** Milliseconds since 1970; null when it launches as the sandbox starts. */
  readonly launchedAt: number | null;
};
