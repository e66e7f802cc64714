import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql';
import type { Context } from '../../context.ts';
import { onAbort } from '../../lib/deadlines.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
import type { Trace } from '../../lib/trace.ts';
import type { CacheBudget } from '../../upstream/cache/entries.ts';
import type { PageRead } from '../../upstream/list-loader.ts';
import type { OperationLookups } from '../../upstream/lookup.ts';
import type { Page } from '../../upstream/page.ts';
import type { LoggedRead, ReadLog } from '../../upstream/read-log.ts';
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
   * Returns the data that is kept under a key, and counts its pages on the operation; or resolves with the data of an equal
   * operation that is being executed. Returns null if there is neither: the caller must then call `make` at once. A caller
   * that gets data is one of its users.
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
type SharedFrom = 'kept' | 'inFlight';

export type SharedAnswerObserver = {
  /** An operation gets the answer of an equal one. */
  shared?(from: SharedFrom, trace: Trace): void;
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

  /** Returns null if no answer is kept, or if one of its pages is no longer fresh. */
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
    if (data) observer.shared?.('inFlight', context.trace);
    return data;
  };

  return {
    keyOf({ document, operationName, variableValues, contextValue }) {
      // Variables are stringified without any text of the gateway's own: V8 writes values of any depth as long as all of their
      // strings are in one piece, as those of parsed JSON are.
      const operation = JSON.stringify([numberOf(document), operationName, variableValues]);
      const key = `answer ${operation} ${contextValue.authorizationKey()}`;
      return key.length > MAX_KEY_CHARACTERS ? null : key;
    },
    find(key, context, clientSignal) {
      const data = findKept(key, context);
      if (data) {
        observer.shared?.('kept', context.trace);
        return data;
      }
      const flight = inFlight.find(key);
      return flight ? follow(flight, context, clientSignal) : null;
    },
    async make(key, { reads, answer }, execute) {
      const flight = inFlight.begin(key, reads);
      const endFlight = () => flight.end(null);
      answer.onHeavy = endFlight;
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

/**
 * Single-flight of answers: an operation that arrives while an equal one is executed follows it. The follower makes the
 * same reads for itself. So its cost, its deadline and its failures are its own, and an invalidation in between has the
 * effect that it has on any operation. It takes over the answer if it got the very same pages.
 */
export class AnswersInFlight {
  /** The newest one of each key. */
  readonly #flights = new Map<string, AnswerInFlight>();

  /** Returns the answer that an operation with this key may follow. */
  find(key: string): AnswerInFlight | undefined {
    return this.#flights.get(key);
  }

  /** Adds the answer of an operation that is about to be executed. `reads` logs what it reads. */
  begin(key: string, reads: ReadLog<OperationLookups>): AnswerInFlight {
    const flight = new AnswerInFlight(reads, () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    this.#flights.set(key, flight);
    return flight;
  }
}

/** The answer of one operation while it is made. */
class AnswerInFlight {
  readonly #reads: ReadLog<OperationLookups>;
  readonly #onEnd: () => void;
  #followers = 0;
  #hasEnded = false;
  #data: SerializedData | null = null;

  constructor(reads: ReadLog<OperationLookups>, onEnd: () => void) {
    this.#reads = reads;
    this.#onEnd = onEnd;
  }

  get hasFollowers(): boolean {
    return this.#followers > 0;
  }

  /**
   * Ends the flight, once, with the data of an answer without errors, and with null for any other answer. Each follower is
   * a user of the data from now on: the answer's own client may have read it before the follower goes on.
   */
  end(data: SerializedData | null): void {
    if (this.#hasEnded) return;
    this.#data = data;
    this.#hasEnded = true;
    for (let user = 0; user < this.#followers; user += 1) data?.lease?.retain();
    this.#onEnd();
    this.#reads.end();
  }

  /**
   * Resolves with the data once it is made. Resolves with null if the follower must be executed itself: as soon as one of
   * its reads differs or fails, the answer ends without data, or the follower's client leaves. Its execution then starts
   * with the pages that it has read here.
   */
  async follow(follower: Context, clientSignal: AbortSignal | null): Promise<SerializedData | null> {
    const stopped = Promise.withResolvers<null>();
    const following = new Following(follower, () => stopped.resolve(null));
    const stopListening = onAbort(clientSignal, following.stop);
    this.#followers += 1;
    const hasSamePages = await Promise.race([following.repeat(this.#reads), stopped.promise]);
    stopListening();
    if (hasSamePages) return this.#data;
    if (this.#hasEnded) this.#data?.lease?.release();
    else this.#followers -= 1;
    return null;
  }
}

/** The reads of an operation that repeats those of another one. */
class Following {
  readonly #follower: Context;
  readonly #onStop: () => void;
  readonly #pages = new Map<LoggedRead<OperationLookups>, Promise<Page<unknown>>>();
  #isStopped = false;

  constructor(follower: Context, onStop: () => void) {
    this.#follower = follower;
    this.#onStop = onStop;
  }

  readonly stop = (): void => {
    this.#isStopped = true;
    this.#onStop();
  };

  /** Resolves with true once the log has ended and all its reads got the same pages; with false as soon as one differs. */
  async repeat(log: ReadLog<OperationLookups>): Promise<boolean> {
    for (let place = 0; ; place += 1) {
      const event = await log.at(place);
      if (event === null) return true;
      if (this.#isStopped) return false;
      // A later read may depend on this page: it is repeated only if the page is the same.
      if (event.kind === 'started') this.#start(event.read);
      else if (event.read.page === null || (await this.#pageOf(event.read)) !== event.read.page) return false;
    }
  }

  #start(read: LoggedRead<OperationLookups>): void {
    const page = read.repeat(this.#follower.lookups);
    this.#pages.set(read, page);
    // Operations that wait for the same request get its page in their order. One that is quicker has got it elsewhere.
    const stopIfFirst = () => read.page === undefined && this.stop();
    page.then(stopIfFirst, stopIfFirst);
  }

  /** Resolves with null where the read fails. */
  async #pageOf(read: LoggedRead<OperationLookups>): Promise<Page<unknown> | null> {
    try {
      return (await this.#pages.get(read)) ?? null;
    } catch {
      return null;
    }
  }
}
