import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../../test/support/free-port.ts';
import { spawnGateway } from '../../../test/support/gateway/spawn.ts';

const BLOCK_MS = '500';

/**
 * Starts the sandbox as a service of its own. Until `signal` aborts, it is killed every `everyMs` milliseconds and started again at
 * the same port.
 */
export const startRestartingService = async (everyMs: number, signal: AbortSignal) => {
  const env = { PORT: String(await freePort()), SANDBOX_BLOCK_MS: BLOCK_MS };
  const start = () => spawnGateway(env, 'src/sandbox/main.ts');
  let running = await start();
  let restarts = 0;
  const restart = async () => {
    for (;;) {
      await pause(everyMs, null, { signal }).catch(() => {});
      if (signal.aborted) return;
      await running.end('SIGKILL');
      running = await start();
      restarts += 1;
    }
  };
  const ended = restart();
  return {
    url: running.url,
    restarts: () => restarts,
    async [Symbol.asyncDispose]() {
      await ended;
      await running.end('SIGKILL');
    },
  };
};
