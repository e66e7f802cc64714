// Preloaded into a gateway: records the long turns of its event loop, and writes them to LOOP_PROBE when it ends.
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';
import { recordTurns } from './loop.ts';

const file = process.env.LOOP_PROBE;
if (isMainThread && file) {
  const turns = recordTurns();
  process.once('exit', () => writeFileSync(file, JSON.stringify(turns)));
}
