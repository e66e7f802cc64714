import type { Token } from '../types.ts';

/** What is known of a collection's trading and repute; null where nothing is known. */
type Reputation = {
  readonly trades: number | null;
  readonly buyers: number | null;
  readonly sellers: number | null;
  /** What third parties say; null when none has looked at it. */
  readonly flagged: boolean | null;
};

/** An NFT contract as the collectibles lookup describes it. */
export type Collection = {
  readonly token: Token & { readonly standard: 'erc721' | 'erc1155' };
  /** Milliseconds since 1970. */
  readonly launchedAt: number;
  readonly reputation: Reputation;
  /** Its tokens' metadata lie at this address, `{id}` standing for the token id; null when it has none. */
  readonly uri: string | null;
  readonly description: string | null;
  /** Names of traits and the values that they take. */
  readonly traits: Readonly<Record<string, readonly string[]>>;
};

/** A collection before it is deployed, on each chain at another address. */
export type CollectionTemplate = Omit<Collection, 'token' | 'launchedAt'> & {
  readonly name: string;
  readonly symbol: string;
  readonly standard: 'erc721' | 'erc1155';
  /** Null when it is launched as the sandbox starts. */
  readonly launchedAt: number | null;
};
