import { sleep } from '../clients/queries.ts';
import { spawnGateway } from './spawn.ts';

/** A shipped gateway, which is started again until it runs: without Redis it exits, as at any supervisor. */
export const superviseGateway = async (env: Record<string, string>) => {
  const start = async () => {
    for (;;) {
      try {
        return await spawnGateway(env);
      } catch (error) {
        if (!/exited with 1: .*REDIS_URL/s.test(String(error))) throw error;
        await sleep(50);
      }
    }
  };
  let running = await start();
  let isRunning = true;
  /** Ends it as a crash does. */
  const kill = async (): Promise<void> => {
    isRunning = false;
    await running.end('SIGKILL');
  };
  return {
    /** Null while it does not run: another process may get its port. */
    get url(): string | null {
      return isRunning ? running.url : null;
    },
    kill,
    /** Resolves once it runs again. */
    async killAndRestart(): Promise<void> {
      await kill();
      running = await start();
      isRunning = true;
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
};
