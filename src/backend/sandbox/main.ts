import { demoAddress } from './chain/wallet-profiles.ts';
import { readSandboxConfig, type Sandbox, type SandboxConfig, startSandbox } from './sandbox.ts';

const print = (line: string) => process.stderr.write(`${line}\n`);
const log = (msg: string, details: Readonly<Record<string, unknown>>) =>
  print(JSON.stringify({ msg, ...details }));

const fail = (problems: readonly string[]): void => {
  for (const problem of problems) print(problem);
  process.exitCode = 1;
};

/** Quotes a text for a shell. */
const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that shows the first data. It contains the key, which gives access to made-up data only. */
const hint = ({ url, apiKey }: Sandbox): string => {
  const path = `/v1/evm/transactions/${demoAddress('whale')}?limit=3&decode=true`;
  return `Try:\n  curl -H ${shellQuoted(`X-Service-Api-Key: ${apiKey}`)} ${shellQuoted(url + path)}`;
};

const run = async (config: SandboxConfig): Promise<void> => {
  const sandbox = await startSandbox({ ...config, log });
  sandbox.startClock();
  log('listening', { url: sandbox.url });
  print(hint(sandbox));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.stop());
};

const USAGE =
  'Usage: npm run sandbox. It takes no arguments: docs/sandbox.md lists its environment variables.';

const [argument] = process.argv.slice(2);
const config = readSandboxConfig(process.env);
if (argument === '--help') process.stdout.write(`${USAGE}\n`);
else if (argument !== undefined) fail([`Expected no arguments, got ${argument}.`, USAGE]);
else if ('host' in config)
  await run(config).catch((problem: unknown) => fail([`Could not start: ${problem}`]));
else fail(config);
