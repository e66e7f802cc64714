import type { ChildProcess } from 'node:child_process';
import { deliveryUrlOf } from './delivery.ts';
import { startServer } from './processes.ts';

/** A gateway in a process of its own, and where it takes deliveries. */
export type Gateway = { readonly child: ChildProcess; readonly port: number; readonly path: string };

/** Starts the gateway with a log in DATA_DIR, or on REDIS_URL. A service that is not there is all that deliveries need. */
export const startGateway = async (
  env: { readonly DATA_DIR: string } | { readonly REDIS_URL: string },
): Promise<Gateway> => {
  const { child, url } = await startServer('src/main.ts', {
    HOST: '127.0.0.1',
    PORT: '0',
    UPSTREAM_URL: 'http://127.0.0.1:9',
    UPSTREAM_API_KEY: 'none-is-asked',
    LOG_LEVEL: 'info',
    ...env,
  });
  return { child, port: Number(new URL(url).port), path: (await deliveryUrlOf(url)).pathname };
};
