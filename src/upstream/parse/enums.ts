/** The closed sets of words in upstream's webhooks and deliveries, as GraphQL spells them: the wire has them in lower case. */

export const WEBHOOK_TYPES = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'] as const;
export const TRANSACTION_SIDES = ['SENDER', 'RECEIVER'] as const;
export const ACTIVITY_TYPES = ['APPROVE', 'MINT', 'BURN', 'RECEIVE', 'SEND', 'SWAP', 'CALL'] as const;
export const ASSET_TYPES = ['NATIVE', 'ERC20', 'ERC721', 'ERC1155'] as const;

/** What a webhook delivers; it can not be changed. */
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** The side of a transaction that the subscribed address is on. */
export type TransactionSide = (typeof TRANSACTION_SIDES)[number];

/** What happened, seen from the subscribed address. */
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

export type AssetType = (typeof ASSET_TYPES)[number];

/** Upstream's word as GraphQL spells it; null for a value that is none of `words`. */
export const oneOf = <Word extends string>(words: readonly Word[], value: unknown): Word | null => {
  const word = typeof value === 'string' ? value.toUpperCase() : null;
  return words.find((known) => known === word) ?? null;
};
