import { setTimeout as pause } from 'node:timers/promises';

/** Loaded into a server under measurement: answers with its resident memory, after full collections of garbage. */
process.on('message', async () => {
  // What a collection frees goes back to the system only a while later.
  for (let round = 0; round < 3; round += 1) {
    // The kind that gives back what the heap has grown by and no longer needs.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await pause(500);
  }
  process.send?.(process.memoryUsage.rss());
});
// Waiting for questions keeps no server alive.
process.channel?.unref();
