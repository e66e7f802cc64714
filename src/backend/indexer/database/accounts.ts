import type { Hex } from '../../types.ts';
import { bytesOf } from '../blocks/encoding.ts';
import type { IndexDatabase } from './database.ts';

/** About 5 MB. A full cache is emptied: accounts that are seen often are soon in it again. */
const MAX_CACHED = 50_000;

/**
 * The table `accounts`: the numbers that stand for addresses in other tables, which are half as large with them. They are given
 * in the order in which addresses are first seen, so the rows of those that are seen often are near each other. An address keeps
 * its number, also when a reorg removes all that it took part in.
 */
export class Accounts {
  readonly #find;
  readonly #add;
  readonly #cache = new Map<Hex, number>();

  constructor(database: IndexDatabase) {
    this.#find = database.prepare('SELECT id FROM accounts WHERE address = ?');
    this.#add = database.prepare('INSERT INTO accounts (address) VALUES (?) RETURNING id');
    // The numbers that the transaction gave are free again.
    database.onRollback(() => this.#cache.clear());
  }

  /** The number of an address. A new address gets the next one, so it must run in a transaction. */
  numberOf(address: Hex): number {
    return this.find(address) ?? this.#keep(address, Number(this.#add.get(bytesOf(address))?.id));
  }

  /** The number of an address; null for one that was never seen. */
  find(address: Hex): number | null {
    const known = this.#cache.get(address);
    if (known !== undefined) return known;
    const { id } = this.#find.get(bytesOf(address)) ?? {};
    return id === undefined ? null : this.#keep(address, Number(id));
  }

  #keep(address: Hex, id: number): number {
    if (this.#cache.size === MAX_CACHED) this.#cache.clear();
    this.#cache.set(address, id);
    return id;
  }
}
