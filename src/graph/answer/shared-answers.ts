import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql';
import type { Context } from '../../context.ts';
import type { CacheBudget } from '../../upstream/cache/cache-budget.ts';
import type { PageRead } from '../../upstream/list-loader.ts';
import { SerializedData } from './serialize.ts';

/**
 * The data of operations that read nothing but pages. An equal operation of a caller with the same rights gets the same
 * bytes while each of these pages is the one that it would be served, and fresh.
 */
export type SharedAnswers = {
  /**
   * Returns the name of an operation's answer: its document, variables and the caller's rights. Returns null for an
   * operation whose variables are too large.
   */
  keyOf(args: Args): string | null;
  /**
   * Returns the data that is kept under a key, and counts its pages on the operation; null where there is none. The
   * caller is one of its users.
   */
  find(key: string, context: Pick<Context, 'upstream'>): SerializedData | null;
  /**
   * Keeps the data of a result without errors, with the pages that the operation has read. The first time under a key it
   * keeps the key alone: most answers are asked for once, and would only evict pages.
   */
  keep(key: string, result: ExecutionResult, context: Pick<Context, 'reads'>): void;
};

type Args = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'> & {
  readonly contextValue: Pick<Context, 'authorizationKey'>;
};

/** `data` is null where the key alone is kept. */
type Kept = { readonly data: SerializedData | null; readonly reads: readonly PageRead[] };

const keyAlone = (): Kept => ({ data: null, reads: [] });

const MAX_KEY_CHARACTERS = 4096;
/** The memory of an answer beside its data, and that of each page that it remembers. */
const ENTRY_BYTES = 1024;
const READ_BYTES = 512;

/** Answers are kept within the same budget as pages. */
export const createSharedAnswers = (budget: CacheBudget): SharedAnswers => {
  const kept = new Map<string, Kept>();
  const documents = new WeakMap<DocumentNode, number>();
  let lastDocument = 0;

  const numberOf = (document: DocumentNode): number => {
    const known = documents.get(document);
    if (known !== undefined) return known;
    lastDocument += 1;
    documents.set(document, lastDocument);
    return lastDocument;
  };

  const put = (key: string, answer: Kept): void => {
    const { data, reads } = answer;
    data?.lease?.retain();
    kept.set(key, answer);
    const bytes = ENTRY_BYTES + 4 * key.length + (data?.memoryBytes ?? 0) + READ_BYTES * reads.length;
    budget.add(key, bytes, () => {
      if (kept.get(key) === answer) kept.delete(key);
      data?.lease?.release();
    });
  };

  return {
    keyOf({ document, operationName, variableValues, contextValue }) {
      const parts = [numberOf(document), operationName, variableValues, contextValue.authorizationKey()];
      const key = `answer ${JSON.stringify(parts)}`;
      return key.length > MAX_KEY_CHARACTERS ? null : key;
    },
    find(key, { upstream }) {
      const answer = kept.get(key);
      if (!answer?.data) return null;
      if (!answer.reads.every((read) => read.isFresh())) {
        put(key, keyAlone());
        return null;
      }
      answer.data.lease?.retain();
      budget.touch(key);
      for (const read of answer.reads) read.count(upstream);
      return answer.data;
    },
    keep(key, { data, errors }, { reads }) {
      if (!(data instanceof SerializedData) || errors || !reads.every((read) => read.isFresh())) return;
      put(key, kept.has(key) ? { data, reads: [...reads] } : keyAlone());
    },
  };
};
