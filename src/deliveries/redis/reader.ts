import { areDifferent, decodeCursor, encodeCursor, START, sequenceToResume, UNKNOWN } from '../log/cursor.ts';
import { ReadAbortedError } from '../log/errors.ts';
import {
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryRange,
  isFiltering,
  matches,
  type StoredDelivery,
} from '../log/log.ts';
import { type Found, readPage, type SequenceRange, sequencesIn } from '../log/page.ts';
import { fingerprintIn, readBody, readHeader, sizeIn } from './entry.ts';
import type { Replication } from './replication.ts';
import { RedisSearch } from './search.ts';
import { bytesIn, isRefusal, LOAD, READ, type ScriptReply, type Store, tenantKeys } from './store.ts';
import type { Tenants } from './tenants.ts';

/** Each of so few deliveries is looked at, which costs less than the index. */
const FEW = 32;

/** Reads the logs of tenants. */
export class RedisReader {
  readonly #loader: Loader;
  readonly #search: RedisSearch;

  /** Without `replication`, deliveries are shown once they are stored. */
  constructor(store: Store, tenants: Tenants, replication: Replication | null) {
    this.#loader = new Loader(store, tenants, replication);
    this.#search = new RedisSearch(store);
  }

  /** Must be called when Redis may have been restored from an older copy. */
  forget(): void {
    this.#search.clear();
  }

  head(tenant: string): Promise<string> {
    return this.#loader.head(tenant);
  }

  /** Returns null when the log does not hold the delivery, or no longer. Rejects with InvalidCursorError. */
  async get(tenant: string, cursor: string): Promise<StoredDelivery | null> {
    const { sequence, fingerprint, epoch } = decodeCursor(cursor);
    const only = { low: sequence - 1, high: sequence + 1, limit: 1, maxBytes: 1 };
    const state = await this.#loader.state(tenant, only);
    const entry = state.entries.find((one) => one.sequence === sequence);
    if (entry === undefined || !state.epoch.equals(epoch)) return null;
    if (areDifferent(fingerprint, fingerprintIn(entry.header))) return null;
    return { ...(await this.#loader.deliveryOf(tenant, state, entry)), cursor };
  }

  /** Rejects as `readPage` does. `signal` is looked at between the steps. */
  async page(tenant: string, range: DeliveryRange, signal: AbortSignal | undefined): Promise<DeliveryPage> {
    const { after, before, filter = {}, take, limit, maxBytes = Number.POSITIVE_INFINITY } = range;
    const sequenceOf = (cursor: string | undefined) =>
      cursor === undefined ? undefined : decodeCursor(cursor).sequence;
    const isSearch = isFiltering(filter);
    const state = await this.#loader.state(tenant, {
      ...{ low: sequenceOf(after), high: sequenceOf(before), take },
      ...{ limit: isSearch ? 0 : limit, maxBytes },
    });
    const { epoch, head, floor, newest, fingerprints } = state;
    if (signal?.aborted) throw new ReadAbortedError();
    const page = await readPage(
      {
        extent: { head, floor },
        resume: (cursor) =>
          sequenceToResume(
            decodeCursor(cursor),
            epoch,
            { head: newest, floor },
            (sequence) => fingerprints.get(sequence) ?? UNKNOWN,
          ),
        find: (...search) => this.#find(tenant, state, ...search),
        load: (sequences, maxBytes) => this.#loader.load(tenant, state, sequences, maxBytes, signal),
        cursorAt: (sequence) => this.#cursorAt(tenant, state, sequence),
      },
      range,
    );
    // Another term may have the same hash as one of the filter.
    return isSearch ? { ...page, deliveries: page.deliveries.filter((one) => matches(filter, one)) } : page;
  }

  async #find(
    tenant: string,
    state: State,
    filter: DeliveryFilter,
    range: SequenceRange,
    maxScanned: number,
  ): Promise<Found> {
    /** The sequences of those that match, in their order. */
    const select = async (sequences: readonly number[]) => {
      const entries = await this.#loader.headers(tenant, state, sequences);
      return entries
        .filter(({ header }) => matches(filter, readHeader(header)))
        .map(({ sequence }) => sequence);
    };
    if (range.high - range.low - 1 <= FEW) {
      const all = sequencesIn({ ...range, limit: FEW });
      const sequences = await select(all);
      return { sequences: sequences.slice(0, range.limit), cutAt: null, scanned: all.length };
    }
    const log = { tenant, prefix: tenantKeys(tenant).prefix, epoch: state.epoch.toString('hex') };
    const found = await this.#search.find(log, filter, range, maxScanned, select);
    // Retention may have dropped a part of the index meanwhile.
    if (found.sequences.length === 0) await this.#loader.readFloor(tenant, state);
    return found;
  }

  /** The cursor of a delivery that may not have been read. */
  async #cursorAt(tenant: string, state: State, sequence: number): Promise<string> {
    const { epoch, fingerprints, entries } = state;
    let fingerprint = fingerprints.get(sequence);
    if (fingerprint === undefined && sequence > state.floor) {
      const read = entries.find((entry) => entry.sequence === sequence);
      const [entry] = read ? [read] : await this.#loader.headers(tenant, state, [sequence]);
      fingerprint = entry && fingerprintIn(entry.header);
    }
    return encodeCursor({ epoch, sequence, fingerprint: fingerprint ?? UNKNOWN });
  }
}

