import { readSettings, type Settings } from './config.ts';
import { demoAddress } from './demo-wallets.ts';
import { type Sandbox, startSandbox } from './server.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);
const log = (msg: string, details: Readonly<Record<string, unknown>>) =>
  say(JSON.stringify({ msg, ...details }));

const fail = (problems: readonly string[]): void => {
  for (const problem of problems) say(problem);
  process.exitCode = 1;
};

/** Quoted for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The key may be printed: it opens made-up data only. */
const hint = ({ url, apiKey }: Sandbox): string => {
  const path = `/v1/evm/transactions/${demoAddress('whale')}?limit=3&decode=true`;
  return `Try:\n  curl -H ${quoted(`X-Service-Api-Key: ${apiKey}`)} ${quoted(url + path)}`;
};

const run = async (settings: Settings): Promise<void> => {
  const sandbox = await startSandbox({ ...settings, log });
  sandbox.startClock();
  log('listening', { url: sandbox.url });
  say(hint(sandbox));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.stop());
};

const settings = readSettings(process.env);
if ('host' in settings)
  await run(settings).catch((problem: unknown) => fail([`Could not start: ${problem}`]));
else fail(settings);
