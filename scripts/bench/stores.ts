// Stores deliveries without HTTP: takes a Task, and answers with how many a second and how long each caller waited.
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { openRedisLog } from '../../src/deliveries/redis/log.ts';
import { WriteStore } from '../../src/deliveries/sqlite/appender.ts';
import { packDeliveries, unpackDeliveries } from '../../src/deliveries/sqlite/threads/packing.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { Times } from '../harness/figures.ts';
import { answerParent } from '../harness/processes.ts';
import { deliveryOf } from './delivery.ts';

export type Task = {
  /** Null for SQLite, group-committed. */
  readonly redisUrl: string | null;
  /** `log`: by the code of the delivery log. `bare`: the body, and in SQLite a unique hash of it. */
  readonly rows: 'log' | 'bare';
  readonly inFlight: number;
  readonly ms: number;
};

/** Stores the delivery with this number. */
type Append = (number: number) => Promise<unknown>;
type Stores = Readonly<Record<Task['rows'], Append>>;

const openRedis = async (url: string): Promise<Stores> => {
  const redis = await connectRedis({ urls: [url] });
  const log = await openRedisLog({ redis, retentionHours: 168, retentionCount: 1_000_000 });
  return {
    log: (number) => log.append([deliveryOf(number)]),
    bare: (number) => redis.send('bare', ['XADD', 'bare', '*', 'b', deliveryOf(number).body]),
  };
};

/** What is asked for within a turn of the event loop is one transaction. */
const grouped = (commit: (numbers: readonly number[]) => void): Append => {
  let waiting: { readonly number: number; readonly resolve: () => void }[] = [];
  const commitWaiting = () => {
    const taken = waiting;
    waiting = [];
    commit(taken.map(({ number }) => number));
    for (const { resolve } of taken) resolve();
  };
  return (number) =>
    new Promise<void>((resolve) => {
      if (waiting.push({ number, resolve }) === 1) setImmediate(commitWaiting);
    });
};

const openSqlite = (): Stores => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const store = new WriteStore(join(directory, 'log.db'), { create: true, check: false });
  const database = new DatabaseSync(join(directory, 'bare.db'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE delivery (sequence INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT`);
  const insert = database.prepare(
    'INSERT INTO delivery (identity, body) VALUES (?, ?) ON CONFLICT (identity) DO NOTHING',
  );
  return {
    log: grouped((numbers) => {
      const deliveries = packDeliveries(numbers.map(deliveryOf));
      store.transaction(() => store.appender.append(unpackDeliveries(deliveries)));
    }),
    bare: grouped((numbers) => {
      database.exec('BEGIN IMMEDIATE');
      for (const { body } of numbers.map(deliveryOf)) insert.run(hash('sha256', body, 'buffer'), body);
      database.exec('COMMIT');
    }),
  };
};

let opened: Stores | null = null;
let next = 0;

/** Each caller appends a new delivery, and another one once that is stored. */
answerParent(async ({ redisUrl, rows, inFlight, ms }: Task) => {
  opened ??= redisUrl === null ? openSqlite() : await openRedis(redisUrl);
  const append = opened[rows];
  const times = new Times();
  const started = performance.now();
  const call = async (): Promise<void> => {
    for (let now = performance.now(); now < started + ms; ) {
      await append(next++);
      const end = performance.now();
      times.add(end - now);
      now = end;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, call));
  const summary = times.summary();
  return { ...summary, rate: (summary.count / (performance.now() - started)) * 1000 };
});
