// Preloaded into a server under measurement: at SIGUSR2 it collects all garbage, so that memory is what is in use, and says
// what is left of its heap: `{"msg":"collected","heapBytes":…}`.
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: NonNullable<typeof globalThis.gc> = runInNewContext('gc');
process.on('SIGUSR2', async () => {
  // What a collection frees goes back to the system only a while later.
  for (let round = 0; round < 3; round += 1) {
    // The kind that gives back what the heap has grown by and no longer needs.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await pause(500);
  }
  const { heapUsed: heapBytes } = process.memoryUsage();
  process.stderr.write(`${JSON.stringify({ msg: 'collected', heapBytes })}\n`);
});
