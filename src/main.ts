import { availableParallelism } from 'node:os';
import process from 'node:process';
import { isatty } from 'node:tty';
import type { IndexService } from './app/index-service.ts';
import type { App } from './app.ts';
import {
  describeConfiguration,
  describeFailure,
  describeService,
  HELP,
  type LogCommand,
  readCommand,
} from './cli/options.ts';
import { type Config, ConfigError, readConfig } from './config/config.ts';
import { deprecatedVariables, VARIABLES } from './config/table.ts';
import { unknownVariables } from './config/unknown-variables.ts';
import type { Variables } from './config/variable.ts';
import { SERVICE_VARIABLES } from './config/variables/index-of-chains.ts';
import { readVersion } from './config/version.ts';
import { SHUTDOWN_TIMES, type ShutdownTimes, shutdownMs } from './lib/deadlines.ts';
import { stackOf } from './lib/errors.ts';
import { createLog, LOG_FORMATS, type Log, type LogFormat, type LogLevel } from './lib/log.ts';
import type { Machine } from './workers/worker.ts';

/** The one place that touches the process: its environment, its signals, its exit code. */

/** All parts of the shutdown end by the deadline. A part that is still running this long after it has failed. */
const OVERDUE_MS = 500;

const start = async (): Promise<void> => {
  // Everything that the gateway writes, including SQLite's files, is only for its own user.
  process.umask(0o077);
  const config = readConfig(process.env);
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  if (count > 1 && (await import('node:cluster')).default.isWorker) return work(config);
  const log = createLog(config.logLevel, writeLine, formatOf(args));
  const app = await (count > 1 ? startWorkers(config, count, log) : startGateway(config, log));
  handleSignals(app, config, log);
  warnOfNames(log);
  // The line is written when signals are handled: a supervisor may stop the gateway as soon as it reads it.
  log.info('listening', { url: app.url, version: readVersion(), ...(count > 1 && { workers: count }) });
  void app.checkKey();
  if (config.upstream.url === null && config.console.isOn)
    process.stdout.write(`The console is at ${app.url}, over ${describeSource(config)}\n`);
};

/** Names that are nearly right, without which the gateway may do something else, such as serving a sandbox; and old ones. */
const warnOfNames = (log: Log): void => {
  const variables = variablesOf(args);
  for (const variable of unknownVariables(process.env, Object.keys(variables)))
    log.warn('unknown environment variable', variable);
  for (const variable of deprecatedVariables(process.env, variables))
    log.warn('deprecated environment variable', variable);
};

const writeLine = (line: string) => process.stderr.write(line);

// Both are loaded here, so that problems of the configuration are reported first.

const startGateway = async (config: Config, log: Log, machine: Machine | null = null): Promise<App> => {
  const { startApp } = await import('./app.ts');
  const { readPathOf } = await import('./app/startup.ts');
  return startApp(config, log, { readPath: readPathOf(process.env.READ_PATH), machine });
};

const startWorkers = async (config: Config, count: number, log: Log): Promise<App> =>
  (await import('./app/workers.ts')).startWorkers(config, count, log);

/** Runs the gateway of one worker. The primary says for all workers that they listen, and what keeps them from it. */
const work = async (config: Config): Promise<void> => {
  const { joinPrimary, shareOf } = await import('./workers/worker.ts');
  const machine = await joinPrimary();
  const log = createLog(config.logLevel, writeLine, formatOf(args), { worker: machine.number });
  try {
    const share = shareOf(config, machine);
    const app = await startGateway(share, log, machine);
    handleSignals(app, share, log, 'debug');
    await machine.listening(app.url);
    if (machine.number === 1) void app.checkKey();
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : null;
    await machine.failed({ problems, stack: stackOf(error) });
    process.exit(1);
  }
};

const describeSource = ({ indexed }: Config): string =>
  indexed === null
    ? 'the sandbox, whose data is simulated. docs/sandbox.md lists its wallets.'
    : `the index of ${indexed.chains.length === 1 ? 'chain' : 'the chains'} ${indexed.chains.map(({ id }) => id).join(', ')}.`;

