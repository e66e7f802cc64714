import type { DatabaseSync } from 'node:sqlite';
import type { Chain, Hex } from '../../types.ts';
import { bytesOf, hexOf } from '../blocks/encoding.ts';
import type { ParsedTransaction } from '../blocks/parse.ts';
import { formOf, type Readings, type ReadingsOf } from '../blocks/readings.ts';

/** How the logs of a contract were read, and how they are read now, and whether that is final. */
export type Revision = { readonly before: Readings; readonly after: Readings; readonly isSettled: boolean };

/**
 * A revision that is under way: from the newest transaction to the oldest, what their logs said by the old reading is taken out of
 * the tables, and then, in the same order, what they say by the new one is added.
 */
export type Underway = {
  readonly contract: Hex;
  readonly before: Readings;
  /** Transactions from this id on came later: their logs are not read until all is taken out. */
  readonly since: bigint;
  readonly isSettled: boolean;
  /** Whether all is taken out. */
  readonly isAdding: boolean;
  /** Transactions from this id on are taken out already, or added. */
  readonly mark: bigint;
};

/** A chain with its slot in the tables, and how its logs are read now. */
export type IndexedChain = {
  readonly chain: Chain;
  readonly slot: number;
  readonly readingsOf: ReadingsOf;
};

/** How the logs of a stored transaction are read. */
export type ReadingsIn = (id: bigint, transaction: ParsedTransaction) => ReadingsOf;

/** The table `revisions`: those that are under way. Its writes must run in a transaction. */
export class Revisions {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync) {
    database.exec(SCHEMA);
    this.#statements = prepare(database);
  }

  /** Those of a chain, by their contracts. */
  of(slot: number): ReadonlyMap<Hex, Underway> {
    return new Map(this.#statements.of.all(slot).flatMap((row) => entryOf(row)));
  }

  begin(slot: number, contract: Hex, { before, isSettled }: Revision, since: bigint): void {
    const { coin, nft, settled, isMulti } = before;
    const read = [coin, nft, settled, Number(isMulti)];
    this.#statements.begin.run(slot, bytesOf(contract), ...read, since, Number(isSettled), NEWEST);
  }

  /** The transactions of a chain from this id on are replaced. */
  replaced(slot: number, from: bigint): void {
    this.#statements.replaced.run(from, slot);
  }

  /** Takes note of how far one is. */
  advance(
    slot: number,
    { contract, isAdding, mark }: Pick<Underway, 'contract' | 'isAdding' | 'mark'>,
  ): void {
    this.#statements.advance.run(Number(isAdding), mark, slot, bytesOf(contract));
  }

  end(slot: number, contract: Hex): void {
    this.#statements.end.run(slot, bytesOf(contract));
  }

  /**
   * How the logs of the transactions of a chain are read, as the tables have them now: those that a revision under way concerns as
   * far as it is, all others as their contracts decide.
   */
  readings({ slot, readingsOf: current }: IndexedChain): ReadingsIn {
    const underway = this.of(slot);
    if (underway.size === 0) return () => current;
    return (id, transaction) => (contract) => {
      const revision = underway.get(contract);
      if (revision === undefined || !concerns(revision, transaction)) return current(contract);
      const { isAdding, mark } = revision;
      const [done, open] = isAdding ? [current(contract), NONE] : [NONE, oldReadings(revision, id)];
      // None of it is settled before the end, so that it takes what comes meanwhile into account.
      return { ...(id >= mark ? done : open), settled: 0 };
    };
  }
}

/** Greater than the id of any transaction. */
export const NEWEST = 2n ** 63n - 1n;

/** Logs that are not read. */
export const NONE: Readings = { coin: 0, nft: 0, settled: 0, isMulti: false };

/** How the logs of a transaction were read when a revision began. */
export const oldReadings = ({ before, since }: Underway, id: bigint): Readings =>
  id < since ? before : NONE;

/** Whether a transaction has a log that was not settled when the revision began. */
export const concerns = ({ contract, before }: Underway, { logs }: ParsedTransaction): boolean =>
  logs.some((log) => log.address === contract && ((formOf(log) ?? 0) & ~before.settled) !== 0);

const entryOf = (row: Record<string, unknown>): readonly (readonly [Hex, Underway])[] => {
  const { contract: bytes, since, mark } = row;
  if (!(bytes instanceof Uint8Array) || typeof since !== 'bigint' || typeof mark !== 'bigint') return [];
  const contract = hexOf(bytes);
  const before = {
    ...{ coin: Number(row.coin), nft: Number(row.nft), settled: Number(row.settled) },
    isMulti: Number(row.multi) === 1,
  };
  const [isSettled, isAdding] = [Number(row.final) === 1, Number(row.adding) === 1];
  return [[contract, { contract, before, since, isSettled, isAdding, mark }]];
};

/** The old reading and up to where it counted, whether the new one is final and being added, and how far that is. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS revisions (
    slot INTEGER NOT NULL,
    contract BLOB NOT NULL,
    coin INTEGER NOT NULL,
    nft INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    multi INTEGER NOT NULL,
    since INTEGER NOT NULL,
    final INTEGER NOT NULL,
    adding INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    PRIMARY KEY (slot, contract)
  ) STRICT, WITHOUT ROWID`;

const prepare = (database: DatabaseSync) => ({
  of: database.prepare('SELECT * FROM revisions WHERE slot = ? ORDER BY contract'),
  begin: database.prepare('INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)'),
  replaced: database.prepare('UPDATE revisions SET since = min(since, ?) WHERE slot = ?'),
  advance: database.prepare('UPDATE revisions SET adding = ?, mark = ? WHERE slot = ? AND contract = ?'),
  end: database.prepare('DELETE FROM revisions WHERE slot = ? AND contract = ?'),
});
