import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeliveryFilter, DeliveryPage, DeliveryRange, StoredDelivery } from '../log.ts';
import type { Positions } from './positions.ts';
import { storedDelivery } from './row.ts';
import { isFiltering, Search, type Span } from './search.ts';

const FIRST_WINDOW = 64;
const MAX_WINDOW = 65_536;

/** Reads pages of a tenant's log. */
export class Reading {
  readonly #positions: Positions;
  readonly #search: Search;
  readonly #row;

  constructor(database: DatabaseSync, positions: Positions) {
    this.#positions = positions;
    this.#search = new Search(database);
    this.#row = database.prepare('SELECT * FROM delivery WHERE tenant = ? AND sequence = ?');
  }

  get(tenant: string, sequence: number): StoredDelivery | null {
    const { id } = this.#positions.extent(tenant);
    const row = id === null ? undefined : this.#row.get(id, sequence);
    return row === undefined ? null : storedDelivery(row, tenant, this.#positions.cursor(tenant, sequence));
  }

  async page(tenant: string, range: DeliveryRange): Promise<DeliveryPage> {
    const { take = 'oldest', filter = {}, limit } = range;
    const oldest = take === 'oldest';
    const extent = this.#positions.extent(tenant);
    const low =
      range.after === undefined ? extent.floor : this.#positions.sequence(tenant, range.after, extent);
    const high =
      range.before === undefined ? extent.head + 1 : this.#positions.sequence(tenant, range.before, extent);

    // One more than is wanted, so as to know whether there is more.
    const found = await this.#find(tenant, filter, { low, high, limit: limit + 1, take });
    // Who goes on from a cursor must get all that follows; the turns that finding took may have trimmed some of it.
    if (range.after !== undefined)
      this.#positions.sequence(tenant, range.after, this.#positions.extent(tenant));

    const deliveries = this.#load(tenant, found.slice(0, limit), range.maxBytes ?? Number.POSITIVE_INFINITY);
    const hasMore = found.length > deliveries.length;
    const last = deliveries.at(-1)?.sequence;
    const start = oldest ? low : high;
    const end = oldest ? Math.max(low, high - 1) : low;
    return {
      deliveries: oldest ? deliveries : deliveries.reverse(),
      hasMore,
      reached: this.#positions.cursor(tenant, hasMore ? (last ?? start) : end),
      head: this.#positions.cursor(tenant, extent.head),
    };
  }

  /** Windows grow while they find too little: a frequent match costs a short look, a rare one few looks. */
  async #find(tenant: string, filter: DeliveryFilter, span: Span): Promise<number[]> {
    const { id } = this.#positions.extent(tenant);
    if (id === null) return [];
    if (!isFiltering(filter)) return contiguous(span);
    const found: number[] = [];
    let { low, high } = span;
    for (
      let window = Math.max(FIRST_WINDOW, span.limit);
      high - low > 1;
      window = Math.min(window * 4, MAX_WINDOW)
    ) {
      const part =
        span.take === 'oldest'
          ? { low, high: Math.min(high, low + window + 1) }
          : { low: Math.max(low, high - window - 1), high };
      const limit = span.limit - found.length;
      found.push(...this.#search.find(id, filter, { ...part, take: span.take, limit }));
      if (found.length === span.limit) break;
      if (span.take === 'oldest') low = part.high - 1;
      else high = part.low + 1;
      if (window > FIRST_WINDOW) await nextTurn();
    }
    return found;
  }

  /** Stops after the body with which `maxBytes` is passed, and leaves out what was trimmed since it was found. */
  #load(tenant: string, sequences: readonly number[], maxBytes: number): StoredDelivery[] {
    const deliveries: StoredDelivery[] = [];
    let bytes = 0;
    for (const sequence of sequences) {
      if (bytes >= maxBytes) break;
      const delivery = this.get(tenant, sequence);
      if (delivery === null) continue;
      deliveries.push(delivery);
      bytes += delivery.body.byteLength;
    }
    return deliveries;
  }
}

function contiguous({ low, high, limit, take }: Span): number[] {
  const length = Math.max(0, Math.min(limit, high - low - 1));
  return Array.from({ length }, (_, index) => (take === 'oldest' ? low + 1 + index : high - 1 - index));
}
