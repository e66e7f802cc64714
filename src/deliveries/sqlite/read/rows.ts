import type { DatabaseSync } from 'node:sqlite';
import type { Steps } from '../../../lib/scheduling/round-robin-scheduler.ts';
import type { Extent } from '../../log/cursor.ts';
import { LogDamagedError } from '../../log/errors.ts';
import type { StoredDelivery } from '../../log/log.ts';
import type { Row } from '../row.ts';

/** A body may have five megabytes. */
const LOADED_AT_ONCE = 16;

const ROW = `SELECT sequence, webhook, type, chain, received, dispatched, attempt, identity, addresses, body FROM delivery`;

/** `id` is null for a tenant that never had a delivery. The deliveries up to `indexed` are in segments. */
export type TenantExtent = Extent & { readonly id: number | null; readonly indexed: number };

const EMPTY: TenantExtent = { id: null, head: 0, floor: 0, indexed: 0 };

/** Reads tenants' extents and deliveries' rows. */
export class Rows {
  readonly #extent;
  readonly #row;
  readonly #rows;

  constructor(database: DatabaseSync) {
    this.#extent = database.prepare('SELECT id, head, floor, indexed FROM tenant WHERE name = ?');
    this.#row = database.prepare(`${ROW} WHERE id = (? << 40 | ?)`);
    this.#rows = database.prepare(`${ROW} WHERE id BETWEEN (?1 << 40 | ?2) AND (?1 << 40 | ?3) ORDER BY id`);
  }

  extent(tenant: string): TenantExtent {
    const row = this.#extent.get(tenant);
    if (row === undefined) return EMPTY;
    const { id, head, floor, indexed } = row;
    return { id: Number(id), head: Number(head), floor: Number(floor), indexed: Number(indexed) };
  }

  get(tenant: number, sequence: number): Row | undefined {
    return this.#row.get(tenant, sequence);
  }

  /**
   * Loads the deliveries with these sequences, a few a step, and skips those that were trimmed since they were found. Stops
   * after the body that passes `maxBytes`.
   */
  *load(
    tenant: number,
    sequences: readonly number[],
    maxBytes: number,
    deliveryOf: (row: Row) => StoredDelivery,
  ): Steps<StoredDelivery[]> {
    const deliveries: StoredDelivery[] = [];
    let bytes = 0;
    for (let at = 0; at < sequences.length; at += LOADED_AT_ONCE) {
      for (const row of this.#rowsOf(tenant, sequences.slice(at, at + LOADED_AT_ONCE))) {
        const delivery = deliveryOf(row);
        deliveries.push(delivery);
        bytes += delivery.body.byteLength;
        if (bytes >= maxBytes) return deliveries;
      }
      yield;
    }
    return deliveries;
  }

  /** Reads sequences without a gap by one statement. */
  *#rowsOf(tenant: number, sequences: readonly number[]): Iterable<Row> {
    const [first, last] = [sequences[0], sequences.at(-1)];
    if (first === undefined || last === undefined) return;
    if (last - first === sequences.length - 1) return yield* this.#rows.iterate(tenant, first, last);
    for (const sequence of sequences) {
      const row = this.#row.get(tenant, sequence);
      if (row !== undefined) yield row;
    }
  }
}

/**
 * Throws LogDamagedError when a delivery is missing that was found. It may be missing if it was trimmed meanwhile, that is
 * up to `floor`, or if the page ended before it by `maxBytes`.
 */
export const checkComplete = (
  found: readonly number[],
  deliveries: readonly StoredDelivery[],
  floor: number,
  maxBytes: number,
): void => {
  if (deliveries.length === found.length) return;
  const bytes = deliveries.reduce((sum, { body }) => sum + body.byteLength, 0);
  const end = bytes >= maxBytes ? deliveries.at(-1)?.sequence : undefined;
  const loaded = new Set(deliveries.map(({ sequence }) => sequence));
  for (const sequence of found) {
    if (sequence > floor && !loaded.has(sequence))
      throw new LogDamagedError(`delivery ${sequence} is missing`);
    if (sequence === end) break;
  }
};
