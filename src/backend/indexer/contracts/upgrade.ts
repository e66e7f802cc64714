import type { DatabaseSync } from 'node:sqlite';
import type { Hex } from '../../types.ts';
import { bytesOf, decodeTransaction } from '../blocks/encoding.ts';
import type { ParsedTransaction } from '../blocks/parse.ts';
import { FORMS, UNASKED } from '../blocks/readings.ts';
import {
  blockOf,
  indexOf,
  numberOf,
  transactionId,
  transactionsOf,
  UNSETTLED,
} from '../database/database.ts';
import { formsIn, sampleOf } from './seen.ts';

/**
 * The release before read the logs of all contracts alike, by what they look like. What it has stored is read again, once for each
 * contract that may be something else, as soon as that was asked.
 */

/** How the release before read logs: any Deposit was a mint. */
const BEFORE = { coin: FORMS.amount | FORMS.wrapping, nft: UNASKED.nft };

/** The formats of which the transactions can be read. */
const READABLE = [2, 3];

const COLUMNS = `
  ALTER TABLE contracts ADD COLUMN forms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE contracts ADD COLUMN coin INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE contracts ADD COLUMN nft INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE contracts ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE contracts ADD COLUMN sample TEXT;
  UPDATE contracts SET forms = CASE standard WHEN 'erc20' THEN ${FORMS.amount} WHEN 'erc721' THEN ${FORMS.id} ELSE ${FORMS.multi} END;
  UPDATE contracts SET coin = forms & ${BEFORE.coin}, nft = forms & ${BEFORE.nft};
  ALTER TABLE contracts DROP COLUMN standard`;

/** What is found of a contract in the transactions of a chain. */
type Found = { forms: number; readonly settled: number; readonly first: number; last: bigint };

/** Adds the columns of readings to the table of contracts. It reads all transactions, and must run in a transaction. */
export const addReadings = (database: DatabaseSync): void => {
  database.exec(COLUMNS);
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (!READABLE.includes(version)) return;
  database.exec(UNSETTLED);
  for (const { slot, id } of database.prepare('SELECT slot, id FROM chains').all())
    addChain(database, Number(slot), Number(id));
};

const addChain = (database: DatabaseSync, slot: number, chainId: number): void => {
  const find = database.prepare('SELECT decimals, due FROM contracts WHERE chain = ? AND address = ?');
  const wait = database.prepare('INSERT OR IGNORE INTO unsettled VALUES (?, ?, 0)');
  const bodies = database.prepare('SELECT id, body FROM transactions WHERE id >= ? AND id < ? ORDER BY id');
  const contracts = new Map<Hex, Found>();
  /** What its answers settle already: what has decimals means amounts, and what has none means ids. */
  const settledBy = (address: Hex): number => {
    const { decimals = null, due = 0 } = find.get(chainId, bytesOf(address)) ?? {};
    if (decimals !== null) return FORMS.amount | FORMS.multi;
    return due === null ? FORMS.id | FORMS.multi : FORMS.multi;
  };
  for (const { id, body } of bodies.iterate(...transactionsOf(slot))) {
    const transaction = transactionIn(id, body);
    if (transaction === null || typeof id !== 'bigint') continue;
    for (const [address, forms] of formsIn({ transactions: [transaction] })) {
      const first = numberOf(blockOf(id));
      const found = contracts.get(address) ?? { forms: 0, settled: settledBy(address), first, last: id };
      contracts.set(address, found);
      found.forms |= forms;
      if ((forms & ~found.settled) === 0) continue;
      found.last = id;
      wait.run(bytesOf(address), id);
    }
  }
  const add = database.prepare(
    `INSERT INTO contracts (chain, address, block, failures, due, forms, coin, nft, settled, sample)
     VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9)
     ON CONFLICT DO UPDATE SET forms = ?5, coin = ?6, nft = ?7, settled = ?8, sample = ?9, due = ifnull(?4, due)`,
  );
  const inBlock = database.prepare('SELECT id, body FROM transactions WHERE id >= ? AND id < ?');
  for (const [address, { forms, settled, first, last }] of contracts) {
    const isOpen = (forms & ~settled) !== 0;
    const block = blockOf(last);
    const transactions = isOpen
      ? inBlock
          .all(transactionId(block, 0), transactionId(block + 1n, 0))
          .flatMap(({ id, body }) => transactionIn(id, body) ?? [])
      : [];
    const sample = JSON.stringify(sampleOf([{ number: numberOf(block), transactions }], address));
    const read = [forms, BEFORE.coin & forms, BEFORE.nft & forms, settled & forms];
    add.run(chainId, bytesOf(address), first, isOpen ? 0 : null, ...read, sample);
  }
};

const transactionIn = (id: unknown, body: unknown): ParsedTransaction | null =>
  typeof id === 'bigint' && body instanceof Uint8Array ? decodeTransaction(body, indexOf(id)) : null;
