// Stores deliveries in a Redis, without HTTP: takes a Task, answers with what `measureCallers` returns.
import { openRedisLog } from '../../src/deliveries/redis/log.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { answerParent } from '../harness/processes.ts';
import { measureCallers } from './callers.ts';
import { deliveryOf } from './delivery.ts';

/** `log`: by the code of the delivery log. `bare`: each body by an XADD of its own, over the same client. */
export type Task = {
  readonly url: string;
  readonly rows: 'log' | 'bare';
  readonly inFlight: number;
  readonly ms: number;
};

const open = async (url: string) => {
  const redis = await connectRedis({ urls: [url] });
  const log = await openRedisLog({ redis, retentionHours: 168, retentionCount: 1_000_000 });
  return {
    log: (number: number) => log.append([deliveryOf(number)]),
    bare: (number: number) => redis.send('bare', ['XADD', 'bare', '*', 'b', deliveryOf(number).body]),
  };
};

let opened: ReturnType<typeof open> | null = null;

answerParent(async ({ url, rows, inFlight, ms }: Task) => {
  opened ??= open(url);
  return measureCallers(inFlight, ms, (await opened)[rows]);
});
