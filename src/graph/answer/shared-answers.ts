import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql';
import type { Context } from '../../context.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { Trace } from '../../lib/trace-context.ts';
import type { CacheBudget } from '../../upstream/cache/cache-budget.ts';
import type { PageRead } from '../../upstream/list-loader.ts';
import { type AnswerInFlight, AnswersInFlight } from './answers-in-flight.ts';
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
   * Returns the data that is kept under a key, and counts its pages on the operation. Resolves with the data of an equal
   * operation that is being executed. Returns null where there is neither: the caller then calls `make` at once. With
   * data, the caller is one of its users.
   */
  find(key: string, context: Context, clientSignal: AbortSignal | null): MaybePromise<SerializedData | null>;
  /**
   * Executes the operation, whose data equal operations get while it is made, unless it is heavy: heavy answers are made
   * one after another, at a rate that their clients can read. After that they get it from `find`, if the operation is not
   * the first one of its key: most answers are asked for once, and would only evict pages.
   */
  make(
    key: string,
    context: Pick<Context, 'reads' | 'answer'>,
    execute: () => MaybePromise<ExecutionResult>,
  ): Promise<ExecutionResult>;
};

/** Where a shared answer was: kept with its pages, or being made. */
export type SharedFrom = 'kept' | 'inFlight';

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

/** Answers are kept within the same budget as pages. `onShared` is called for each operation that gets a shared one. */
export const createSharedAnswers = (
  budget: CacheBudget,
  onShared: (from: SharedFrom, trace: Trace) => void,
): SharedAnswers => {
  const inFlight = new AnswersInFlight();
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

  /** Returns null where no answer is kept, or one with a page that is not fresh any more. */
  const findKept = (
    key: string,
    { upstream, reads }: Pick<Context, 'upstream' | 'reads'>,
  ): SerializedData | null => {
    const answer = kept.get(key);
    if (!answer?.data) return null;
    if (!answer.reads.every((read) => read.isFresh())) {
      put(key, keyAlone());
      return null;
    }
    answer.data.lease?.retain();
    budget.touch(key);
    for (const read of answer.reads) read.count(upstream);
    reads.adopt(answer.reads);
    return answer.data;
  };

  const keep = (key: string, data: SerializedData, { stored }: Context['reads'], isShared: boolean): void => {
    if (!stored.every((read) => read.isFresh())) return;
    put(key, isShared || kept.has(key) ? { data: data.toKeep(), reads: [...stored] } : keyAlone());
  };

  const follow = async (
    flight: AnswerInFlight,
    context: Context,
    clientSignal: AbortSignal | null,
  ): Promise<SerializedData | null> => {
    const data = await flight.follow(context, clientSignal);
    if (data) onShared('inFlight', context.trace);
    return data;
  };

  return {
    keyOf({ document, operationName, variableValues, contextValue }) {
      const parts = [numberOf(document), operationName, variableValues, contextValue.authorizationKey()];
      const key = `answer ${JSON.stringify(parts)}`;
      return key.length > MAX_KEY_CHARACTERS ? null : key;
    },
    find(key, context, clientSignal) {
      const data = findKept(key, context);
      if (data) {
        onShared('kept', context.trace);
        return data;
      }
      const flight = inFlight.find(key);
      return flight ? follow(flight, context, clientSignal) : null;
    },
    async make(key, { reads, answer }, execute) {
      const flight = inFlight.begin(key, reads);
      answer.onHeavy = () => flight.end(null);
      let made: SerializedData | null = null;
      try {
        const result = await execute();
        const { data, errors } = result;
        made = data instanceof SerializedData && !errors ? data : null;
        if (made) keep(key, made, reads, flight.hasFollowers);
        return result;
      } finally {
        flight.end(made);
      }
    },
  };
};
