import type { Context } from '../../context.ts';
import { onAbort } from '../../lib/abort.ts';
import type { Page } from '../../upstream/page.ts';
import type { LoggedRead, ReadLog } from '../../upstream/read-log.ts';
import type { SerializedData } from './serialize.ts';

/**
 * Single-flight of answers: an operation that arrives while an equal one is executed follows it. The follower makes the
 * same reads for itself. So its cost, its deadline and its failures are its own, and an invalidation in between has the
 * effect that it has on any operation. It takes over the rest where it has got the very same pages.
 */
export class AnswersInFlight {
  /** The newest one of each key. */
  readonly #flights = new Map<string, AnswerInFlight>();

  /** Returns the answer that an operation with this key may follow. */
  find(key: string): AnswerInFlight | undefined {
    return this.#flights.get(key);
  }

  /** Adds the answer of an operation that is about to be executed. `reads` has the reads that it makes. */
  begin(key: string, reads: ReadLog<Context>): AnswerInFlight {
    const flight = new AnswerInFlight(reads, () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    this.#flights.set(key, flight);
    return flight;
  }
}

/** The answer of one operation while it is made. */
export class AnswerInFlight {
  readonly #reads: ReadLog<Context>;
  readonly #onEnd: () => void;
  #followers = 0;
  #hasEnded = false;
  #data: SerializedData | null = null;

  constructor(reads: ReadLog<Context>, onEnd: () => void) {
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
   * Resolves with the data once it is made. Resolves with null where the follower has to be executed itself: as soon as
   * one of its reads differs or fails, the answer ends without data, or the follower's client leaves. Its execution gets
   * the pages that it has read here.
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
  readonly #pages = new Map<LoggedRead<Context>, Promise<Page<unknown>>>();
  #isStopped = false;

  constructor(follower: Context, onStop: () => void) {
    this.#follower = follower;
    this.#onStop = onStop;
  }

  readonly stop = (): void => {
    this.#isStopped = true;
    this.#onStop();
  };

  /** Resolves with whether all reads of a log got the same pages, when the log has ended or one of them has not. */
  async repeat(log: ReadLog<Context>): Promise<boolean> {
    for (let place = 0; ; place += 1) {
      const event = await log.at(place);
      if (event === null) return true;
      if (this.#isStopped) return false;
      // A later read may depend on this page: it is repeated only if the page is the same.
      if (event.kind === 'started') this.#start(event.read);
      else if (event.read.page === null || (await this.#pageOf(event.read)) !== event.read.page) return false;
    }
  }

  #start(read: LoggedRead<Context>): void {
    const page = read.repeat(this.#follower);
    this.#pages.set(read, page);
    // Operations that wait for the same request get its page in their order. One that is quicker has got it elsewhere.
    const stopIfFirst = () => read.page === undefined && this.stop();
    page.then(stopIfFirst, stopIfFirst);
  }

  /** Resolves with null where the read fails. */
  async #pageOf(read: LoggedRead<Context>): Promise<Page<unknown> | null> {
    try {
      return (await this.#pages.get(read)) ?? null;
    } catch {
      return null;
    }
  }
}
