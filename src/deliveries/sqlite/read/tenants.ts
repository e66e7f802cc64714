import type { DatabaseSync } from 'node:sqlite';
import { BEFORE_FIRST, fingerprintOf } from '../fingerprint.ts';
import type { Opened } from '../worker/protocol.ts';
import type { Extent } from './cursors.ts';

/** `id` is null for a tenant that never had a delivery. The deliveries up to `indexed` are in segments. */
type KnownExtent = Extent & { readonly id: number | null; readonly indexed: number };

const EMPTY: KnownExtent = { id: null, head: 0, floor: 0, indexed: 0 };

/** A tenant's newest delivery is in `delivery`, or in `trimmed` if retention has dropped it, or in neither. */
const HEADS_SQL = `
  SELECT name, head, identity, received, fingerprint
  FROM tenant
  LEFT JOIN delivery ON delivery.id = (tenant.id << 40 | head)
  LEFT JOIN trimmed ON trimmed.tenant = tenant.id AND trimmed.sequence = head`;

/** Reads which tenants the log has, and which sequences it has of each. */
export class Tenants {
  readonly #find;
  readonly #heads;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('SELECT id, head, floor, indexed FROM tenant WHERE name = ?');
    this.#heads = database.prepare(HEADS_SQL);
  }

  extent(tenant: string): KnownExtent {
    const row = this.#find.get(tenant);
    return row === undefined
      ? EMPTY
      : {
          id: Number(row.id),
          head: Number(row.head),
          floor: Number(row.floor),
          indexed: Number(row.indexed),
        };
  }

  /** Returns the head of every tenant. One statement reads them all, however many tenants there are. */
  heads(): Opened['heads'] {
    return this.#heads.all().map(({ name, head, identity, received, fingerprint }) => {
      const stored = identity instanceof Uint8Array ? fingerprintOf(identity, Number(received)) : null;
      const trimmed = fingerprint === null ? null : Number(fingerprint);
      return [String(name), Number(head), Number(head) === 0 ? BEFORE_FIRST : (stored ?? trimmed)];
    });
  }
}