/** Lets signals stop the gateway, or reload. `level` is that of its lines about the shutdown. */
const handleSignals = (app: App, { shutdown }: Config, log: Log, level: LogLevel = 'info'): void => {
  let isStopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log[level]('stopping', { signal });
    exitWhenOverdue(log, shutdown);
    // SIGINT comes from a terminal, where a person waits. SIGTERM comes from an orchestrator whose load balancer has to notice first.
    if (signal === 'SIGTERM') await app.beginShutdown();
    await app.stop();
    log[level]('stopped');
    process.exit(0);
  };
  const stopOnce = (signal: NodeJS.Signals): void => {
    // npm forwards a signal that the whole process group has already received. The repeat must not cut the shutdown short.
    if (isStopping) return;
    isStopping = true;
    stop(signal).catch((error: unknown) => {
      log.error('stop failed', { error: stackOf(error) });
      process.exit(1);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stopOnce);
  const hadTerminal = isatty(process.stderr.fd);
  process.on('SIGHUP', () => {
    if (hadTerminal && !isatty(process.stderr.fd)) {
      // The terminal was closed: the same signal says so, and log lines can no longer be written.
      process.stderr.on('error', () => {});
      stopOnce('SIGHUP');
    } else if (!isStopping) void app.reload();
  });
};

const exitWhenOverdue = (log: Log, times: ShutdownTimes): void => {
  setTimeout(() => {
    log.error('shutdown timed out');
    process.exit(1);
  }, shutdownMs(times) + OVERDUE_MS);
};

/** Serves an index of chains, without a gateway. */
const serve = async (): Promise<void> => {
  process.umask(0o077);
  const log = createLog('info', writeLine, formatOf(args));
  const { startIndexService } = await import('./app/index-service.ts');
  const service = await startIndexService(process.env, log);
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      void stopService(service, log, signal);
    });
  warnOfNames(log);
  log.info('listening', { url: service.url });
};

const stopService = async (service: IndexService, log: Log, signal: NodeJS.Signals): Promise<void> => {
  log.info('stopping', { signal });
  exitWhenOverdue(log, SHUTDOWN_TIMES);
  await service.stop();
  log.info('stopped');
  process.exit(0);
};

const run = async (args: readonly string[]): Promise<void> => {
  const command = readCommand(args);
  if (command === 'start') return start();
  if (command === 'service') return serve();
  if (typeof command === 'object') return runOnLog(command);
  if (command === 'check token') {
    const { describeToken } = await import('./cli/check-token.ts');
    process.stdout.write(await describeToken(process.env, process.stdin, writeLine));
  } else if (command === 'check' || command === 'check service') {
    const describe = command === 'check' ? describeConfiguration : describeService;
    process.stdout.write(await describe(process.env, (line) => writeLine(`${line}\n`)));
  } else process.stdout.write(`${command === 'help' ? HELP : readVersion()}\n`);
};

const runOnLog = async (command: LogCommand): Promise<void> => {
  process.umask(0o077);
  // Loaded here: a start needs none of it.
  const { runLogCommand } = await import('./cli/log.ts');
  // A reader that has seen enough, such as `head`, closes it.
  process.stdout.once('error', () => process.exit(1));
  await runLogCommand(command, process.env, {
    result: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
    progress: (text) => process.stderr.write(text),
  });
};

/** A check or a command is always read by a person; a start may be read by a supervisor. */
const formatOf = (args: readonly string[]): LogFormat => {
  const set = LOG_FORMATS.find((format) => format === process.env.LOG_FORMAT);
  return set ?? (process.stderr.isTTY || args.includes('--check') || args[0] === 'log' ? 'text' : 'json');
};

/** The variables that the program reads. */
const variablesOf = ([command]: readonly string[]): Variables =>
  command === 'service' ? SERVICE_VARIABLES : VARIABLES;

const args = process.argv.slice(2);
run(args).catch((error: unknown) => {
  process.stderr.write(
    describeFailure(error, formatOf(args), unknownVariables(process.env, Object.keys(variablesOf(args)))),
  );
  process.exit(1);
});
