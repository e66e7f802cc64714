// Group-committed SQLite alone, without HTTP or threads: takes a Task, answers with what `measureCallers` returns.
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { WriteStore } from '../../src/deliveries/sqlite/appender.ts';
import { packDeliveries, unpackDeliveries } from '../../src/deliveries/sqlite/threads/packing.ts';
import { answerParent } from '../harness/processes.ts';
import { measureCallers } from './callers.ts';
import { deliveryOf } from './delivery.ts';

/** `log`: with the rows, indexes and code of the delivery log. `bare`: a number, the body and a unique hash of it. */
export type Task = { readonly rows: 'log' | 'bare'; readonly inFlight: number; readonly ms: number };

/** Stores those of these numbers in one transaction. */
type Commit = (numbers: readonly number[]) => void;

const directory = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const logCommit = (): Commit => {
  const store = new WriteStore(join(directory, 'log.db'), { create: true, check: false });
  return (numbers) => {
    const deliveries = packDeliveries(numbers.map(deliveryOf));
    store.transaction(() => store.appender.append(unpackDeliveries(deliveries)));
  };
};

const bareCommit = (): Commit => {
  const database = new DatabaseSync(join(directory, 'bare.db'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE delivery (sequence INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT`);
  const insert = database.prepare(
    'INSERT INTO delivery (identity, body) VALUES (?, ?) ON CONFLICT (identity) DO NOTHING',
  );
  return (numbers) => {
    database.exec('BEGIN IMMEDIATE');
    for (const { body } of numbers.map(deliveryOf)) insert.run(hash('sha256', body, 'buffer'), body);
    database.exec('COMMIT');
  };
};

const commits = { log: logCommit(), bare: bareCommit() };

/** What is asked for within a turn of the event loop is one transaction. */
answerParent(({ rows, inFlight, ms }: Task) => {
  let waiting: { readonly number: number; readonly resolve: () => void }[] = [];
  const commitWaiting = () => {
    const taken = waiting;
    waiting = [];
    commits[rows](taken.map(({ number }) => number));
    for (const { resolve } of taken) resolve();
  };
  const append = (number: number): Promise<void> =>
    new Promise((resolve) => {
      if (waiting.push({ number, resolve }) === 1) setImmediate(commitWaiting);
    });
  return measureCallers(inFlight, ms, append);
});
