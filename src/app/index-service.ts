import { ConfigError } from '../config/config.ts';
import type { Log } from '../lib/log.ts';
import { readServiceConfig } from '../service/indexed/config.ts';
import { startIndexed } from '../service/indexed/indexed.ts';
import { indexLog, startProblem } from './index-thread.ts';

/** The service over an index of chains, for gateways elsewhere. */
export type IndexService = Awaited<ReturnType<typeof startIndexService>>;

/** Starts it, and follows its chains. Rejects with ConfigError, which has every problem. */
export const startIndexService = async (env: Readonly<Record<string, string | undefined>>, log: Log) => {
  const config = readServiceConfig(env);
  if (!('chains' in config)) throw new ConfigError(config);
  const service = await startIndexed({ ...config, log: indexLog(log) }).catch((error: unknown) => {
    throw startProblem(error);
  });
  service.follow();
  return service;
};
