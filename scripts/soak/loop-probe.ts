// Preloaded into a gateway: records the long turns of its event loop and what ran, and writes both when it ends.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';
import { recordTurns } from './loop.ts';

const SAMPLE_US = 5000;

const file = process.env.LOOP_PROBE;
if (isMainThread && file) {
  const turns = recordTurns();
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  session.post('Profiler.start');
  process.once('exit', () =>
    session.post('Profiler.stop', (_error, { profile }) =>
      writeFileSync(file, JSON.stringify({ turns, profile })),
    ),
  );
}
