import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { keysOf } from './address-key.ts';
import type { Row } from './packing.ts';

/** Where a row is: a duplicate (same tenant, webhook and body) is where the first one is. */
export type Place = { readonly sequence: number; readonly duplicate: boolean };

type End = { readonly id: number; head: number };

/** Puts deliveries at the end of their tenants' sequences. Belongs into a transaction. */
export class Appending {
  readonly #tenant;
  readonly #insert;
  readonly #duplicate;
  readonly #insertAddress;
  readonly #raiseHead;

  constructor(database: DatabaseSync) {
    this.#tenant = database.prepare(
      'INSERT INTO tenant (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id, head',
    );
    this.#insert = database.prepare(
      `INSERT INTO delivery
         (tenant, sequence, webhook, type, chain, received, dispatched, attempt, addresses, identity, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, identity) DO NOTHING`,
    );
    this.#duplicate = database.prepare('SELECT sequence FROM delivery WHERE tenant = ? AND identity = ?');
    this.#insertAddress = database.prepare(
      'INSERT OR IGNORE INTO address (tenant, address, sequence) VALUES (?, ?, ?)',
    );
    this.#raiseHead = database.prepare('UPDATE tenant SET head = ? WHERE id = ?');
  }

  append(rows: readonly Row[]): Place[] {
    const ends = new Map<string, End>();
    const places = rows.map((row) => this.#append(row, this.#endOf(row.tenant, ends)));
    for (const { id, head } of ends.values()) this.#raiseHead.run(head, id);
    return places;
  }

  #append(row: Row, end: End): Place {
    const identity = hash('sha256', row.identity, 'buffer');
    const sequence = end.head + 1;
    const { changes } = this.#insert.run(
      end.id,
      sequence,
      row.webhookId,
      row.type,
      row.chainId,
      row.receivedAt,
      row.dispatchedAt,
      row.attempt,
      row.addresses,
      identity,
      row.body,
    );
    if (changes === 0)
      return { sequence: Number(this.#duplicate.get(end.id, identity)?.sequence), duplicate: true };
    end.head = sequence;
    for (const address of keysOf(row.addresses)) this.#insertAddress.run(end.id, address, sequence);
    return { sequence, duplicate: false };
  }

  /** Read once a transaction and written once: a statement costs more than a row. */
  #endOf(tenant: string, ends: Map<string, End>): End {
    const known = ends.get(tenant);
    if (known) return known;
    const row = this.#tenant.get(tenant);
    const end = { id: Number(row?.id), head: Number(row?.head) };
    ends.set(tenant, end);
    return end;
  }
}
