import type { DatabaseSync } from 'node:sqlite';
import type { Extent } from './cursors.ts';

/** `id` is null for who has never had a delivery. The deliveries up to `indexed` are in the indexes. */
type KnownExtent = Extent & { readonly id: number | null; readonly indexed: number };

const NOTHING: KnownExtent = { id: null, head: 0, floor: 0, indexed: 0 };

/** Whose logs there are, and how far each goes. */
export class Tenants {
  readonly #find;
  readonly #all;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('SELECT id, head, floor, indexed FROM tenant WHERE name = ?');
    this.#all = database.prepare('SELECT name, head FROM tenant');
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

  heads(): [tenant: string, head: number][] {
    return this.#all.all().map(({ name, head }) => [String(name), Number(head)]);
  }
}
