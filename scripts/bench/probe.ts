/** Loaded into a server under measurement: tells its resident memory, after a full collection of garbage. */
process.on('message', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.(process.memoryUsage.rss());
});
// Waiting for questions keeps no server alive.
process.channel?.unref();
