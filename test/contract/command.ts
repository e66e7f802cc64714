import { parseArgs } from 'node:util';
import { messageOf } from '../../src/lib/errors.ts';
import type { Finding } from './finding.ts';
import { type Result, type RunOptions, startRun } from './run.ts';

const USAGE = 'Usage: npm run contract -- [options] [URL [KEY]]';

const HELP = `${USAGE}

Says point by point where a service differs from the contract that this gateway needs. It asks one request after another, and
ends with 0, or with 1 when something differs. Without URL and KEY, it judges the service of UPSTREAM_URL, UPSTREAM_API_KEY
and UPSTREAM_API_KEY_HEADER. A key in an environment variable is not seen by the other users of this machine.

  --wallet ADDRESS  where to look for data; several times for several. Default: accounts that are known to be busy.
  --chain ID        the chain to look on. Default: the one where a wallet does most.
  --budget NUMBER   the compute units that may be spent: 500
  --rate NUMBER     requests a second: 4
  --only TEXT       judges the operations with this text in their names alone, such as /v1/evm/balances
  --webhooks        judges webhooks too: creates three, changes them, and deletes them
  --listen URL      the public address of this machine, at which deliveries arrive; needless for a service on this machine
  --port NUMBER     the port that the public address leads to. Default: a free one
  --json            writes a line of JSON for each point
  --help            prints this`;

const OPTIONS = {
  wallet: { type: 'string', multiple: true },
  chain: { type: 'string' },
  budget: { type: 'string' },
  rate: { type: 'string' },
  only: { type: 'string' },
  webhooks: { type: 'boolean' },
  listen: { type: 'string' },
  port: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

export type CommandIo = {
  readonly env: Environment;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Interrupts the run, which then still deletes what it made. */
  readonly signal: AbortSignal;
};

type Settings = Omit<RunOptions, 'signal'> & { readonly json: boolean };

/** Returns what is wrong with an option that is not known. */
const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (problem) {
    return messageOf(problem);
  }
};

/** Reads the arguments; returns every problem of them otherwise. */
const readSettings = (args: readonly string[], env: Environment): Settings | 'help' | readonly string[] => {
  const parsed = parse(args);
  if (typeof parsed === 'string') return [parsed];
  const { values, positionals } = parsed;
  if (values.help) return 'help';
  const problems: string[] = [];
  const expecting = (holds: boolean, what: string, got: string | undefined) => {
    if (!holds) problems.push(`Expected ${what}, got ${got ?? 'nothing'}.`);
  };
  const whole = (name: 'chain' | 'budget' | 'rate' | 'port', otherwise: number, least: number): number => {
    const text = values[name] ?? String(otherwise);
    const number = Number(text);
    expecting(/^\d+$/.test(text) && number >= least, `a whole number from ${least} after --${name}`, text);
    return number;
  };
  const isUrl = (text: string | undefined) => /^https?:$/.test(URL.parse(text ?? '')?.protocol ?? '');

  const [url = env.UPSTREAM_URL, key = env.UPSTREAM_API_KEY, ...rest] = positionals;
  expecting(isUrl(url), 'the http or https URL of a service', url);
  expecting(
    key !== undefined && key !== '',
    'a key, as the second argument or in UPSTREAM_API_KEY',
    undefined,
  );
  expecting(rest.length === 0, 'a URL and a key', `${rest.length} arguments more`);
  for (const wallet of values.wallet ?? [])
    expecting(/^0x[0-9a-fA-F]{40}$/.test(wallet), 'an address after --wallet', wallet);
  if (values.listen !== undefined)
    expecting(isUrl(values.listen), 'an http or https URL after --listen', values.listen);
  const { only = '' } = values;
  const settings = {
    url: url ?? '',
    key: key ?? '',
    keyHeader: env.UPSTREAM_API_KEY_HEADER || 'X-Service-Api-Key',
    budget: whole('budget', 500, 0),
    rate: whole('rate', 4, 1),
    wallets: (values.wallet ?? []).map((wallet) => wallet.toLowerCase()),
    chainId: values.chain === undefined ? null : whole('chain', 0, 0),
    webhooks: values.webhooks ?? false,
    listenUrl: values.listen ?? null,
    listenPort: whole('port', 0, 0),
    only: ({ operation }: { readonly operation: string }) => operation.includes(only),
    json: values.json ?? false,
  };
  return problems.length > 0 ? problems : settings;
};

