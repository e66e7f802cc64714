import type { Progress } from '../../explorer/live/progress.ts';
import { bytesOf, hexOf } from '../blocks/encoding.ts';
import { type IndexDatabase, inTransaction } from './database.ts';

/**
 * Table `watched`: the block up to which everything of an address was told. Table `watching_spent`: the credits of the last day,
 * which is counted from 1970.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS watched (
    chain INTEGER NOT NULL,
    address BLOB NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (chain, address)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS watching_spent (day INTEGER PRIMARY KEY, credits INTEGER NOT NULL) STRICT;
`;

/** The progress of watched addresses, in the database of the webhooks: in one transaction with the deliveries of what is told. */
export const createLiveProgress = (database: IndexDatabase): Progress => {
  database.exec(SCHEMA);
  const find = database.prepare('SELECT block FROM watched WHERE chain = ? AND address = ?');
  const write = database.prepare('INSERT OR REPLACE INTO watched VALUES (?, ?, ?)');
  const all = database.prepare('SELECT chain, address FROM watched');
  const forget = database.prepare('DELETE FROM watched WHERE chain = ? AND address = ?');
  const spent = database.prepare('SELECT credits FROM watching_spent WHERE day = ?');
  const forgetDays = database.prepare('DELETE FROM watching_spent WHERE day <> ?');
  const spend = database.prepare(
    'INSERT INTO watching_spent VALUES (?1, ?2) ON CONFLICT DO UPDATE SET credits = credits + ?2',
  );
  return {
    toldUpTo(chainId, address) {
      const row = find.get(chainId, bytesOf(address));
      return row === undefined ? null : Number(row.block);
    },
    tell(chainId, address, block, tell) {
      inTransaction(database, () => {
        tell();
        write.run(chainId, bytesOf(address), block);
      });
    },
    forgetOthers(isWatched) {
      inTransaction(database, () => {
        for (const { chain, address } of all.all())
          if (address instanceof Uint8Array && !isWatched(Number(chain), hexOf(address)))
            forget.run(chain ?? 0, address);
      });
    },
    spentOn: (day) => Number(spent.get(day)?.credits ?? 0),
    spend(day, credits) {
      inTransaction(database, () => {
        forgetDays.run(day);
        spend.run(day, credits);
      });
    },
  };
};
