import { openSync, writeSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/** Loaded into each thread before anything else: it adds a byte to a file for every statement that SQLite is asked. */
const file = openSync(process.env.COUNTED_STATEMENTS ?? '/dev/null', 'a');

const counted = <Arguments extends unknown[], Result>(
  ask: (this: never, ...taken: Arguments) => Result,
): ((...taken: Arguments) => Result) =>
  function (this: unknown, ...taken: Arguments): Result {
    writeSync(file, '.');
    return Reflect.apply(ask, this, taken);
  };

const { all, get, iterate, run } = StatementSync.prototype;
Object.assign(StatementSync.prototype, {
  all: counted(all),
  get: counted(get),
  iterate: counted(iterate),
  run: counted(run),
});
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = counted(exec);
