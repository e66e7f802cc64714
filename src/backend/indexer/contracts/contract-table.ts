import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Chain, Hex, Token } from '../../types.ts';
import { hexOf } from '../blocks/encoding.ts';
import { FORMS, type Readings } from '../blocks/readings.ts';
import type { ContractAnswers } from './answers.ts';
import { type Sample, sampleIn } from './seen.ts';
import type { Verdict } from './verdict.ts';

/** The table of the contracts that may be tokens, in the file of the index. */

/** A contract whose logs are those of a token. */
export type Contract = ContractAnswers & {
  /** What its token is: a coin, if it is a coin and has NFTs as well. */
  readonly standard: Token['standard'];
  /** Whether it is not known yet what the contract says of itself, or not all of it. */
  readonly isPending: boolean;
};

export type Row = Contract &
  Readings & {
    /** The forms of its logs. */
    readonly forms: number;
    readonly sample: Sample;
    readonly block: number;
    readonly failures: number;
    readonly attempts: number;
  };

/** Null for a contract that is not in the table. */
export const rowOf = (row: Record<string, SQLOutputValue> | undefined): Row | null => {
  if (row === undefined) return null;
  const { name, symbol, block, failures, attempts, due, sample } = row;
  const decimals = row.decimals === null ? null : Number(row.decimals);
  const [forms, coin, nft, settled] = [row.forms, row.coin, row.nft, row.settled].map(Number);
  const read = readingsIn(forms ?? 0, { coin: coin ?? 0, nft: nft ?? 0, settled: settled ?? 0 });
  return {
    ...read,
    forms: forms ?? 0,
    standard: standardOf(read, decimals),
    sample: sampleIn(sample),
    name: typeof name === 'string' ? name : null,
    symbol: typeof symbol === 'string' ? symbol : null,
    decimals,
    isPending: due !== null && Number(failures) === 0 && settled === 0,
    block: Number(block),
    failures: Number(failures),
    attempts: Number(attempts),
  };
};

const readingsIn = (forms: number, verdict: Verdict): Readings => ({
  ...verdict,
  isMulti: (forms & FORMS.multi) !== 0,
});

/** Whether a contract has NFTs, or several of an id. */
export const isCollection = ({ nft, isMulti }: Readings): boolean => nft !== 0 || isMulti;

/** Amounts without decimals are shown only where a contract is nothing else. */
const standardOf = ({ coin, nft, isMulti }: Readings, decimals: number | null): Token['standard'] => {
  if (coin !== 0 && (decimals !== null || (nft === 0 && !isMulti))) return 'erc20';
  if (isMulti) return 'erc1155';
  return nft === 0 ? 'erc20' : 'erc721';
};

export const addressOf = ({ address }: Record<string, SQLOutputValue>): Hex =>
  hexOf(address instanceof Uint8Array ? address : new Uint8Array());

