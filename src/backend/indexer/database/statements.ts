import type { DatabaseSync } from 'node:sqlite';

/** What the index reads and writes in its tables, but for those of holdings and of blocks that are not traced. */
export const prepareIndex = (database: DatabaseSync) => ({
  range: database.prepare(
    `SELECT start, (SELECT min(id) FROM blocks WHERE id >= ?2 AND id < ?3) AS lowest,
       (SELECT max(id) FROM blocks WHERE id >= ?2 AND id < ?3) AS highest
     FROM chains WHERE slot = ?1`,
  ),
  setStart: database.prepare('UPDATE chains SET start = ? WHERE slot = ?'),
  silentUntil: database.prepare('SELECT silent_until FROM chains WHERE slot = ?'),
  setSilentUntil: database.prepare('UPDATE chains SET silent_until = ? WHERE slot = ?'),
  block: database.prepare('SELECT hash, parent, time FROM blocks WHERE id = ?'),
  genesis: database.prepare('SELECT 1 FROM blocks WHERE id = ?'),
  addBlock: database.prepare('INSERT INTO blocks (id, hash, parent, time) VALUES (?, ?, ?, ?)'),
  dropBlock: database.prepare('DELETE FROM blocks WHERE id = ?'),
  addTransaction: database.prepare('INSERT INTO transactions VALUES (?, ?)'),
  transaction: database.prepare(
    `SELECT body, hash, time FROM transactions JOIN blocks ON blocks.id = transactions.id >> 20
     WHERE transactions.id = ?`,
  ),
  setTransaction: database.prepare('UPDATE transactions SET body = ? WHERE id = ?'),
  bodies: database.prepare('SELECT id, body FROM transactions WHERE id >= ? AND id < ?'),
  dropTransactions: database.prepare('DELETE FROM transactions WHERE id >= ? AND id < ?'),
  addAddress: database.prepare('INSERT INTO by_address VALUES (?, ?)'),
  dropAddress: database.prepare('DELETE FROM by_address WHERE address = ? AND id = ?'),
  history: database.prepare(
    `SELECT by_address.id, body, time FROM by_address JOIN transactions USING (id)
       JOIN blocks ON blocks.id = by_address.id >> 20
     WHERE address = ? AND by_address.id >= ? AND by_address.id < ? ORDER BY by_address.id DESC`,
  ),
});
