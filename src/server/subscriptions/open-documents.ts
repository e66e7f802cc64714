import { clientError } from '../../graph/errors.ts';

/** What a subscription keeps in memory: its document, and what it shares with equal subscriptions. */
type OpenSubscription = {
  /** The billing key of the subscriber. */
  readonly client: string;
  /** The text of the document. Equal texts are kept in memory once. */
  readonly document: string;
  readonly tokens: number;
  /** Equal for subscriptions that share the execution of each event. */
  readonly key: string;
};

/** Limits the tokens in the documents of open subscriptions, per client and in total. */
export type OpenDocuments = {
  /**
   * Counts a subscription until the returned function is called; further calls have no effect. Throws
   * OPERATION_TOO_COMPLEX if the subscription exceeds a limit.
   */
  open(subscription: OpenSubscription): () => void;
};

const MAX_TOKENS_EACH = 50_000;
const MAX_TOKENS = 250_000;

/** A subscription's memory beyond its document grows with the length of its key. A character takes less than a token. */
const CHARACTERS_A_TOKEN = 64;

export const createOpenDocuments = (): OpenDocuments => {
  const all = new Tally();
  const clients = new Map<string, Tally>();
  return {
    open({ client, document, tokens, key }) {
      const own = clients.get(client) ?? new Tally();
      const parts: readonly Part[] = [
        [`document ${document}`, tokens],
        [`use ${key}`, Math.ceil(key.length / CHARACTERS_A_TOKEN)],
      ];
      if (own.tokensWith(parts) > MAX_TOKENS_EACH) throw tooMany(`${MAX_TOKENS_EACH} tokens of a client`);
      if (all.tokensWith(parts) > MAX_TOKENS) throw tooMany(`${MAX_TOKENS} tokens in all`);
      clients.set(client, own);
      const releases = [own.add(parts), all.add(parts)];
      return () => {
        for (const release of releases.splice(0)) release();
        if (own.tokens === 0 && clients.get(client) === own) clients.delete(client);
      };
    },
  };
};

const tooMany = (limit: string) =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected the documents of open subscriptions to have at most ${limit}, got more.`,
  );

type Part = readonly [name: string, tokens: number];

/** One part, which all subscriptions that add it share: its name may be long. */
type Entry = { readonly name: string; readonly tokens: number; uses: number };

/** The sum of the tokens of its parts. A part that several subscriptions add counts once. */
class Tally {
  tokens = 0;
  readonly #entries = new Map<string, Entry>();

  tokensWith(parts: readonly Part[]): number {
    return parts.reduce((sum, [name, tokens]) => sum + (this.#entries.has(name) ? 0 : tokens), this.tokens);
  }

  /** Adds the parts; the returned function removes them. */
  add(parts: readonly Part[]): () => void {
    const entries = parts.map(([name, tokens]) => this.#use(name, tokens));
    return () => {
      for (const entry of entries) this.#remove(entry);
    };
  }

  #use(name: string, tokens: number): Entry {
    const known = this.#entries.get(name);
    const entry = known ?? { name, tokens, uses: 0 };
    if (!known) {
      this.#entries.set(name, entry);
      this.tokens += tokens;
    }
    entry.uses += 1;
    return entry;
  }

  #remove(entry: Entry): void {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    this.#entries.delete(entry.name);
    this.tokens -= entry.tokens;
  }
}
