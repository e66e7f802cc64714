import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Indexing } from './indexing.ts';
import type { Row } from './packing.ts';

/** Where a row is: a duplicate (same tenant, webhook and body) is where the first one is. */
export type Place = { readonly sequence: number; readonly duplicate: boolean };

type End = { readonly id: number; head: number };

/** Of SHA-256: to find two alike takes 2^64 tries, and whoever did so would only have kept one of his own out. */
const IDENTITY_BYTES = 16;

/** Puts deliveries at the end of their tenants' sequences. Belongs into a transaction. */
export class Appending {
  readonly #indexing: Indexing;
  readonly #tenant;
  readonly #addTenant;
  readonly #insert;
  readonly #raiseHead;

  constructor(database: DatabaseSync, indexing: Indexing) {
    this.#indexing = indexing;
    this.#tenant = database.prepare('SELECT id, head FROM tenant WHERE name = ?');
    this.#addTenant = database.prepare('INSERT INTO tenant (name) VALUES (?)');
    this.#insert = database.prepare(
      `INSERT INTO delivery
         (id, webhook, type, chain, received, dispatched, attempt, identity, addresses, body)
       VALUES (? << 40 | ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#raiseHead = database.prepare('UPDATE tenant SET head = ? WHERE id = ?');
  }

  append(rows: readonly Row[]): Place[] {
    const ends = new Map<string, End>();
    const places = rows.map((row) => this.#append(row, this.#endOf(row.tenant, ends)));
    for (const { id, head } of ends.values()) this.#raiseHead.run(head, id);
    this.#indexing.step();
    return places;
  }

  #append(row: Row, end: End): Place {
    const identity = hash('sha256', row.identity, 'buffer').subarray(0, IDENTITY_BYTES);
    const first = this.#indexing.find(end.id, identity);
    if (first !== null) return { sequence: first, duplicate: true };
    end.head += 1;
    const { webhookId, type, chainId, addresses } = row;
    this.#insert.run(
      end.id,
      end.head,
      webhookId,
      type,
      chainId,
      row.receivedAt,
      row.dispatchedAt,
      row.attempt,
      identity,
      addresses,
      row.body,
    );
    this.#indexing.add({
      tenant: end.id,
      sequence: end.head,
      identity,
      webhookId,
      type,
      chainId,
      addresses,
    });
    return { sequence: end.head, duplicate: false };
  }

  /** Read once a transaction and written once: a statement costs more than a row. */
  #endOf(tenant: string, ends: Map<string, End>): End {
    const known = ends.get(tenant);
    if (known) return known;
    const end = this.#storedEnd(tenant) ?? this.#newEnd(tenant);
    ends.set(tenant, end);
    return end;
  }

  #storedEnd(tenant: string): End | null {
    const row = this.#tenant.get(tenant);
    return row === undefined ? null : { id: Number(row.id), head: Number(row.head) };
  }

  #newEnd(tenant: string): End {
    return { id: Number(this.#addTenant.run(tenant).lastInsertRowid), head: 0 };
  }
}
