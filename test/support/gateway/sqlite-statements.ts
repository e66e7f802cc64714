import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const COUNTER = new URL('./sqlite-statement-counter.ts', import.meta.url);

/** Counts what a process asks of SQLite, in all its threads. `folder` is where the count is kept. */
export const countStatements = (folder: string) => {
  const path = join(folder, 'statements');
  writeFileSync(path, '');
  return {
    /** For the process that is counted. */
    env: { NODE_OPTIONS: `--import=${COUNTER}`, COUNTED_STATEMENTS: path },
    /** How many there have been. */
    asked: () => statSync(path).size,
  };
};
