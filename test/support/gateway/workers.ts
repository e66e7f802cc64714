import { readFile } from 'node:fs/promises';
import { eventually } from '../clients/subscribe.ts';
import { PROGRAM, spawnGateway } from './spawn.ts';

/**
 * A shipped gateway with two workers on this Redis. A service that is not there is all that deliveries need. `under`: see
 * `spawnGateway`.
 */
export const spawnWorkers = async (
  redisUrl: string,
  env: Record<string, string> = {},
  under: readonly string[] = [],
) => {
  const settings = {
    UPSTREAM_URL: 'http://127.0.0.1:9',
    UPSTREAM_API_KEY: 'unused',
    AUTH: 'open',
    REDIS_URL: redisUrl,
    WORKERS: '2',
    ...env,
  };
  const gateway = await spawnGateway(settings, PROGRAM, under);
  const primary = gateway.child.pid ?? 0;
  return {
    ...gateway,
    /** The process ids of its workers. */
    async pids(): Promise<readonly number[]> {
      const children = await readFile(`/proc/${primary}/task/${primary}/children`, 'utf8');
      return children.split(' ').filter(Boolean).map(Number);
    },
    /** The lines of the log with this message. */
    said: (msg: string): readonly Record<string, unknown>[] =>
      gateway.lines.map((line) => JSON.parse(line)).filter((line) => line.msg === msg),
    /** Resolves once as many workers have been started again. */
    async restarted(count: number): Promise<void> {
      await eventually(
        () => this.said('worker started').length >= count,
        () => gateway.lines.join('\n'),
      );
    },
  };
};
