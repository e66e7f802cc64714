import { BEFORE_FIRST, type Extent, encodeCursor } from '../log/cursor.ts';
import { LogDamagedError, ReadAbortedError } from '../log/errors.ts';
import type { StoredDelivery } from '../log/log.ts';
import { fingerprintIn, readBody, readHeader, sizeIn } from './entry.ts';
import type { Replication } from './replication.ts';
import { bytesIn, isRefusal, LOAD, READ, type ScriptReply, type Store, tenantKeys } from './store.ts';
import type { Tenants } from './tenants.ts';

/** A tenant's log as of one moment. It ends at the last delivery that may be shown. */
export type State = Extent & {
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
export type PageRequest = {
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly take?: 'oldest' | 'newest' | undefined;
  readonly limit: number;
  readonly maxBytes: number;
};

type Loaded = { readonly loaded: readonly StoredEntry[]; readonly floor: number };

/** Redis serves nothing else while a script runs, so a long page is loaded in portions. */
const PORTION = 128;
const PORTION_BYTES = 1024 * 1024;
const HEADERS = 512;

/** Head, floor, epoch and what was mended. */
const STATE_ITEMS = 4;
const MARKS = 4;
const ENTRIES_AT = STATE_ITEMS + MARKS + 1;

/** Loads the deliveries of tenants, by their sequences. */
export class Loader {
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
    const fingerprints = new Map([[0, BEFORE_FIRST]]);
    for (const [index, sequence] of [head, floor, low, high].entries()) {
      const fingerprint = fingerprintIn(bytesIn(reply[STATE_ITEMS + index]));
      if (sequence !== undefined && fingerprint !== null) fingerprints.set(sequence, fingerprint);
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
      return encodeCursor({ epoch, sequence, fingerprint: fingerprints.get(sequence) ?? null });
    }
    const fingerprint = Buffer.isBuffer(newest) ? fingerprintIn(newest) : BEFORE_FIRST;
    return encodeCursor({ epoch, sequence: Number(head ?? 0), fingerprint });
  }

  /** There was no log yet when the head was read, unless its state was lost. */
  async #headWithoutState(tenant: string): Promise<string> {
    const { head, epoch, fingerprints } = await this.state(tenant, { limit: 0, maxBytes: 0 });
    const began = this.#tenants.epochOf(tenant);
    return epoch.equals(began)
      ? encodeCursor({ epoch, sequence: 0, fingerprint: BEFORE_FIRST })
      : encodeCursor({ epoch, sequence: head, fingerprint: fingerprints.get(head) ?? null });
  }

  /** Loads until `maxBytes` are reached. What was trimmed since the state was read is left out. */
  async load(
    tenant: string,
    state: State,
    wanted: readonly number[],
    maxBytes: number,
    signal: AbortSignal | undefined,
  ): Promise<Loaded> {
    const known = new Map(state.entries.map((entry) => [entry.sequence, entry]));
    const loaded: StoredEntry[] = [];
    for (const sequence of wanted) {
      const entry = known.get(sequence);
      // It was not read, or is missing: what follows is loaded after it.
      if (entry === undefined) break;
      loaded.push(entry);
    }
    let bytes = sizeOf(loaded);
    let floor = state.floor;
    for (let at = loaded.length; at < wanted.length && bytes < maxBytes; ) {
      if (signal?.aborted) throw new ReadAbortedError();
      const portion = wanted.slice(at, at + PORTION);
      const next = await this.#portion(tenant, portion, Math.min(maxBytes - bytes, PORTION_BYTES), 'bodies');
      floor = next.floor;
      checkComplete(portion, next.loaded, floor);
      loaded.push(...next.loaded);
      bytes += sizeOf(next.loaded);
      const last = next.loaded.at(-1)?.sequence;
      at += last === undefined ? portion.length : portion.indexOf(last) + 1;
    }
    return { loaded, floor };
  }

  /** Loads no bodies. What was trimmed is left out. */
  async headers(tenant: string, sequences: readonly number[]): Promise<readonly StoredEntry[]> {
    const headers: StoredEntry[] = [];
    for (let at = 0; at < sequences.length; at += HEADERS) {
      const portion = sequences.slice(at, at + HEADERS);
      const { loaded } = await this.#portion(tenant, portion, Number.POSITIVE_INFINITY, 'headers');
      headers.push(...loaded);
    }
    return headers;
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
    sequences: readonly number[],
    maxBytes: number,
    what: 'bodies' | 'headers',
  ): Promise<Loaded> {
    const limit = Number.isFinite(maxBytes) ? String(maxBytes) : 'inf';
    const args = [limit, what, ...sequences.map(String)];
    const reply = await this.#store.run(LOAD, tenantKeys(tenant).entries, args);
    return { floor: Number(reply[0]), loaded: entriesIn(reply, 1) };
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

/** Throws LogDamagedError when a delivery is missing before the last one that was loaded, and was not trimmed. */
const checkComplete = (wanted: readonly number[], loaded: readonly StoredEntry[], floor: number): void => {
  const found = new Set(loaded.map(({ sequence }) => sequence));
  const last = loaded.at(-1)?.sequence ?? wanted.at(-1);
  for (const sequence of wanted) {
    if (sequence > floor && !found.has(sequence))
      throw new LogDamagedError(`delivery ${sequence} is missing`);
    if (sequence === last) return;
  }
};
