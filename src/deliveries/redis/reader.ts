import { areDifferent, decodeCursor, encodeCursor, sequenceToResume, UNKNOWN } from '../log/cursor.ts';
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
import { fingerprintIn, readHeader } from './entry.ts';
import { Loader, type State } from './loader.ts';
import type { Replication } from './replication.ts';
import { RedisSearch } from './search.ts';
import { type Store, tenantKeys } from './store.ts';
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