/** A tenant's log as of one moment. It ends at the last delivery that may be shown. */
type State = {
  readonly head: number;
  /** Raised by each later read of the same page. */
  floor: number;
  /** The newest delivery, which may not be replicated yet. */
  readonly newest: number;
  readonly epoch: Buffer;
  /** The fingerprints of the deliveries at head, at floor and at the ends of the range that was asked for, as far as known. */
  readonly fingerprints: ReadonlyMap<number, number>;
  /** The first deliveries of the range. */
  readonly entries: readonly StoredEntry[];
};

type StoredEntry = { readonly sequence: number; readonly header: Buffer; readonly body: Buffer };

/** A page begins after `low` and ends before `high`. Default: the ends of the log. */
type PageRequest = {
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly take?: 'oldest' | 'newest' | undefined;
  readonly limit: number;
  readonly maxBytes: number;
};

/** Redis serves nothing else while a script runs, so a long page is loaded in portions. */
const PORTION = 128;
const PORTION_BYTES = 1024 * 1024;
const HEADERS = 512;

/** Head, floor, epoch and what was mended. */
const STATE_ITEMS = 4;
const MARKS = 4;
const ENTRIES_AT = STATE_ITEMS + MARKS + 1;

/** Loads the deliveries of tenants, by their sequences. */
class Loader {
  readonly #store: Store;
  readonly #tenants: Tenants;
  readonly #replication: Replication | null;

  constructor(store: Store, tenants: Tenants, replication: Replication | null) {
    this.#store = store;
    this.#tenants = tenants;
    this.#replication = replication;
  }

  /** Reads the state of a log, and in the same moment the first deliveries of a range, at most one portion. */
  async state(tenant: string, { low, high, take = 'oldest', limit, maxBytes }: PageRequest): Promise<State> {
    const bounds = [Math.min(limit, PORTION), Math.min(maxBytes, PORTION_BYTES)];
    const { prefix, entries } = tenantKeys(tenant);
    const until = this.#replication === null ? '' : 'replicated';
    const args = [String(low ?? ''), String(high ?? ''), take, ...bounds.map(String), prefix, until];
    const reply = await this.#store.run(READ, entries, args);
    this.#store.reportMended(tenant, reply[3]);
    const [head, floor, newest] = [Number(reply[0]), Number(reply[1]), Number(reply[ENTRIES_AT - 1])];
    if (newest > head) this.#replication?.expect(tenant, newest);
    const epoch = bytesIn(reply[2]);
    const fingerprints = new Map([[START.sequence, START.fingerprint]]);
    for (const [index, sequence] of [head, floor, low, high].entries()) {
      const fingerprint = fingerprintIn(bytesIn(reply[STATE_ITEMS + index]));
      if (sequence !== undefined && fingerprint !== UNKNOWN) fingerprints.set(sequence, fingerprint);
    }
    return {
      head,
      floor,
      newest,
      epoch: epoch.length > 0 ? epoch : this.#tenants.epochOf(tenant),
      fingerprints,
      entries: entriesIn(reply, ENTRIES_AT),
    };
  }

