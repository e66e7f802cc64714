/**
 * How requests are read, and the lists of lookups read and written. `plain` lets Yoga answer every request, and the executor
 * make every item: it is slower, and its answers are the same. It is the reference that tests compare with, and no
 * documented setting.
 */
export type ReadPath = 'fast' | 'plain';

export const readPathOf = ({ READ_PATH }: Readonly<Record<string, string | undefined>>): ReadPath =>
  READ_PATH === 'plain' ? 'plain' : 'fast';
