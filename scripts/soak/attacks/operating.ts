import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { deliveryPathOf, everythingStored, post } from '../../../test/support/gateway/on-redis.ts';
import { spawnGateway } from '../../../test/support/gateway/spawn.ts';
import { launchRedis } from '../../../test/support/redis/server.ts';
import type { Attack } from './attack.ts';

const start = (env: Record<string, string>) =>
  spawnGateway({ UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'held', AUTH: 'open', ...env });

const startRedis = async (made: AsyncDisposableStack) => {
  const redis = await launchRedis();
  made.defer(() => redis.stop());
  return redis;
};

/** Posts the delivery until it is stored, as the service does. */
const store = async (
  gatewayUrl: string,
  path: string,
  number: number,
  signal: AbortSignal,
): Promise<void> => {
  while ((await post(gatewayUrl, path, number)) !== 200) await pause(100, undefined, { signal });
};

const emptiedRedis: Attack = {
  name: 'a Redis that is emptied',
  holds: 'its gateways keep their delivery URLs, and one that starts has the same',
  ends: /^one gateway$/,
  atOnce: 1,
  pauseMs: 5000,
  async prepare(_gatewayUrl, made) {
    const redis = await startRedis(made);
    const env = { REDIS_URL: redis.url };
    const running = made.use(await start(env));
    const path = await deliveryPathOf(running.url);
    return async (number, signal) => {
      await redis.run('FLUSHALL');
      await store(running.url, path, number, signal);
      await using next = await start(env);
      const statuses = [
        await post(next.url, path, number),
        await post(running.url, await deliveryPathOf(next.url), number),
      ];
      return statuses.every((status) => status === 200) ? 'one gateway' : `two: ${statuses.join(' and ')}`;
    };
  },
};

/** A day more than what is kept by default. */
const AHEAD_MS = 8 * 24 * 60 * 60 * 1000;
/** Longer than between two times that a log is trimmed. */
const TRIMMED_MS = 12_000;

/** A preload of a process whose clock is ahead. */
const CLOCK = `const Real = Date;
globalThis.Date = class extends Real {
  constructor(...parts) { parts.length > 0 ? super(...parts) : super(Real.now() + ${AHEAD_MS}); }
  static now() { return Real.now() + ${AHEAD_MS}; }
};`;
const WRONG = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK)}` };

const keptIn = async (gatewayUrl: string, number: number, signal: AbortSignal): Promise<string> => {
  await pause(TRIMMED_MS, undefined, { signal });
  return (await everythingStored(gatewayUrl)).includes(number) ? 'kept' : 'deleted';
};

const wrongClock: Attack = {
  name: 'a clock that is eight days ahead',
  holds: 'no log is deleted for it',
  ends: /^kept in (Redis|SQLite)$/,
  atOnce: 2,
  pauseMs: 1000,
  async prepare(_gatewayUrl, made) {
    const redis = await startRedis(made);
    const env = { REDIS_URL: redis.url };
    const running = made.use(await start(env));
    made.use(await start({ ...env, ...WRONG }));
    const path = await deliveryPathOf(running.url);
    const folder = await mkdtemp(join(tmpdir(), 'gateway-clock-'));
    made.defer(() => rm(folder, { recursive: true, force: true }));
    return async (number, signal) => {
      if (number % 2 === 0) {
        await store(running.url, path, number, signal);
        return `${await keptIn(running.url, number, signal)} in Redis`;
      }
      const log = { DATA_DIR: join(folder, String(number)) };
      await using before = await start(log);
      await store(before.url, await deliveryPathOf(before.url), number, signal);
      await before.end('SIGTERM');
      await using after = await start({ ...log, ...WRONG });
      return `${await keptIn(after.url, number, signal)} in SQLite`;
    };
  },
};

/** What goes wrong around a gateway: each attack has gateways of its own, beside the one with the honest clients. */
export const OPERATING: readonly Attack[] = [emptiedRedis, wrongClock];
