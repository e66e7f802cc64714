import { decodeCursor, type Extent, encodeCursor, sequenceToResume } from '../log/cursor.ts';
import { CursorExpiredError, LogDamagedError, ReadAbortedError } from '../log/errors.ts';
import { BEFORE_FIRST } from '../log/identity.ts';
import type { DeliveryPage, DeliveryRange, StoredDelivery } from '../log/log.ts';
import { isFiltering, matches } from '../log/terms.ts';
import { bytesIn } from './append-queue.ts';
import { fingerprintIn, readBody, readHeader } from './entry.ts';
import { tenantKeys } from './keys.ts';
import { LOAD, READ } from './scripts.ts';
import { type Found, Search, type SequenceRange } from './search.ts';
import type { ScriptReply, Store } from './store.ts';
import type { Tenants } from './tenants.ts';

/** A tenant's log as of one moment. */
type State = Extent & {
  readonly epoch: Buffer;
  /** The fingerprints of the deliveries at head, at floor and at the ends of the range that was asked for, as far as known. */
  readonly fingerprints: ReadonlyMap<number, number>;
  readonly entries: readonly StoredEntry[];
};

type StoredEntry = { readonly sequence: number; readonly header: Buffer; readonly body: Buffer };

/** The sequences after which a range begins and before which it ends. Default: the ends of the log. */
type Ends = {
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly take?: SequenceRange['take'] | undefined;
};

/** Redis serves nothing else while a script runs, so a long page is loaded in portions. */
const PORTION = 128;
const PORTION_BYTES = 1024 * 1024;

/** Of so few deliveries each is looked at: that costs less than the index. */
const FEW = 32;

/** Reads one log. */
export class LogReader {
  readonly #store: Store;
  readonly #tenants: Tenants;
  readonly #search: Search;

  constructor(store: Store, tenants: Tenants) {
    this.#store = store;
    this.#tenants = tenants;
    this.#search = new Search((key) => store.get(key));
  }

  /** Must be called when Redis may have been restored from an older copy. */
  forget(): void {
    this.#search.clear();
  }

  /** One command and no script, which Redis may have to be sent first: it is executed before what is sent after it. */
  async head(tenant: string): Promise<string> {
    const [, key] = tenantKeys(tenant).entries;
    const reply = await this.#store.send(key, 'HMGET', key, 'head', 'epoch', 'newest');
    const [head, epoch, newest] = Array.isArray(reply) ? reply : [];
    return encodeCursor({
      epoch: Buffer.isBuffer(epoch) ? epoch : this.#tenants.epochOf(tenant),
      sequence: Number(head ?? 0),
      fingerprint: Buffer.isBuffer(newest) ? fingerprintIn(newest) : BEFORE_FIRST,
    });
  }