/** Null for a contract whose logs move nothing, or whose answers are not those of a token. */
export const tokenOf = (chain: Chain, address: Hex, contract: Row): Token | null => {
  const { standard, name, symbol, decimals } = contract;
  if (contract.coin === 0 && !isCollection(contract)) return null;
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

/** What may be a coin, with logs of which it is not settled how they are read. */
const LEFT_OPEN = '(forms & ~settled) <> 0 AND (decimals IS NOT NULL OR failures = 0)';

/** How often a contract is asked before it counts as one whose logs mean nothing. It may still be asked again later. */
const MAX_DOUBTS = 5;
/** How soon such a contract is asked again once it has logged more. */
const DOUBTED_MS = 60_000;
const MAYBE_OF_NFTS = FORMS.amount | FORMS.plain | FORMS.consecutive | FORMS.punk;
/** What may have NFTs, with logs of which it is not known yet whether they move some. */
const MAY_HAVE_NFTS = `(forms & ~settled & ~nft & ${MAYBE_OF_NFTS}) <> 0 AND failures < ${MAX_DOUBTS} AND due IS NOT NULL`;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS contracts (
    chain INTEGER NOT NULL,
    address BLOB NOT NULL,
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
    -- The forms of its logs, those that are read as a coin's and as NFTs, and those of which that is final.
    forms INTEGER NOT NULL DEFAULT 0,
    coin INTEGER NOT NULL DEFAULT 0,
    nft INTEGER NOT NULL DEFAULT 0,
    settled INTEGER NOT NULL DEFAULT 0,
    -- What of a block it is asked about.
    sample TEXT,
    -- Whether it says other amounts than its events sum up to: 0, 1, or 2 if these are of more than there is. Null until its
    -- supply is asked.
    differs INTEGER,
    PRIMARY KEY (chain, address)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS contracts_by_due ON contracts (chain, due) WHERE due IS NOT NULL;
  CREATE INDEX IF NOT EXISTS contracts_left_open ON contracts (chain, address) WHERE ${LEFT_OPEN};
  CREATE INDEX IF NOT EXISTS contracts_that_may_have_nfts ON contracts (chain) WHERE ${MAY_HAVE_NFTS};
  CREATE INDEX IF NOT EXISTS contracts_that_differ ON contracts (chain, address) WHERE differs = 1;
  CREATE INDEX IF NOT EXISTS contracts_to_compare ON contracts (chain)
    WHERE differs IS NULL AND coin <> 0 AND decimals IS NOT NULL AND due IS NULL`;

export const createContracts = (database: DatabaseSync): void => database.exec(SCHEMA);

export const prepareContracts = (database: DatabaseSync) => ({
  find: database.prepare('SELECT * FROM contracts WHERE chain = ? AND address = ?'),
  add: database.prepare(
    `INSERT INTO contracts (chain, address, block, failures, due, forms, coin, nft, sample) VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8)
     ON CONFLICT DO UPDATE SET block = min(block, excluded.block), sample = excluded.sample, forms = forms | excluded.forms,
       coin = coin | (excluded.coin & ~forms), nft = nft | (excluded.nft & ~forms),
       due = CASE
         WHEN (excluded.forms & ~forms) <> 0 THEN excluded.due
         WHEN failures = 0 THEN due
         ELSE min(due, excluded.due + iif(failures < ${MAX_DOUBTS}, 0, ${DOUBTED_MS}))
       END`,
  ),
  earlier: database.prepare('UPDATE contracts SET block = min(block, ?) WHERE chain = ? AND address = ?'),
  due: database.prepare(
    'SELECT address FROM contracts WHERE chain = ? AND due <= ? ORDER BY due DESC LIMIT ?',
  ),
  next: database.prepare('SELECT min(due) AS next FROM contracts WHERE chain = ? AND due > ?'),
  keep: database.prepare(
    `UPDATE contracts SET name = ?, symbol = ?, decimals = ?, failures = ?, due = ?, attempts = ?, coin = ?7, nft = ?8, settled = ?9, differs = iif(coin = ?7 AND nft = ?8, differs, NULL)
     WHERE chain = ? AND address = ?`,
  ),
  forget: database.prepare('DELETE FROM contracts WHERE chain = ? AND block >= ?'),
  doubt: database.prepare(
    "UPDATE contracts SET due = ?, failures = 0 WHERE chain = ? AND (forms & ~settled) <> 0 AND sample ->> '$.block' >= ?",
  ),
  unsee: [
    database.prepare(
      `UPDATE contracts SET forms = forms & (settled | ${FORMS.asked}), coin = coin & (settled | ${FORMS.asked}), nft = nft & settled, failures = 0
       WHERE chain = ? AND address = ?`,
    ),
    database.prepare('DELETE FROM contracts WHERE chain = ? AND address = ? AND forms = 0'),
  ],
  doubtful: database.prepare(`SELECT 1 FROM contracts WHERE chain = ? AND ${MAY_HAVE_NFTS} LIMIT 1`),
  coins: database.prepare('SELECT * FROM contracts WHERE chain = ? AND coin <> 0 AND decimals IS NOT NULL'),
});

export const prepareDiffering = (database: DatabaseSync) => ({
  find: database.prepare('SELECT differs FROM contracts WHERE chain = ? AND address = ?'),
  some: database.prepare(
    'SELECT address FROM contracts WHERE chain = ? AND differs = 1 ORDER BY address LIMIT ?',
  ),
  open: database.prepare(
    `SELECT address FROM contracts WHERE chain = ? AND ${LEFT_OPEN} ORDER BY address LIMIT ?`,
  ),
  new: database.prepare(
    'SELECT address FROM contracts WHERE chain = ? AND differs IS NULL AND coin <> 0 AND decimals IS NOT NULL AND due IS NULL LIMIT ?',
  ),
  set: database.prepare(
    'UPDATE contracts SET differs = max(ifnull(differs, 0), ?) WHERE chain = ? AND address = ?',
  ),
});
