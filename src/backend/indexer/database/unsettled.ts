import type { DatabaseSync } from 'node:sqlite';
import type { Hex } from '../../types.ts';
import { bytesOf } from '../blocks/encoding.ts';
import { transactionsOf } from './database.ts';

type Row = { readonly id: bigint; readonly isAnnounced: boolean };

/**
 * The table `unsettled`: for contracts of which it is not settled how their logs are read, the transactions with such logs. They
 * are read again once it is. Announced are those of which listeners hear then what is new. Its writes must run in a transaction.
 */
export class Unsettled {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync) {
    this.#statements = prepare(database);
  }

  add(contract: Hex, id: bigint, isAnnounced: boolean): void {
    this.#statements.add.run(bytesOf(contract), id, isAnnounced ? 1 : 0);
  }

  delete(contract: Hex, id: bigint): void {
    this.#statements.delete.run(bytesOf(contract), id);
  }

  /** The transactions of a contract on a chain below an id, the newest first. */
  *below(slot: number, contract: Hex, before: bigint): Generator<Row> {
    const [first, end] = transactionsOf(slot);
    const rows = this.#statements.below.iterate(bytesOf(contract), first, before < end ? before : end);
    for (const { id, announced } of rows)
      if (typeof id === 'bigint') yield { id, isAnnounced: Number(announced) === 1 };
  }

  /** The newest announced transactions of a contract on a chain. */
  announced(slot: number, contract: Hex, limit: number): readonly bigint[] {
    return this.#statements.announced
      .all(bytesOf(contract), ...transactionsOf(slot), limit)
      .flatMap(({ id }) => (typeof id === 'bigint' ? [id] : []));
  }

  /** All readings of a contract are settled. */
  settle(slot: number, contract: Hex): void {
    this.#statements.settle.run(bytesOf(contract), ...transactionsOf(slot));
  }

  /** What listeners have heard of a contract is what they hear in any case. */
  told(slot: number, contract: Hex): void {
    this.#statements.told.run(bytesOf(contract), ...transactionsOf(slot));
  }
}

const WITHIN = 'contract = ? AND id >= ? AND id < ?';

const prepare = (database: DatabaseSync) => ({
  add: database.prepare('INSERT OR IGNORE INTO unsettled VALUES (?, ?, ?)'),
  delete: database.prepare('DELETE FROM unsettled WHERE contract = ? AND id = ?'),
  below: database.prepare(`SELECT id, announced FROM unsettled WHERE ${WITHIN} ORDER BY id DESC`),
  announced: database.prepare(
    `SELECT id FROM unsettled WHERE ${WITHIN} AND announced = 1 ORDER BY id DESC LIMIT ?`,
  ),
  settle: database.prepare(`DELETE FROM unsettled WHERE ${WITHIN}`),
  told: database.prepare(`UPDATE unsettled SET announced = 0 WHERE ${WITHIN}`),
});
