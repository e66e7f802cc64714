// Group-committed SQLite in this process alone, without HTTP or threads. Takes a JSON line of Task, answers with one
// of Measured.
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { WriteStore } from '../../src/deliveries/sqlite/appender.ts';
import { packDeliveries, unpackDeliveries } from '../../src/deliveries/sqlite/threads/packing.ts';
import { concernedBy, deliveryBody, WEBHOOK } from './delivery.ts';
import { type Measured, summary } from './posts.ts';

/** `log`: with the rows, indexes and code of the delivery log. `bare`: a number, the body and a unique hash of it. */
export type Task = { readonly rows: 'log' | 'bare'; readonly inFlight: number; readonly ms: number };

/** Stores those of these numbers in one transaction. */
type Commit = (numbers: readonly number[]) => void;

const directory = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const logCommit = (): Commit => {
  const { transaction, appender } = new WriteStore(join(directory, 'log.db'), {
    create: true,
    check: false,
  });
  return (numbers) => {
    const deliveries = numbers.map((number) => ({
      tenant: 'default',
      webhookId: WEBHOOK,
      type: 'activities' as const,
      chainId: 8453,
      receivedAt: Date.now(),
      dispatchedAt: 1_767_323_045_678,
      attempt: 0,
      body: deliveryBody(number),
      addresses: concernedBy(number),
      subscribedAddress: null,
    }));
    transaction(() => appender.append(unpackDeliveries(packDeliveries(deliveries))));
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
    for (const number of numbers) {
      const body = deliveryBody(number);
      insert.run(hash('sha256', body, 'buffer'), body);
    }
    database.exec('COMMIT');
  };
};

/** What is asked for within a turn of the event loop is one transaction; each caller asks again once it is answered. */
const measure = async (commit: Commit, { inFlight, ms }: Task): Promise<Measured> => {
  let waiting: { readonly number: number; readonly resolve: () => void }[] = [];
  const commitWaiting = () => {
    const taken = waiting;
    waiting = [];
    commit(taken.map(({ number }) => number));
    for (const { resolve } of taken) resolve();
  };
  const append = (number: number): Promise<void> =>
    new Promise((resolve) => {
      if (waiting.push({ number, resolve }) === 1) setImmediate(commitWaiting);
    });
  const times: number[] = [];
  const started = performance.now();
  const callers = Array.from({ length: inFlight }, async () => {
    for (let now = performance.now(); now < started + ms; ) {
      await append(next++);
      const end = performance.now();
      times.push(end - now);
      now = end;
    }
  });
  await Promise.all(callers);
  return summary(times, performance.now() - started);
};

let next = 0;
const commits = { log: logCommit(), bare: bareCommit() };
for await (const line of createInterface({ input: process.stdin })) {
  const task: Task = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await measure(commits[task.rows], task))}\n`);
}
