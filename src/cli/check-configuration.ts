import { loadTrustedDocuments } from '../app/startup.ts';
import { ConfigError, readConfig } from '../config/config.ts';
import { type Environment, unknownVariables } from '../config/environment.ts';
import { type Setting, settingsOf } from '../config/report.ts';

/**
 * Reads the configuration as a start does, and describes it for `--check`. It reads the environment and the file of
 * TRUSTED_DOCUMENTS alone: it opens no port, writes no file, and asks neither upstream nor Redis. Rejects with
 * ConfigError, which has the problems of both.
 */
export const describeConfiguration = async (env: Environment): Promise<string> => {
  const [read, loaded] = await Promise.allSettled([
    (async () => readConfig(env))(),
    loadTrustedDocuments(env.TRUSTED_DOCUMENTS || null),
  ]);
  if (read.status === 'rejected' || loaded.status === 'rejected')
    throw problemsOf([read, loaded].flatMap((result) => (result.status === 'rejected' ? result.reason : [])));
  return `${[tableOf(settingsOf(env, read.value)), unknownIn(env), CLOSING].filter(Boolean).join('\n\n')}\n`;
};

/** One error with the problems of all. What is no problem of the configuration is thrown as it is. */
const problemsOf = (reasons: readonly unknown[]): ConfigError =>
  new ConfigError(
    reasons.flatMap((reason) => {
      if (reason instanceof ConfigError) return reason.problems;
      throw reason;
    }),
  );

const tableOf = (settings: readonly Setting[]): string => {
  const rows = [{ name: 'variable', value: 'value', from: 'from' }, ...settings];
  const width = (column: 'name' | 'value'): number => Math.max(...rows.map((row) => row[column].length));
  const [names, values] = [width('name'), width('value')];
  return rows
    .map(({ name, value, from }) => `${name.padEnd(names)}  ${value.padEnd(values)}  ${from}`)
    .join('\n');
};

const unknownIn = (env: Environment): string => {
  const names = unknownVariables(env);
  return names.length > 0 ? `Unknown environment variables, which change nothing: ${names.join(', ')}` : '';
};

const CLOSING = `The configuration has no problems. Only the environment and the file of TRUSTED_DOCUMENTS were read.
No port was opened, no file was written, and neither the service nor Redis was asked.`;
