import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql';
import type { Context } from '../../context.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
import type { Trace } from '../../lib/trace.ts';
import type { CacheBudget } from '../../upstream/cache/entries.ts';
import type { PageRead } from '../../upstream/list-loader.ts';
import { SerializedData } from './serialize.ts';

/**
 * The data of operations that read only pages. An equal operation of a caller with the same rights gets the same bytes, as
 * long as each of these pages is fresh and is the one that it would be served.
 */
export type SharedAnswers = {
  /**
   * Returns the name of an operation's answer: its document, variables and the caller's rights. Returns null for an
   * operation whose variables are too large.
   */
  keyOf(args: Args): string | null;
  /**
   * Returns the data that is kept under a key, and counts its pages on the operation. Returns null if no data is kept, or if it
   * is outdated. A caller that gets data is one of its users.
   */
  find(key: string, context: Context): SerializedData | null;
  /**
   * Executes the operation. Equal operations get its data from `find`, if it is not the first one of its key: most answers
   * are asked for once, and would only evict pages.
   */
  make(
    key: string,
    context: Pick<Context, 'reads'>,
    execute: () => MaybePromise<ExecutionResult>,
  ): Promise<ExecutionResult>;
};

export type SharedAnswerObserver = {
  /** An operation gets the answer of an equal one. */
  shared?(trace: Trace): void;
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
export const createSharedAnswers = (budget: CacheBudget, observer: SharedAnswerObserver): SharedAnswers => {
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

  const find: SharedAnswers['find'] = (key, { upstream, reads, trace }) => {
    const answer = kept.get(key);
    if (!answer?.data) return null;
    if (!answer.reads.every((read) => read.isFresh())) {
      put(key, keyAlone());
      return null;
    }
    answer.data.lease?.retain();
    budget.touch(key);
    for (const read of answer.reads) read.count(upstream);
    reads.push(...answer.reads);
    observer.shared?.(trace);
    return answer.data;
  };

  const keep = (key: string, data: SerializedData, reads: Context['reads']): void => {
    if (!reads.every((read) => read.isFresh())) return;
    put(key, kept.has(key) ? { data: data.toKeep(), reads: [...reads] } : keyAlone());
  };

  return {
    keyOf({ document, operationName, variableValues, contextValue }) {
      // Variables are stringified without any text of the gateway's own: V8 writes values of any depth as long as all of their
      // strings are in one piece, as those of parsed JSON are.
      const operation = JSON.stringify([numberOf(document), operationName, variableValues]);
      const key = `answer ${operation} ${contextValue.authorizationKey()}`;
      return key.length > MAX_KEY_CHARACTERS ? null : key;
    },
    find,
    async make(key, { reads }, execute) {
      const result = await execute();
      const { data, errors } = result;
      if (data instanceof SerializedData && !errors) keep(key, data, reads);
      return result;
    },
  };
};
