import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ConfigError, configOf, readSettings } from '../config/config.ts';
import { readServiceConfig } from '../config/index-config.ts';
import { COMMON, deprecatedVariables, TRACES_NAMES, VARIABLES } from '../config/table.ts';
import { type UnknownVariable, unknownVariables } from '../config/unknown-variables.ts';
import {
  type Environment,
  readVariables,
  sentenceOf,
  shownValue,
  type Variables,
} from '../config/variable.ts';
import { SERVICE_VARIABLES } from '../config/variables/index-of-chains.ts';
import { messageOf, stackOf } from '../lib/errors.ts';
import { createLog, type LogFormat } from '../lib/log.ts';

/** Work on a delivery log, without a gateway. Places are what `placeOf` reads. */
export type LogCommand =
  | { readonly name: 'copy'; readonly from: string; readonly to: string }
  | { readonly name: 'reopen'; readonly log: string; readonly isForced: boolean }
  | { readonly name: 'backup'; readonly file: string }
  | { readonly name: 'restore'; readonly file: string }
  | { readonly name: 'export'; readonly tenant: string; readonly log: string | null }
  | { readonly name: 'delete'; readonly tenant: string; readonly log: string | null };

/** What the gateway's program is asked to do. */
export type Command =
  | ('start' | 'service' | 'check' | 'check service' | 'check token' | 'help' | 'version')
  | LogCommand;

/** What is wrong with the arguments. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was asked for has failed. The message says all that its user needs. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

const USAGE = `\
Usage: npm start -- [--check [--token] | --help | --version | log COMMAND]            in a checkout
       evm-graphql-gateway [--check [--token] | --help | --version | log COMMAND]     of a package`;

export const HELP = `${USAGE}

Starts the gateway, which runs until SIGTERM or SIGINT. Without UPSTREAM_URL and CHAINS it serves a
sandbox of the service.

  --check    Reads the configuration, prints what it understood of it, and ends with 0, or with 1 and every problem.
             It opens no port, writes no file, and asks neither the service nor Redis. It asks each node of CHAINS what it can do,
             and each of RECEIPTS for its chain, and tries each explorer of BLOCKSCOUT, after a line that says about how many credits that takes.
             With --token it reads a token from standard input instead, and prints how AUTH=jwt understands it: whose it is,
             and what it may do. It fetches the keys of JWT_JWKS_URL.
  --help     Prints this.
  --version  Prints the version.

Commands for the delivery log. FROM, TO and LOG are a folder, a URL of Redis, or DATA_DIR or REDIS_URL for that variable:

  log copy FROM TO          copies a log between a folder and Redis; one that broke begins anew. No gateway may run on either.
  log reopen LOG [--force]  makes a log usable again whose copy is given up; --force: whose copy was used, and all cursors expire
  log backup FILE           writes the log of DATA_DIR and its secrets to a new file, while a gateway may run
  log restore FILE          makes a log of a backup in DATA_DIR, which must have none
  log export TENANT [LOG]   prints the deliveries of a tenant as JSON lines, while gateways may run
  log delete TENANT [LOG]   deletes them; in a folder no gateway may run meanwhile

Another command serves gateways in the place of a hosted service:

  service [--check]         an index of CHAINS, at HOST and PORT (4100), for clients with API_KEY: docs/your-own-chain.md

Environment variables configure it, all of them optional. These matter most:

${COMMON.map(([name, variable]) => `  ${name.padEnd(16)}  ${sentenceOf(variable)}`).join('\n')}

docs/configuration.md lists all of them, docs/operations.md says how to run it, and docs/deploying.md has files for that.`;

const OPTIONS = {
  check: { type: 'boolean' },
  token: { type: 'boolean' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

/** Reads the arguments of the program. Throws UsageError. */
export const readCommand = (args: readonly string[]): Command => {
  const [first, ...rest] = args;
  if (first === 'log') return readLogCommand(rest);
  if (first === 'service' && rest.length === 0) return 'service';
  if (first === 'service' && rest.length === 1 && rest[0] === '--check') return 'check service';
  const { values } = parse({ args: [...args], options: OPTIONS });
  if (values.help) return 'help';
  if (values.check && values.version)
    throw new UsageError('Expected one of --check and --version, got both.');
  if (values.version) return 'version';
  if (values.token && !values.check) throw new UsageError('Expected --check beside --token, got none.');
  if (values.token) return 'check token';
  return values.check ? 'check' : 'start';
};

