/** A parsed JSON object whose fields have not been checked yet. */
export type RawObject = Readonly<Record<string, unknown>>;

/** Whether a parsed JSON value is an object: not null, and not an array. */
export const isObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
