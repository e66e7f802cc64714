import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { messageOf } from '../lib/error-text.ts';

/** What the gateway's program is asked to do. */
export type Command = 'start' | 'check' | 'help' | 'version';

/** What is wrong with the arguments. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const USAGE = `\
Usage: npm start -- [--check | --help | --version]            in a checkout
       evm-graphql-gateway [--check | --help | --version]     of a package`;

export const HELP = `${USAGE}

Starts the gateway, which runs until SIGTERM or SIGINT. Without UPSTREAM_URL it serves a sandbox of the service.

  --check    Reads the configuration, prints what it understood of it, and ends with 0, or with 1 and every problem.
             It opens no port, writes no file, and asks neither the service nor Redis.
  --help     Prints this.
  --version  Prints the version.

Environment variables configure it, all of them optional. These matter most:

  HOST, PORT        where it listens: 127.0.0.1, 4000
  UPSTREAM_URL      base URL of the service
  UPSTREAM_API_KEY  the key that the gateway itself holds
  PUBLIC_URL        how the service reaches this gateway to deliver
  AUTH              open, key or jwt
  DATA_DIR          folder of the delivery log: ./data
  DELIVERY_SECRET   signs delivery URLs and cursors
  REDIS_URL         for many gateways: their log, pages and limits
  NODE_ENV          production turns off what is for development

docs/configuration.md lists all of them, docs/operations.md says how to run it, and docs/deploying.md has files for that.`;

const OPTIONS = {
  check: { type: 'boolean' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

/** Reads the arguments of the program. Throws UsageError. */
export const readCommand = (args: readonly string[]): Command => {
  const values = parse(args);
  if (values.help) return 'help';
  if (values.check && values.version)
    throw new UsageError('Expected one of --check and --version, got both.');
  if (values.version) return 'version';
  return values.check ? 'check' : 'start';
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
};

const packageJson = z.object({ version: z.string() });

/** The version of this package. */
export const readVersion = (): string =>
  packageJson.parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).version;
