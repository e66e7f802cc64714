/** Runs before the gateway: its clock goes slowly, and its timers of a second and more are as much longer. */
const SLOW = `
const SLOWER = 10;
performance.now = ((now) => () => now() / SLOWER)(performance.now.bind(performance));
globalThis.setTimeout = ((set) => (run, ms, ...more) =>
  set(run, ms >= 1000 ? Math.min(ms * SLOWER, 2 ** 31 - 1) : ms, ...more))(setTimeout);
`;

/** In NODE_OPTIONS of a gateway: on a busy machine a test takes longer than what the gateway allows clients and itself. */
export const UNHURRIED = `--import=data:text/javascript,${encodeURIComponent(SLOW)}`;
