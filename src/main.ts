import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { type App, startApp } from './app.ts';
import { ConfigError, readConfig } from './config/config.ts';
import { unknownVariables } from './config/environment.ts';
import { createLog, type Log } from './logger.ts';

/** The one place that touches the process: its environment, its signals, its exit code. */

const STOP_WITHIN_MS = 9000;

/**
 * Else V8 may take the first requests for things that stay, and from then on put a part of each request where those
 * belong, which keeps the rest of it from being freed: the heap is nearly three times as big, and a delivery takes up to
 * half as much work again. It comes to that in most runs, and in some it does not.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

const start = async (): Promise<void> => {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, (line) => process.stderr.write(line));
  const app = await startApp(config, log);
  let isStopping = false;
  // npm passes on to it what its whole process group gets: the repeat must not end what the first one lets finish.
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      void stop(app, log, signal);
    });
  const names = unknownVariables(process.env);
  if (names.length > 0) log.warn('what is set has no effect', { names });
  // From here on it can be stopped, and says so.
  log.info('listening', { url: app.url });
  void app.checkKey();
  if (config.upstream.url === null && !config.production && config.trustedDocuments === null)
    process.stdout.write(
      `GraphiQL is at ${app.url}/graphql, over a sandbox of the service. docs/sandbox.md lists its wallets.\n`,
    );
};

const stop = async (app: App, log: Log, signal: NodeJS.Signals): Promise<void> => {
  log.info('stopping', { signal });
  const overdue = setTimeout(() => {
    log.error('stopping took too long');
    process.exit(1);
  }, STOP_WITHIN_MS);
  // Who stops it by hand waits for it; a balancer has to notice first.
  if (signal === 'SIGTERM') await app.retire();
  await app.stop();
  clearTimeout(overdue);
  log.info('stopped');
  process.exit(0);
};

start().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? refusalOf(error) : describe(error)}\n`);
  process.exit(1);
});

/** What is missing may be there under a name that is misspelled. */
const refusalOf = ({ message }: ConfigError): string => {
  const names = unknownVariables(process.env);
  return names.length > 0 ? `${message}\nSet, but without effect: ${names.join(', ')}` : message;
};

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
