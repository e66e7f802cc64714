import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Appended, NewDelivery } from '../log.ts';
import type { Positions } from './positions.ts';

/** Puts deliveries at the end of their tenants' sequences. Belongs into a transaction. */
export class Appending {
  readonly #positions: Positions;
  readonly #duplicate;
  readonly #next;
  readonly #insert;
  readonly #insertAddress;

  constructor(database: DatabaseSync, positions: Positions) {
    this.#positions = positions;
    this.#duplicate = database.prepare(
      `SELECT sequence FROM delivery
       WHERE tenant = (SELECT id FROM tenant WHERE name = ?) AND identity = ?`,
    );
    this.#next = database.prepare(
      `INSERT INTO tenant (name, head) VALUES (?, 1)
       ON CONFLICT (name) DO UPDATE SET head = head + 1 RETURNING id, head`,
    );
    this.#insert = database.prepare(
      `INSERT INTO delivery
         (tenant, sequence, webhook, type, chain, received, dispatched, attempt, addresses, identity, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertAddress = database.prepare(
      'INSERT OR IGNORE INTO address (tenant, address, sequence) VALUES (?, ?, ?)',
    );
  }

  append(delivery: NewDelivery): Appended {
    const identity = identityOf(delivery);
    const stored = this.#duplicate.get(delivery.tenant, identity)?.sequence;
    const sequence = stored === undefined ? this.#store(delivery, identity) : Number(stored);
    const cursor = this.#positions.cursor(delivery.tenant, sequence);
    return { cursor, sequence, duplicate: stored !== undefined };
  }

  #store(delivery: NewDelivery, identity: Uint8Array): number {
    const next = this.#next.get(delivery.tenant);
    const tenant = Number(next?.id);
    const sequence = Number(next?.head);
    this.#insert.run(
      tenant,
      sequence,
      delivery.webhookId,
      delivery.type,
      delivery.chainId,
      delivery.receivedAt,
      delivery.dispatchedAt,
      delivery.attempt,
      delivery.addresses.join(' '),
      identity,
      delivery.body,
    );
    for (const address of delivery.addresses) this.#insertAddress.run(tenant, address, sequence);
    return sequence;
  }
}

/** The webhook is a UUID or nothing, so that where it ends and the body begins is never in doubt. */
const identityOf = ({ webhookId, body }: NewDelivery): Uint8Array =>
  createHash('sha256')
    .update(`${webhookId ?? ''}\n`)
    .update(body)
    .digest();
