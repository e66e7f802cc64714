/** What is shown of a secret that may have a second value. */
export const secrets = (values: readonly string[] | null): string =>
  values?.length === 2 ? 'set, two values' : secret(values);

/** What is shown of a secret. */
export const secret = (value: unknown): string => (value === null ? 'not set' : 'set');

/** A URL without what gives access: user and password, and the query, which may have a password or a key. */
export const shown = (url: string): string =>
  url.replace(/\/\/[^/?#]*@/, '//(access)@').replace(/\?.*$/s, '?(query)');
