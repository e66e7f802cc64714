/** Whose key pays. Never logged and never part of an error. */
export type Credential = { readonly key: string; readonly heldBy: 'gateway' | 'client' };
