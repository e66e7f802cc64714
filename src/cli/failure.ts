import { ConfigError } from '../config/config.ts';
import { unknownVariables } from '../config/environment.ts';
import { createLog, type LogFormat } from '../lib/log.ts';
import { USAGE, UsageError } from './options.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Describes why the program ends: as a line of the log for a supervisor that reads it, or for a person. `env` is searched
 * for variables that the gateway does not know, because a missing one may be there under a misspelled name.
 */
export const describeFailure = (error: unknown, format: LogFormat, env: Environment): string =>
  format === 'json' ? lineOf(error, env) : `${textOf(error, env)}\n`;

const lineOf = (error: unknown, env: Environment): string => {
  let line = '';
  const log = createLog('error', (text) => {
    line = text;
  });
  if (error instanceof ConfigError)
    log.error('the configuration has problems', { problems: error.problems, unknown: unknownVariables(env) });
  else if (error instanceof UsageError) log.error(error.message, { usage: USAGE });
  else log.error('start failed', { error: stackOf(error) });
  return line;
};

const textOf = (error: unknown, env: Environment): string => {
  if (error instanceof UsageError) return `${error.message}\n${USAGE}`;
  if (!(error instanceof ConfigError)) return stackOf(error);
  const names = unknownVariables(env);
  return names.length > 0
    ? `${error.message}\nUnknown environment variables: ${names.join(', ')}`
    : error.message;
};

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
