/** The scopes of a token. Each allows one part of the schema. */
export const SCOPES = ['wallets', 'webhooks', 'deliveries', 'watch'] as const;

export type Scope = (typeof SCOPES)[number];

export const ALL_SCOPES: ReadonlySet<Scope> = new Set(SCOPES);
