import { randomBytes } from 'node:crypto';
import { type Operation, text } from './http/http.ts';
import type { Hex } from './types.ts';

/** What a change concerns. Each list names at least all of it. */
export type Concerned = {
  /** The accounts of which a list or a balance may be another one. */
  readonly addresses: ReadonlySet<Hex>;
  /** The tokens of which what is known, the supply or a holder may be another one. */
  readonly tokens: ReadonlySet<Hex>;
  /** The transactions that were added, or of which more is known. */
  readonly transactions: ReadonlySet<Hex>;
};

/** The names of one change. Beyond them, it concerns everything of its chain. */
const MAX_NAMES = 1_000;
/** The changes that are kept for clients that connect again. */
const MAX_KEPT = 256;
/** Milliseconds between two lines without a change: by them, clients know that they miss nothing. */
const BEAT_MS = 500;
/** Milliseconds for which changes of everything are gathered that come one after another. */
const SOON_MS = 1_000;

type Listener = (line: string) => void;

/**
 * Tells of each change of what the lookups answer, once they answer with it. Each has an id, behind which a client goes on that
 * was disconnected. The changes are numbered from each start of the service.
 */
export class Changes {
  readonly #run = randomBytes(6).toString('hex');
  readonly #kept: string[] = [];
  readonly #listeners = new Set<Listener>();
  /** The chains of which everything is told soon. */
  readonly #soon = new Set<number>();
  #last = 0;

  /** Null: everything of the chain may be another one. */
  tell(chainId: number, concerned: Concerned | null): void {
    this.#last += 1;
    const line = lineOf({ id: this.#id, chain_id: chainId, ...namesIn(concerned) });
    this.#kept.push(line);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    for (const listener of this.#listeners) listener(line);
  }

  /** As `tell` of everything, within a second: for what changes again and again, such as the older blocks of a chain. */
  tellSoon(chainId: number): void {
    if (this.#soon.has(chainId)) return;
    this.#soon.add(chainId);
    const tell = () => {
      this.#soon.delete(chainId);
      this.tell(chainId, null);
    };
    setTimeout(tell, SOON_MS).unref();
  }

  /**
   * Listens from the change `after` on: to those that are kept, and to each that follows. Where some are not kept, or without
   * `after`, the first line says that changes were missed. Returns a function that ends it.
   */
  listen(after: string | null, listener: Listener): () => void {
    const missed = this.#missedBy(after);
    for (const line of missed ?? []) listener(line);
    listener(lineOf({ id: this.#id, ...(missed === null && { missed: true }) }));
    this.#listeners.add(listener);
    const beat = setInterval(() => listener(lineOf({ id: this.#id })), BEAT_MS).unref();
    return () => {
      clearInterval(beat);
      this.#listeners.delete(listener);
    };
  }

  get #id(): string {
    return `${this.#run}-${this.#last}`;
  }

  /** Null where they are not all kept. */
  #missedBy(after: string | null): readonly string[] | null {
    const [run, number] = after?.split('-') ?? [];
    const count = this.#last - Number(number);
    if (run !== this.#run || !(count >= 0 && count <= this.#kept.length)) return null;
    return count === 0 ? [] : this.#kept.slice(-count);
  }
}

const lineOf = (said: object): string => `${JSON.stringify(said)}\n`;

const namesIn = (concerned: Concerned | null): object => {
  if (concerned === null) return { everything: true };
  const { addresses, tokens, transactions } = concerned;
  if (addresses.size + tokens.size + transactions.size > MAX_NAMES) return { everything: true };
  return { addresses: [...addresses], tokens: [...tokens], transactions: [...transactions] };
};

export const CHANGES_PATH = '/v1/evm/changes';

/** The changes as a stream of JSON objects, each in a line. It costs nothing, and does not end. */
export const changesOperation = (changes: Changes): Operation => ({
  path: CHANGES_PATH,
  needsKey: true,
  answer: ({ query }) => ({
    status: 200,
    headers: {
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
      // A proxy must not wait for more of it.
      'x-accel-buffering': 'no',
    },
    stream: (write) => changes.listen(query.get('after'), write),
  }),
  fail: (status) => text(status, ''),
});
