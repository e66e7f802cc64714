/**
 * How the lists of lookups are read and written. `plain` lets the executor make every item: it is slower, and its answers
 * are the same. It is the reference that tests compare with, and no documented setting.
 */
export type ReadPath = 'fast' | 'plain';

export const readPathOf = ({ READ_PATH }: Readonly<Record<string, string | undefined>>): ReadPath =>
  READ_PATH === 'plain' ? 'plain' : 'fast';