  /** Reads the head alone. It is one command and no script, which Redis may have to be sent first, so it is executed at once. */
  async head(tenant: string): Promise<string> {
    const [, key] = tenantKeys(tenant).entries;
    const fields = ['head', 'epoch', 'newest', 'replicated'];
    const reply = await this.#store.send(key, 'HMGET', key, ...fields).catch((error) => {
      if (isRefusal(error)) return [];
      throw error;
    });
    const [head, epoch, newest, replicated] = Array.isArray(reply) ? reply : [];
    if (!Buffer.isBuffer(epoch)) return this.#headWithoutState(tenant);
    const shown = this.#replication === null ? Number(head ?? 0) : Number(replicated ?? head ?? 0);
    if (shown < Number(head ?? 0)) {
      // More may be shown by the time that the script runs.
      const { floor, fingerprints } = await this.state(tenant, { low: shown, limit: 0, maxBytes: 0 });
      const sequence = Math.max(shown, floor);
      return encodeCursor({ epoch, sequence, fingerprint: fingerprints.get(sequence) ?? UNKNOWN });
    }
    const fingerprint = Buffer.isBuffer(newest) ? fingerprintIn(newest) : UNKNOWN;
    return encodeCursor({ epoch, sequence: Number(head ?? 0), fingerprint });
  }

  /** There was no log yet when the head was read, unless its state was lost. */
  async #headWithoutState(tenant: string): Promise<string> {
    const { head, epoch, fingerprints } = await this.state(tenant, { limit: 0, maxBytes: 0 });
    const began = this.#tenants.epochOf(tenant);
    return epoch.equals(began)
      ? encodeCursor({ epoch, ...START })
      : encodeCursor({ epoch, sequence: head, fingerprint: fingerprints.get(head) ?? UNKNOWN });
  }

  /** See `load` of PageSource. */
  async load(
    tenant: string,
    state: State,
    wanted: readonly number[],
    maxBytes: number,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly deliveries: readonly StoredDelivery[]; readonly floor: number }> {
    const known = new Map(state.entries.map((entry) => [entry.sequence, entry]));
    const loaded: StoredEntry[] = [];
    for (const sequence of wanted) {
      const entry = known.get(sequence);
      // It was not read, or is missing: what follows is loaded after it.
      if (entry === undefined) break;
      loaded.push(entry);
    }
    let bytes = sizeOf(loaded);
    for (let at = loaded.length; at < wanted.length && bytes < maxBytes; ) {
      if (signal?.aborted) throw new ReadAbortedError();
      const portion = wanted.slice(at, at + PORTION);
      const portionBytes = Math.min(maxBytes - bytes, PORTION_BYTES);
      const next = await this.#portion(tenant, state, portion, portionBytes, 'bodies');
      loaded.push(...next);
      bytes += sizeOf(next);
      const last = next.at(-1)?.sequence;
      at += last === undefined ? portion.length : portion.indexOf(last) + 1;
    }
    const deliveries = await Promise.all(loaded.map((entry) => this.deliveryOf(tenant, state, entry)));
    return { deliveries, floor: state.floor };
  }

  /** Loads no bodies. What was trimmed is left out. */
  async headers(tenant: string, state: State, sequences: readonly number[]): Promise<readonly StoredEntry[]> {
    const headers: StoredEntry[] = [];
    for (let at = 0; at < sequences.length; at += HEADERS) {
      const portion = sequences.slice(at, at + HEADERS);
      headers.push(...(await this.#portion(tenant, state, portion, Number.POSITIVE_INFINITY, 'headers')));
    }
    return headers;
  }

  async readFloor(tenant: string, state: State): Promise<void> {
    await this.#portion(tenant, state, [], 0, 'headers');
  }

  async deliveryOf(tenant: string, { epoch }: State, entry: StoredEntry): Promise<StoredDelivery> {
    const { sequence } = entry;
    const header = readHeader(entry.header);
    const body = await readBody(sequence, header, entry.body);
    const { webhookId, type, chainId, receivedAt, dispatchedAt, attempt, addresses, subscribedAddress } =
      header;
    const cursor = encodeCursor({ epoch, sequence, fingerprint: fingerprintIn(entry.header) });
    return {
      ...{ tenant, sequence, cursor, webhookId, type, chainId, receivedAt, dispatchedAt, attempt },
      ...{ addresses, subscribedAddress, body },
    };
  }

  async #portion(
    tenant: string,
    state: State,
    sequences: readonly number[],
    maxBytes: number,
    what: 'bodies' | 'headers',
  ): Promise<StoredEntry[]> {
    const limit = Number.isFinite(maxBytes) ? String(maxBytes) : 'inf';
    const args = [limit, what, ...sequences.map(String)];
    const reply = await this.#store.run(LOAD, tenantKeys(tenant).entries, args);
    state.floor = Math.max(state.floor, Number(reply[0]));
    return entriesIn(reply, 1);
  }
}

/** Three items each, from `first` on. */
const entriesIn = (reply: ScriptReply, first: number): StoredEntry[] => {
  const entries: StoredEntry[] = [];
  for (let at = first; at < reply.length; at += 3)
    entries.push({
      sequence: Number(reply[at]),
      header: bytesIn(reply[at + 1]),
      body: bytesIn(reply[at + 2]),
    });
  return entries;
};

const sizeOf = (entries: readonly StoredEntry[]): number =>
  entries.reduce((bytes, { header }) => bytes + sizeIn(header), 0);
