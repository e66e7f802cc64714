import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { openWebhooks } from './stored-webhooks.ts';

/**
 * Adds blocks and delivers them until it is killed: `node delivering-process.ts FOLDER`. Each block is counted in the
 * transaction that adds it, and printed after it.
 */
const { database, add } = openWebhooks(process.argv[2] ?? '', { retries: { firstMs: 20, factor: 1 } });
database.exec('CREATE TABLE IF NOT EXISTS added (number INTEGER PRIMARY KEY)');
const last = database.prepare('SELECT coalesce(max(number), 0) AS last FROM added').get();
const count = database.prepare('INSERT INTO added VALUES (?)');

for (let number = Number(last?.last) + 1; ; number++) {
  add(number, () => void count.run(number));
  process.stdout.write(`${number}\n`);
  await setImmediate();
}
