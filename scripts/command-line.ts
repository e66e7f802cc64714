import process from 'node:process';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Ends the process with 1, after what is wrong and the usage. */
export const failWithUsage = (problem: string, usage: string): never => {
  process.stderr.write(`${problem}\n${usage}\n`);
  process.exit(1);
};

/**
 * Parses the arguments of this process. `--help` prints the usage and ends the process with 0. An argument that `config`
 * does not name ends it with 1.
 */
export const parseCommandLine = <Config extends ParseArgsConfig>(usage: string, config: Config) => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs({ ...config, args });
  } catch (error) {
    return failWithUsage((error as Error).message, usage);
  }
};
