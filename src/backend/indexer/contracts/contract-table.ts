import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Chain, Hex, Token } from '../../types.ts';
import { hexOf } from '../blocks/encoding.ts';
import { inTransaction } from '../database/database.ts';
import type { ContractAnswers } from './answers.ts';

/** The table of the contracts that may be tokens, in the file of the index. */

/** A contract whose logs are those of a token. */
export type Contract = ContractAnswers & {
  readonly standard: Token['standard'];
  /** Whether it is not known yet what the contract says of itself, or not all of it. */
  readonly isPending: boolean;
};

export type Row = Contract & { readonly block: number; readonly failures: number; readonly attempts: number };

/** Null for a contract that is not in the table. */
export const rowOf = (row: Record<string, SQLOutputValue> | undefined): Row | null => {
  if (row === undefined) return null;
  const { standard, name, symbol, decimals, block, failures, attempts, due } = row;
  if (standard !== 'erc20' && standard !== 'erc721' && standard !== 'erc1155') return null;
  return {
    standard,
    name: typeof name === 'string' ? name : null,
    symbol: typeof symbol === 'string' ? symbol : null,
    decimals: decimals === null ? null : Number(decimals),
    isPending: due !== null && Number(failures) === 0,
    block: Number(block),
    failures: Number(failures),
    attempts: Number(attempts),
  };
};

export const addressOf = ({ address }: Record<string, SQLOutputValue>): Hex =>
  hexOf(address instanceof Uint8Array ? address : new Uint8Array());

/** Null for a contract whose answers are not those of a token. */
export const tokenOf = (chain: Chain, address: Hex, contract: Contract): Token | null => {
  const { standard, name, symbol, decimals } = contract;
  const [shownName, shownSymbol] = [name ?? symbol, symbol ?? name];
  if (!isKnown(contract) || shownName === null || shownSymbol === null) return null;
  return {
    chain,
    address,
    standard,
    name: shownName,
    symbol: shownSymbol,
    decimals: standard === 'erc20' ? (decimals ?? 0) : 0,
  };
};

/** Whether what is known makes a token that can be shown: amounts of an ERC-20 mean nothing without decimals. */
export const isKnown = ({ standard, name, symbol, decimals }: Omit<Contract, 'isPending'>): boolean =>
  (name !== null || symbol !== null) && (standard !== 'erc20' || decimals !== null);

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS contracts (
    chain INTEGER NOT NULL,
    address BLOB NOT NULL,
    standard TEXT NOT NULL,
    name TEXT,
    symbol TEXT,
    decimals INTEGER,
    -- The block in which it was first seen: it may be gone when that is.
    block INTEGER NOT NULL,
    -- How often it said nothing useful.
    failures INTEGER NOT NULL,
    -- When it is to be asked, in milliseconds since 1970; null for never again.
    due INTEGER,
    -- How often in succession it could not be asked, although the node answered other calls.
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Whether it says other amounts than its events sum up to: 0, 1, or 2 if these are of more than there is. Null until its
    -- supply is asked.
    differs INTEGER,
    PRIMARY KEY (chain, address)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS contracts_by_due ON contracts (chain, due) WHERE due IS NOT NULL`;

/** What tables of before a column lack. */
const UPGRADES: readonly (readonly [column: string, upgrade: string])[] = [
  [
    'attempts',
    // They took every error of a node for what the contract says: those contracts are asked again.
    `ALTER TABLE contracts ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
     UPDATE contracts SET failures = 0, due = 0 WHERE due IS NOT NULL`,
  ],
  ['differs', 'ALTER TABLE contracts ADD COLUMN differs INTEGER'],
];

export const createContracts = (database: DatabaseSync): void =>
  inTransaction(database, () => {
    database.exec(SCHEMA);
    for (const [column, upgrade] of UPGRADES)
      if (
        database.prepare("SELECT 1 FROM pragma_table_info('contracts') WHERE name = ?").get(column) ===
        undefined
      )
        database.exec(upgrade);
    database.exec(
      `CREATE INDEX IF NOT EXISTS contracts_that_differ ON contracts (chain, address) WHERE differs = 1;
       CREATE INDEX IF NOT EXISTS contracts_to_compare ON contracts (chain)
         WHERE differs IS NULL AND standard = 'erc20' AND due IS NULL`,
    );
  });

/** Forgets which contracts say something else than their events, as where these are read anew. */
export const forgetDiffering = (database: DatabaseSync): void =>
  database.exec('UPDATE contracts SET differs = NULL WHERE differs IS NOT NULL');

export const prepareContracts = (database: DatabaseSync) => ({
  find: database.prepare('SELECT * FROM contracts WHERE chain = ? AND address = ?'),
  add: database.prepare(
    `INSERT INTO contracts (chain, address, standard, block, failures, due) VALUES (?, ?, ?, ?, 0, ?)
     ON CONFLICT DO UPDATE SET block = min(block, excluded.block)`,
  ),
  due: database.prepare(
    'SELECT address FROM contracts WHERE chain = ? AND due <= ? ORDER BY due DESC LIMIT ?',
  ),
  next: database.prepare('SELECT min(due) AS next FROM contracts WHERE chain = ? AND due > ?'),
  keep: database.prepare(
    `UPDATE contracts SET name = ?, symbol = ?, decimals = ?, failures = ?, due = ?, attempts = ?
     WHERE chain = ? AND address = ?`,
  ),
  forget: database.prepare('DELETE FROM contracts WHERE chain = ? AND block >= ?'),
  erc20s: database.prepare("SELECT * FROM contracts WHERE chain = ? AND standard = 'erc20' AND due IS NULL"),
});

export const prepareDiffering = (database: DatabaseSync) => ({
  has: database.prepare('SELECT 1 FROM contracts WHERE chain = ? AND address = ? AND differs > 0'),
  some: database.prepare(
    'SELECT address FROM contracts WHERE chain = ? AND differs = 1 ORDER BY address LIMIT ?',
  ),
  new: database.prepare(
    "SELECT address FROM contracts WHERE chain = ? AND differs IS NULL AND standard = 'erc20' AND due IS NULL LIMIT ?",
  ),
  set: database.prepare(
    'UPDATE contracts SET differs = max(ifnull(differs, 0), ?) WHERE chain = ? AND address = ?',
  ),
});
