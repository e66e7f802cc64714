import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findProgram, REDIS } from '../debian-program.ts';
import { root } from '../pages.ts';

export const findRedisCli = async () => {
  const program = await findProgram(REDIS);
  if (typeof program === 'string') throw new Error(program);
  return { path: program.path.replace('redis-server', 'redis-cli'), env: program.env };
};

/** Starts the script deploy/redis/failover as it is. */
export const startFailover = async (args: readonly string[], env: Record<string, string> = {}) => {
  const client = await findRedisCli();
  const child = spawn(join(root, 'deploy/redis/failover'), args, {
    env: { ...client.env, REDIS_CLI: client.path, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (some: string) => {
    said += some;
  });
  const ended = once(child, 'close').then(([code]) => ({ said, code }));
  return { ended, hasSaid: (text: string) => said.includes(text), stop: () => child.kill('SIGTERM') };
};

/** Runs it to its end. */
export const failOver = async (...given: Parameters<typeof startFailover>) =>
  (await startFailover(...given)).ended;