  /** Returns null when the log does not hold the delivery, or no longer. Rejects with InvalidCursorError. */
  async get(tenant: string, cursor: string): Promise<StoredDelivery | null> {
    const { sequence, fingerprint, epoch } = decodeCursor(cursor);
    const state = await this.#read(tenant, { low: sequence - 1, high: sequence + 1 }, 1, 1);
    const entry = state.entries.find((one) => one.sequence === sequence);
    if (entry === undefined || !state.epoch.equals(epoch)) return null;
    const isAnother = fingerprint !== null && fingerprint !== fingerprintIn(entry.header);
    return isAnother ? null : { ...(await this.#deliveryOf(tenant, state, entry)), cursor };
  }

  /** Rejects with InvalidCursorError or CursorExpiredError. `signal` is looked at between the steps. */
  async page(tenant: string, range: DeliveryRange, signal: AbortSignal | undefined): Promise<DeliveryPage> {
    const { filter = {}, take = 'oldest', limit, maxBytes = Number.POSITIVE_INFINITY } = range;
    const after = range.after === undefined ? undefined : decodeCursor(range.after);
    const before = range.before === undefined ? undefined : decodeCursor(range.before);
    const isSearch = isFiltering(filter);
    const state = await this.#read(
      tenant,
      { low: after?.sequence, high: before?.sequence, take },
      isSearch ? 0 : Math.min(limit, PORTION),
      Math.min(maxBytes, PORTION_BYTES),
    );
    const resume = (position: typeof after): number | undefined =>
      position && sequenceToResume(position, state.epoch, state, (at) => state.fingerprints.get(at) ?? null);
    const low = resume(after) ?? state.floor;
    const high = resume(before) ?? state.head + 1;

    // One more than the caller wants shows whether there are more.
    const sequences = { low, high, limit: limit + 1, take };
    const found = isSearch
      ? await this.#find(tenant, state, range, sequences, signal)
      : { sequences: between(sequences), cutAt: null, scanned: 0 };
    const wanted = found.sequences.slice(0, limit);
    const { loaded, floor } = await this.#load(tenant, state, wanted, maxBytes, signal);
    // Retention may trim while a page is read. A page after a cursor must hold all that follows the cursor.
    if (after !== undefined && low < floor) throw new CursorExpiredError('trimmed');
    const deliveries = await Promise.all(loaded.map((entry) => this.#deliveryOf(tenant, state, entry)));

    const oldest = take === 'oldest';
    const leavesOut = found.sequences.length > loaded.length;
    const furthest = deliveries.at(-1);
    const start = oldest ? Math.max(low, floor) : high;
    const end = oldest ? Math.max(start, found.cutAt ?? high - 1) : (found.cutAt ?? low);
    const scannedTo =
      leavesOut && furthest ? furthest.cursor : await this.#cursorAt(tenant, state, leavesOut ? start : end);
    // Another term may have the same hash as one of the filter.
    const matching = isSearch ? deliveries.filter((delivery) => matches(filter, delivery)) : deliveries;
    return {
      deliveries: oldest ? matching : matching.reverse(),
      hasMore: leavesOut || found.cutAt !== null,
      isCut: found.cutAt !== null,
      scanned: found.scanned,
      scannedTo,
      head: cursorAt(state, state.head),
    };
  }

  async #read(
    tenant: string,
    { low, high, take = 'oldest' }: Ends,
    limit: number,
    maxBytes: number,
  ): Promise<State> {
    const args = [String(low ?? ''), String(high ?? ''), take, String(limit), String(maxBytes)];
    const reply = await this.#store.run(READ, tenantKeys(tenant).entries, args);
    const [head, floor] = [Number(reply[0]), Number(reply[1])];
    const epoch = bytesIn(reply[2]);
    const fingerprints = new Map([[0, BEFORE_FIRST]]);
    for (const [index, sequence] of [head, floor, low, high].entries()) {
      const fingerprint = fingerprintIn(bytesIn(reply[STATE_ITEMS + index]));
      if (sequence !== undefined && fingerprint !== null) fingerprints.set(sequence, fingerprint);
    }
    return {
      head,
      floor,
      epoch: epoch.length > 0 ? epoch : this.#tenants.epochOf(tenant),
      fingerprints,
      entries: entriesIn(reply, STATE_ITEMS + MARKS),
    };
  }

  async #find(
    tenant: string,
    state: State,
    { filter = {}, maxScanned = Number.POSITIVE_INFINITY }: DeliveryRange,
    range: SequenceRange,
    signal: AbortSignal | undefined,
  ): Promise<Found> {
    throwIfAborted(signal);
    const { prefix } = tenantKeys(tenant);
    if (range.high - range.low - 1 > FEW)
      return this.#search.find(prefix, state.epoch.toString('hex'), filter, range, maxScanned);
    const all = between({ ...range, limit: FEW });
    const { loaded } = await this.#loadPortion(tenant, all, Number.POSITIVE_INFINITY, 'headers');
    const sequences = loaded
      .filter(({ header }) => matches(filter, readHeader(header)))
      .map(({ sequence }) => sequence);
    return { sequences: sequences.slice(0, range.limit), cutAt: null, scanned: all.length };
  }

  /** Loads until `maxBytes` are reached. What was trimmed since it was found is left out. */
  async #load(
    tenant: string,
    state: State,
    wanted: readonly number[],
    maxBytes: number,
    signal: AbortSignal | undefined,
  ): Promise<{ loaded: readonly StoredEntry[]; floor: number }> {
    const known = new Map(state.entries.map((entry) => [entry.sequence, entry]));
    const loaded: StoredEntry[] = wanted.flatMap((sequence) => known.get(sequence) ?? []);
    let bytes = sizeOf(loaded);
    let floor = state.floor;
    for (let at = loaded.length; at < wanted.length && bytes < maxBytes; ) {
      throwIfAborted(signal);
      const portion = wanted.slice(at, at + PORTION);
      const next = await this.#loadPortion(
        tenant,
        portion,
        Math.min(maxBytes - bytes, PORTION_BYTES),
        'bodies',
      );
      floor = next.floor;
      checkComplete(portion, next.loaded, floor);
      loaded.push(...next.loaded);
      bytes += sizeOf(next.loaded);
      const last = next.loaded.at(-1)?.sequence;
      at += last === undefined ? portion.length : portion.indexOf(last) + 1;
    }
    return { loaded, floor };
  }

  async #loadPortion(
    tenant: string,
    sequences: readonly number[],
    maxBytes: number,
    what: 'bodies' | 'headers',
  ): Promise<{ loaded: readonly StoredEntry[]; floor: number }> {
    const args = [Number.isFinite(maxBytes) ? String(maxBytes) : 'inf', what, ...sequences.map(String)];
    const reply = await this.#store.run(LOAD, tenantKeys(tenant).entries, args);
    return { floor: Number(reply[0]), loaded: entriesIn(reply, 1) };
  }

  async #deliveryOf(tenant: string, state: State, entry: StoredEntry): Promise<StoredDelivery> {
    const { sequence } = entry;
    const { identity: _, isCompressed: __, ...fields } = readHeader(entry.header);
    return {
      tenant,
      sequence,
      cursor: encodeCursor({ epoch: state.epoch, sequence, fingerprint: fingerprintIn(entry.header) }),
      ...fields,
      body: await readBody(sequence, readHeader(entry.header), entry.body),
    };
  }

  /** The cursor of a delivery that may not have been read. */
  async #cursorAt(tenant: string, state: State, sequence: number): Promise<string> {
    if (state.fingerprints.has(sequence) || sequence <= state.floor) return cursorAt(state, sequence);
    const { loaded } = await this.#loadPortion(tenant, [sequence], 1, 'headers');
    const [entry] = loaded;
    const fingerprint = entry === undefined ? null : fingerprintIn(entry.header);
    return encodeCursor({ epoch: state.epoch, sequence, fingerprint });
  }
}

const STATE_ITEMS = 3;
const MARKS = 4;

const cursorAt = ({ epoch, fingerprints }: State, sequence: number): string =>
  encodeCursor({ epoch, sequence, fingerprint: fingerprints.get(sequence) ?? null });

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
  entries.reduce((bytes, { header }) => bytes + header.readUInt32BE(24), 0);

/** A tenant's sequences have no hole, so without a filter nothing needs to be read to find them. */
const between = ({ low, high, limit, take }: SequenceRange): number[] =>
  Array.from({ length: Math.max(0, Math.min(limit, high - low - 1)) }, (_, index) =>
    take === 'oldest' ? low + 1 + index : high - 1 - index,
  );

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

const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw new ReadAbortedError();
};
