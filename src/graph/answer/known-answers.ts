import type { CacheBudget } from '../../upstream/cache/cache-budget.ts';
import type { PageRead } from '../../upstream/list-loader.ts';

/** An answer that was sent: the hash of its data, and the pages that it was made of. */
export type KnownAnswer = { readonly digest: string; readonly reads: readonly PageRead[] };

/** The newest answer to each operation of each caller, without its data. */
export type KnownAnswers = {
  /** Returns the answer if each of its pages is the one that the operation would be served, and fresh; else null. */
  find(key: string): KnownAnswer | null;
  keep(key: string, answer: KnownAnswer): void;
};

/** The memory of an answer beside its key, and that of each page that it remembers. */
const ENTRY_BYTES = 512;
const READ_BYTES = 512;

/** They count within the same budget as pages. */
export const createKnownAnswers = (budget: CacheBudget): KnownAnswers => {
  const answers = new Map<string, KnownAnswer>();
  const nameOf = (key: string): string => `known ${key}`;
  return {
    find(key) {
      budget.touch(nameOf(key));
      const answer = answers.get(key);
      return answer?.reads.every((read) => read.isFresh()) ? answer : null;
    },
    keep(key, answer) {
      answers.set(key, answer);
      budget.add(nameOf(key), ENTRY_BYTES + 4 * key.length + READ_BYTES * answer.reads.length, () => {
        if (answers.get(key) === answer) answers.delete(key);
      });
    },
  };
};
