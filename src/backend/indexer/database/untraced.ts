import type { DatabaseSync } from 'node:sqlite';
import { blocksOf, numberOf, slotOf } from './database.ts';

/** Announced blocks, or history: blocks that were there when the chain was first followed. */
export type Announced = 'announced' | 'history';

/** The table `untraced`: the blocks of which it is not known what calls within their transactions moved. */
export class Untraced {
  readonly #slotOf: (chainId: number) => number;
  readonly #statements: ReturnType<typeof prepare>;
  /** The number of these blocks by chain: it is asked for often, and may be large. */
  readonly #counts = new Map<number, number>();

  constructor(database: DatabaseSync, slotOf: (chainId: number) => number) {
    this.#slotOf = slotOf;
    this.#statements = prepare(database);
  }

  count(chainId: number): number {
    const slot = this.#slotOf(chainId);
    const count = this.#counts.get(slot) ?? Number(this.#statements.count.get(...blocksOf(slot))?.count);
    this.#counts.set(slot, count);
    return count;
  }

  /** The numbers of the first blocks: the oldest announced ones, and the newest of history. */
  first(chainId: number, which: Announced, limit: number): readonly number[] {
    const { announced, history } = this.#statements;
    const statement = which === 'announced' ? announced : history;
    return statement.all(...blocksOf(this.#slotOf(chainId)), limit).map(numberIn);
  }

  /** The number of the block that `first` comes to last; null without one. */
  last(chainId: number, which: Announced): number | null {
    const { newest, oldest } = this.#statements;
    const [found] = (which === 'announced' ? newest : oldest).all(...blocksOf(this.#slotOf(chainId)));
    return found === undefined ? null : numberIn(found);
  }

  /** Within the transaction that adds the block. */
  add(block: bigint, isAnnounced: boolean): void {
    this.#statements.add.run(isAnnounced ? 1 : 0, block);
    this.#counted(block, 1);
  }

  /** Within the transaction that traces or removes the block. */
  delete(block: bigint): void {
    if (Number(this.#statements.delete.run(block).changes) > 0) this.#counted(block, -1);
  }

  /** Counts anew, as after a rollback. */
  recount(): void {
    this.#counts.clear();
  }

  #counted(block: bigint, change: number): void {
    const slot = slotOf(block);
    const known = this.#counts.get(slot);
    if (known !== undefined) this.#counts.set(slot, known + change);
  }
}

const numberIn = ({ block }: Record<string, unknown>): number =>
  typeof block === 'bigint' ? numberOf(block) : 0;

const WITHIN = 'block >= ?1 AND block < ?2';

const prepare = (database: DatabaseSync) => ({
  add: database.prepare('INSERT INTO untraced VALUES (?, ?)'),
  delete: database.prepare('DELETE FROM untraced WHERE announced IN (0, 1) AND block = ?'),
  count: database.prepare(`SELECT count(*) AS count FROM untraced WHERE announced IN (0, 1) AND ${WITHIN}`),
  announced: database.prepare(
    `SELECT block FROM untraced WHERE announced = 1 AND ${WITHIN} ORDER BY block LIMIT ?3`,
  ),
  history: database.prepare(
    `SELECT block FROM untraced WHERE announced = 0 AND ${WITHIN} ORDER BY block DESC LIMIT ?3`,
  ),
  newest: database.prepare(
    `SELECT block FROM untraced WHERE announced = 1 AND ${WITHIN} ORDER BY block DESC LIMIT 1`,
  ),
  oldest: database.prepare(
    `SELECT block FROM untraced WHERE announced = 0 AND ${WITHIN} ORDER BY block LIMIT 1`,
  ),
});
