import process from 'node:process';
import { runContract } from './command.ts';

/** `npm run contract`. It deletes what it has made when it is interrupted, too. */

const interrupted = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => interrupted.abort());
// A reader that has seen enough, such as `head`, closes it.
process.stdout.on('error', () => interrupted.abort());
process.exitCode = await runContract(process.argv.slice(2), {
  env: process.env,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  signal: interrupted.signal,
});