const LOG_OPTIONS = { force: { type: 'boolean' }, help: { type: 'boolean' } } as const;

const readLogCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parse({ args: [...args], options: LOG_OPTIONS, allowPositionals: true });
  if (values.help) return 'help';
  const [name, ...places] = positionals;
  const [first, second] = places;
  if (name === 'copy' && first !== undefined && second !== undefined && places.length === 2 && !values.force)
    return { name, from: first, to: second };
  if (name === 'reopen' && first !== undefined && places.length === 1)
    return { name, log: first, isForced: values.force ?? false };
  if (
    (name === 'backup' || name === 'restore') &&
    first !== undefined &&
    places.length === 1 &&
    !values.force
  )
    return { name, file: first };
  if ((name === 'export' || name === 'delete') && first !== undefined && places.length <= 2 && !values.force)
    return { name, tenant: first, log: second ?? null };
  throw new UsageError(
    `Expected a command for the log and its arguments, as --help lists them, got: log ${args.join(' ')}`,
  );
};

const parse = <Wanted extends ParseArgsConfig>(wanted: Wanted) => {
  try {
    return parseArgs(wanted);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
};

/**
 * Reads the configuration as a start does, and describes it for `--check`. It reads only the environment and the file of
 * TRUSTED_DOCUMENTS, and looks for ABI_DIR: it opens no port, writes no file, and asks neither upstream nor Redis, but each node
 * of CHAINS and RECEIPTS, and each explorer of BLOCKSCOUT; `say` hears what that takes. Rejects with ConfigError, which has the problems of both,
 * or of the index.
 */
export const describeConfiguration = async (
  env: Environment,
  say: (line: string) => void,
): Promise<string> => {
  // Loaded here: it needs the schema, and a start reports the problems of its configuration before it loads that.
  const { readTrustedFile } = await import('../app/trusted-documents.ts');
  const trusted = env.TRUSTED_DOCUMENTS || null;
  const [read, loaded] = await Promise.allSettled([
    (async () => readSettings(env))(),
    trusted === null ? null : readTrustedFile(trusted),
  ]);
  if (read.status === 'rejected' || loaded.status === 'rejected')
    throw problemsOf([read, loaded].flatMap((result) => (result.status === 'rejected' ? result.reason : [])));
  const { indexed, mcp } = configOf(read.value);
  if (mcp && loaded.value) await (await import('../app/mcp.ts')).createAgentTools(mcp).accept(loaded.value);
  const found = indexed && (await (await import('../app/index-service.ts')).describeIndex(indexed, say));
  const { values, traces } = read.value;
  const shown = settingsOf(VARIABLES, env, { ...values, ...traces }, traces === null ? TRACES_NAMES : []);
  return descriptionOf(shown, found, found ? CLOSING_OF_CHAINS : CLOSING, env, VARIABLES);
};

/** As `describeConfiguration`, of the service that runs alone. */
export const describeService = async (env: Environment, say: (line: string) => void): Promise<string> => {
  const config = readServiceConfig(env);
  if (!('chains' in config)) throw new ConfigError(config);
  const found = await (await import('../app/index-service.ts')).describeIndex(config, say);
  const shown = settingsOf(SERVICE_VARIABLES, env, readVariables(SERVICE_VARIABLES, env, []));
  return descriptionOf(shown, found, CLOSING_OF_SERVICE, env, SERVICE_VARIABLES);
};

const descriptionOf = (
  settings: readonly Setting[],
  found: string | null,
  closing: string,
  env: Environment,
  variables: Variables,
): string => {
  const parts = [
    ...[tableOf(settings), found, unknownIn(env, variables), deprecatedIn(env, variables)],
    closing,
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
};

/** Combines the problems of all errors in one. Any error that is not about the configuration is thrown unchanged. */
const problemsOf = (reasons: readonly unknown[]): ConfigError =>
  new ConfigError(
    reasons.flatMap((reason) => {
      if (reason instanceof ConfigError) return reason.problems;
      throw reason;
    }),
  );

/** A variable as the gateway understood it. */
type Setting = {
  readonly name: string;
  /** In words if the variable has no value, or if another variable makes it unused. Never a secret. */
  readonly value: string;
  readonly from: 'environment' | 'default';
};

/** Lists every variable with its value, in the order of the docs; one that has been replaced only where it is set. */
const settingsOf = (
  variables: Variables,
  env: Environment,
  read: Readonly<Record<string, unknown>>,
  unread: readonly string[] = [],
): readonly Setting[] =>
  Object.entries(variables)
    .filter(([name, { replacedBy }]) => env[name] || replacedBy === undefined)
    .map(([name, variable]) => ({
      name,
      value: unread.includes(name)
        ? 'not used: traces are off'
        : (variable.unused?.(env) ?? shownValue(variable, read[name])),
      from: env[name] ? 'environment' : 'default',
    }));

const tableOf = (settings: readonly Setting[]): string => {
  const rows = [{ name: 'variable', value: 'value', from: 'from' }, ...settings];
  const width = (column: 'name' | 'value'): number => Math.max(...rows.map((row) => row[column].length));
  const [names, values] = [width('name'), width('value')];
  return rows
    .map(({ name, value, from }) => `${name.padEnd(names)}  ${value.padEnd(values)}  ${from}`)
    .join('\n');
};

const listOf = (unknown: readonly UnknownVariable[]): string =>
  unknown.map(({ name, meant }) => `${name} (${meant}?)`).join(', ');

const unknownIn = (env: Environment, variables: Variables): string => {
  const unknown = unknownVariables(env, Object.keys(variables));
  return unknown.length > 0
    ? `Unknown environment variables, which change nothing, and what may be meant: ${listOf(unknown)}`
    : '';
};

const deprecatedIn = (env: Environment, variables: Variables): string => {
  const old = deprecatedVariables(env, variables).map(({ name, instead }) => `${name} (${instead})`);
  return old.length > 0
    ? `Deprecated environment variables, which still work, and what replaces them: ${old.join('; ')}`
    : '';
};

const CLOSING = `The configuration has no problems. Only the environment and the file of TRUSTED_DOCUMENTS were read.
No port was opened, no file was written, and neither the service nor Redis was asked.`;

const CLOSING_OF_CHAINS = `${CLOSING.slice(0, -1)}: only the nodes of CHAINS and RECEIPTS, and the explorers of BLOCKSCOUT.`;

const CLOSING_OF_SERVICE = `The configuration has no problems. Only the environment was read. No port was opened, and no file was written.
Only the nodes of CHAINS and RECEIPTS, and the explorers of BLOCKSCOUT were asked.`;

/**
 * Describes why the program ends: as a line of the log for a supervisor that reads it, or for a person. A variable that is
 * missing may be there under a misspelled name, among the `unknown` ones.
 */
export const describeFailure = (
  error: unknown,
  format: LogFormat,
  unknown: readonly UnknownVariable[],
): string => (format === 'json' ? lineOf(error, unknown) : `${textOf(error, unknown)}\n`);

const lineOf = (error: unknown, unknown: readonly UnknownVariable[]): string => {
  let line = '';
  const log = createLog('error', (text) => {
    line = text;
  });
  if (error instanceof ConfigError)
    log.error('the configuration has problems', { problems: error.problems, unknown });
  else if (error instanceof UsageError) log.error(error.message, { usage: USAGE });
  else if (error instanceof CommandError) log.error(error.message);
  else log.error('start failed', { error: stackOf(error) });
  return line;
};

const textOf = (error: unknown, unknown: readonly UnknownVariable[]): string => {
  if (error instanceof UsageError) return `${error.message}\n${USAGE}`;
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof ConfigError)) return stackOf(error);
  const { message, findings } = error;
  const text = findings === '' ? message : `${findings}\n\n${message}`;
  return unknown.length > 0
    ? `${text}\nUnknown environment variables, and what may be meant: ${listOf(unknown)}`
    : text;
};