/** The findings that one line shows. */
const MAX_SHOWN = 3;

const sentence = ({ kind, at, expected, got }: Finding): string =>
  `${at === '' ? '' : `${at}: `}expected ${expected}, got ${got}${kind === 'note' ? ' (tolerable)' : ''}`;

const detailsOf = ({ findings, why, point, status }: Result): string => {
  if (status === 'skipped') return `: ${why}`;
  if (findings.length === 0) return '';
  // What differs comes first.
  const sorted = findings.toSorted((one, other) => one.kind.localeCompare(other.kind));
  const texts = sorted.slice(0, MAX_SHOWN).map(sentence);
  const more = findings.length > MAX_SHOWN ? `; and ${findings.length - MAX_SHOWN} more` : '';
  return `: ${texts.join('; ')}${more}${status === 'differs' ? ` (${point.source})` : ''}`;
};

const lineOf = (result: Result): string =>
  `  ${result.status.padEnd(7)}  ${result.point.expects}${detailsOf(result)}\n`;

const jsonOf = ({ point: { operation, expects, source }, status, findings, why }: Result): string =>
  `${JSON.stringify({ operation, expects, source, status, findings, ...(why !== '' && { why }) })}\n`;

const STATUSES = ['ok', 'differs', 'note', 'skipped'] as const;

const judge = async (settings: Settings, { write, writeError, signal }: CommandIo): Promise<number> => {
  const { url, budget, webhooks, json } = settings;
  const tell = json ? writeError : write;
  const writes = webhooks ? 'It creates webhooks, and deletes them.' : 'It changes nothing.';
  tell(`Judging ${url}. It spends at most ${budget} compute units. ${writes}\n`);
  const { results, spent } = startRun({ ...settings, signal });
  const counts = { ok: 0, differs: 0, note: 0, skipped: 0 };
  let operation = '';
  const incomplete = new Set<string>();
  try {
    for await (const result of results) {
      counts[result.status] += 1;
      if (result.status === 'skipped') incomplete.add(result.point.operation);
      if (!json && result.point.operation !== operation) write(`\n${result.point.operation}\n`);
      operation = result.point.operation;
      write(json ? jsonOf(result) : lineOf(result));
    }
  } finally {
    const counted = STATUSES.map((status) => `${counts[status]} ${status}`).join(', ');
    const by = spent.isStated ? '' : ' by the documented prices, as the service states none';
    tell(`\n${counted}. ${spent.computeUnits} compute units spent${by}, in ${spent.requests} requests.\n`);
    if (incomplete.size > 0)
      tell(`Not judged in full:\n${[...incomplete].map((each) => `  ${each}\n`).join('')}`);
  }
  return counts.differs > 0 ? 1 : 0;
};

/** Runs `contract` with its arguments. Resolves to the exit code: 0 when nothing differs, 1 otherwise. */
export const runContract = async (args: readonly string[], io: CommandIo): Promise<number> => {
  const { env, write, writeError, signal } = io;
  try {
    const settings = readSettings(args, env);
    if (settings === 'help') write(`${HELP}\n`);
    else if ('url' in settings) return await judge(settings, io);
    else {
      writeError(`${settings.join('\n')}\n${USAGE}\n`);
      return 1;
    }
    return 0;
  } catch (problem) {
    writeError(`${signal.aborted ? 'Interrupted.' : messageOf(problem)}\n`);
    return 1;
  }
};
