/** Whose key pays. Never logged and never part of an error. */
export type Credential = { readonly key: string; readonly owner: 'gateway' | 'client' };

/** A shorter key may stand in what a service says by chance. */
const MIN_REDACTED_LENGTH = 16;

/** What a service said, without the key should it have repeated it. */
export const withoutKey = (text: string, { key }: Credential): string =>
  key.length >= MIN_REDACTED_LENGTH && text.includes(key) ? text.replaceAll(key, '[key]') : text;
