import type { DatabaseSync } from 'node:sqlite';
import { Fingerprints } from '../fingerprint.ts';
import type { Opened } from '../worker/protocol.ts';
import type { Extent } from './cursors.ts';

/** `id` is null for who has never had a delivery. The deliveries up to `indexed` are in the indexes. */
type KnownExtent = Extent & { readonly id: number | null; readonly indexed: number };

const NOTHING: KnownExtent = { id: null, head: 0, floor: 0, indexed: 0 };

/** Whose logs there are, and how far each goes. */
export class Tenants {
  readonly #find;
  readonly #all;
  readonly #fingerprints: Fingerprints;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('SELECT id, head, floor, indexed FROM tenant WHERE name = ?');
    this.#all = database.prepare('SELECT id, name, head FROM tenant');
    this.#fingerprints = new Fingerprints(database);
  }

  extent(tenant: string): KnownExtent {
    const row = this.#find.get(tenant);
    return row === undefined
      ? NOTHING
      : {
          id: Number(row.id),
          head: Number(row.head),
          floor: Number(row.floor),
          indexed: Number(row.indexed),
        };
  }

  heads(): Opened['heads'] {
    return this.#all.all().map(({ id, name, head }) => {
      const fingerprint = this.#fingerprints.at(Number(id), Number(head));
      return [String(name), Number(head), fingerprint];
    });
  }
}
