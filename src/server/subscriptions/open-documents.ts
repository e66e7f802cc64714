import { clientError } from '../../graph/errors.ts';

/** What a subscription keeps in memory: its document, and what it shares with equal subscriptions. */
type OpenSubscription = {
  /** The payer of the client that subscribes. */
  readonly client: string;
  /** The document's text: equal ones are kept once. */
  readonly document: string;
  readonly tokens: number;
  /** Equal of subscriptions that share each event. */
  readonly key: string;
};

/** Limits the tokens of the documents of open subscriptions, of each client and in all. */
export type OpenDocuments = {
  /**
   * Counts one more, until the returned function is called; to call that again has no effect. Throws
   * OPERATION_TOO_COMPLEX when there is no room.
   */
  open(subscription: OpenSubscription): () => void;
};

const MAX_TOKENS_EACH = 50_000;
const MAX_TOKENS = 250_000;

/** What a subscription takes beside its document counts by the length of its key; a character takes less than a token. */
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

const tooMany = (tokens: string) =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected open subscriptions whose documents come to at most ${tokens}, got more.`,
  );

type Part = readonly [name: string, tokens: number];

/** Shared by all subscriptions that add it: the name may be long. */
type Entry = { readonly name: string; readonly tokens: number; uses: number };

/** Parts, each counted once however often it is added. */
class Tally {
  tokens = 0;
  readonly #entries = new Map<string, Entry>();

  tokensWith(parts: readonly Part[]): number {
    return parts.reduce((sum, [name, tokens]) => sum + (this.#entries.has(name) ? 0 : tokens), this.tokens);
  }

  /** The returned function takes them off again. */
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
