import { decodeCursor, encodeCursor, type Position, sequenceToResume } from '../log/cursor.ts';
import { CursorExpiredError, ReadAbortedError } from '../log/errors.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryRange, StoredDelivery } from '../log/log.ts';
import { isFiltering, matches } from '../log/log.ts';
import { fingerprintIn, readHeader } from './entry.ts';
import { Loader, type State } from './loader.ts';
import type { Replication } from './replication.ts';
import { type Found, Search, type SequenceRange } from './search.ts';
import type { Store } from './store.ts';
import { tenantKeys } from './store.ts';
import type { Tenants } from './tenants.ts';

/** Of so few deliveries each is looked at: that costs less than the index. */
const FEW = 32;

/** Reads the logs of tenants. */
export class LogReader {
  readonly #loader: Loader;
  readonly #search: Search;

  /** Without `replication`, deliveries are shown once they are stored. */
  constructor(store: Store, tenants: Tenants, replication: Replication | null) {
    this.#loader = new Loader(store, tenants, replication);
    this.#search = new Search(store);
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
    const isAnother = fingerprint !== null && fingerprint !== fingerprintIn(entry.header);
    return isAnother ? null : { ...(await this.#loader.deliveryOf(tenant, state, entry)), cursor };
  }

  /** Rejects with InvalidCursorError or CursorExpiredError. `signal` is looked at between the steps. */
  async page(tenant: string, range: DeliveryRange, signal: AbortSignal | undefined): Promise<DeliveryPage> {
    const { filter = {}, take = 'oldest', limit, maxBytes = Number.POSITIVE_INFINITY } = range;
    const after = range.after === undefined ? null : decodeCursor(range.after);
    const before = range.before === undefined ? null : decodeCursor(range.before);
    const isSearch = isFiltering(filter);
    const ends = { low: after?.sequence, high: before?.sequence, take };
    const state = await this.#loader.state(tenant, { ...ends, limit: isSearch ? 0 : limit, maxBytes });
    const low = after === null ? state.floor : resume(after, state);
    const high = Math.min(state.head + 1, before === null ? Number.POSITIVE_INFINITY : resume(before, state));

    // One more than the caller wants shows whether there are more.
    const sequences = { low, high, limit: limit + 1, take };
    if (signal?.aborted) throw new ReadAbortedError();
    const found = isSearch
      ? await this.#find(tenant, state, range, sequences)
      : { sequences: between(sequences), cutAt: null, scanned: 0 };
    const { loaded, floor } = await this.#loader.load(
      tenant,
      state,
      found.sequences.slice(0, limit),
      maxBytes,
      signal,
    );
    // Retention may trim while a page is read. A page after a cursor must hold all that follows the cursor.
    if (after !== null && low < floor) throw new CursorExpiredError('trimmed');
    const deliveries = await Promise.all(
      loaded.map((entry) => this.#loader.deliveryOf(tenant, state, entry)),
    );

    const oldest = take === 'oldest';
    const leavesOut = found.sequences.length > loaded.length;
    const start = oldest ? Math.max(low, floor) : high;
    const end = oldest ? Math.max(start, found.cutAt ?? high - 1) : (found.cutAt ?? low);
    const scannedTo = leavesOut ? (loaded.at(-1)?.sequence ?? start) : end;
    // Another term may have the same hash as one of the filter.
    const matching = isSearch ? deliveries.filter((delivery) => matches(filter, delivery)) : deliveries;
    return {
      deliveries: oldest ? matching : matching.reverse(),
      hasMore: leavesOut || found.cutAt !== null,
      isCut: found.cutAt !== null,
      scanned: found.scanned,
      scannedTo: await this.#cursorAt(tenant, state, scannedTo),
      // After a failover, what a client has seen may be ahead of the mark.
      head: await this.#cursorAt(tenant, state, Math.max(low, state.head)),
    };
  }

  async #find(
    tenant: string,
    state: State,
    { filter = {}, maxScanned = Number.POSITIVE_INFINITY }: DeliveryRange,
    range: SequenceRange,
  ): Promise<Found> {
    const select = (sequences: readonly number[]) => this.#select(tenant, filter, sequences);
    if (range.high - range.low - 1 > FEW) {
      const log = { tenant, prefix: tenantKeys(tenant).prefix, epoch: state.epoch.toString('hex') };
      return this.#search.find(log, filter, range, maxScanned, select);
    }
    const all = between({ ...range, limit: FEW });
    const sequences = await select(all);
    return { sequences: sequences.slice(0, range.limit), cutAt: null, scanned: all.length };
  }

  /** The sequences of those that match, in their order. */
  async #select(
    tenant: string,
    filter: DeliveryFilter,
    sequences: readonly number[],
  ): Promise<readonly number[]> {
    const entries = await this.#loader.headers(tenant, sequences);
    return entries
      .filter(({ header }) => matches(filter, readHeader(header)))
      .map(({ sequence }) => sequence);
  }

  /** The cursor of a delivery that may not have been read. */
  async #cursorAt(
    tenant: string,
    { epoch, fingerprints, entries, floor }: State,
    sequence: number,
  ): Promise<string> {
    const known = fingerprints.get(sequence);
    if (known !== undefined || sequence <= floor)
      return encodeCursor({ epoch, sequence, fingerprint: known ?? null });
    const read = entries.find((entry) => entry.sequence === sequence);
    const [entry] = read ? [read] : await this.#loader.headers(tenant, [sequence]);
    return encodeCursor({ epoch, sequence, fingerprint: entry ? fingerprintIn(entry.header) : null });
  }
}

const resume = (position: Position, { epoch, floor, newest, fingerprints }: State): number =>
  sequenceToResume(
    position,
    epoch,
    { head: newest, floor },
    (sequence) => fingerprints.get(sequence) ?? null,
  );

/** A tenant's sequences have no hole, so without a filter nothing needs to be read to find them. */
const between = ({ low, high, limit, take }: SequenceRange): number[] =>
  Array.from({ length: Math.max(0, Math.min(limit, high - low - 1)) }, (_, index) =>
    take === 'oldest' ? low + 1 + index : high - 1 - index,
  );
