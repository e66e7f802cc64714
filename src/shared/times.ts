import type { RedisTimes } from '../redis/client.ts';

/** A lookup waits this long for a Redis that is slow, once. Then gateways go on without it until it answers again. */
export const SHARED_TIMES: RedisTimes = { commandMs: 500, connectMs: 5000, silentMs: 3000, pingMs: 1000 };
