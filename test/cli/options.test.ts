import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { NAMES, VARIABLES, type VariableName } from '../../src/config/table.ts';
import { shownValue } from '../../src/config/variable.ts';
import { TIMES_HEAD } from '../../src/config/variables/cache.ts';
import { EXPLORERS } from '../../src/config/variables/explorers.ts';
import { INDEX } from '../../src/config/variables/index-of-chains.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { startFaultyNode } from '../backend/indexer/support/faulty-node.ts';
import { need } from '../support/available.ts';
import { madeUp } from '../support/blockscout/made-up.ts';
import { startBlockscout } from '../support/blockscout/server.ts';
import { folderOf } from '../support/folder.ts';
import { run } from '../support/gateway/run.ts';
import { PROGRAM } from '../support/gateway/spawn.ts';
import { idOf } from '../support/gateway/trusted.ts';
import { root } from '../support/pages.ts';

/** The gateway's program with arguments, as its users run it. */

/** Runs a command on a terminal of its own. */
const SCRIPT = '/usr/bin/script';

/** As `run` without arguments, until it listens. Resolves to what it has written to stderr. */
const startAndStop = async (env: Record<string, string>): Promise<string> => {
  const child = spawn(join(root, 'node_modules/.bin/node'), [PROGRAM], {
    cwd: root,
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (stderr.includes('listening')) child.kill('SIGINT');
  });
  await once(child, 'close');
  return stderr;
};

const rowsIn = (stdout: string): ReadonlyMap<string, readonly [value: string, from: string]> =>
  new Map(
    stdout.split('\n').flatMap((line) => {
      const [, name = '', value = '', from = ''] =
        /^([A-Z][A-Z_]+) +(\S.*?) +(default|environment)$/.exec(line) ?? [];
      return name === '' ? [] : [[name, [value, from]]];
    }),
  );

const DOCUMENT = 'query Name { __typename }';

const REGISTRY = '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e';

const SECRET = 'a-secret-that-is-never-shown-0123456789';

/** Values whose form matters, and how each is shown where that is not the same. Other variables have one of ANY. */
const EXAMPLES: { readonly [name in VariableName]?: readonly string[] } = {
  UPSTREAM_URL: ['https://api.example.com/base'],
  UPSTREAM_API_KEY: [SECRET, 'set'],
  AUTH: ['jwt'],
  JWT_SECRET: [`${SECRET}, ${SECRET}2`, 'set, two values'],
  JWT_JWKS_URL: [`https://issuer.example.com/keys?key=${SECRET}`, 'https://issuer.example.com/keys?(query)'],
  ALLOWED_ORIGINS: [
    'https://a.example.com, https://b.example.com',
    'https://a.example.com,https://b.example.com',
  ],
  TRUSTED_PROXIES: ['10.0.0.0/8,::1'],
  PUBLIC_URL: ['https://gateway.example.com'],
  DELIVERY_SECRET: [`${SECRET},${SECRET}2`, 'set, two values'],
  DELIVERY_URL_VERSIONS: ['default=2+1,another%20tenant=3'],
  DELIVERY_SIGNATURE_SECRET: [SECRET, 'set'],
  DELIVERY_SIGNATURE_HEADER: ['X-Signature', 'x-signature'],
  REDIS_URL: [`redis://user:${SECRET}@redis.example.com:6379/1`, 'redis://(access)@redis.example.com:6379/1'],
  REDIS_CACHE_URL: [
    `redis+sentinel://:${SECRET}@one:26379,two:26379/pages?sentinel_password=${SECRET}`,
    'redis+sentinel://(access)@one:26379,two:26379/pages?(query)',
  ],
  // All others have old names, which are set.
  CACHE_NEWEST_MS: [
    'collectibles=1',
    Object.keys(TIMES_HEAD)
      .map((lookup) => `${lookup}=${{ collectibles: 1, names: 17 * 1_800 }[lookup] ?? 17}`)
      .join(),
  ],
  EXTRA_CHAINS: ['4242:newchain:mainnet,434343:other'],
  TRUSTED_DOCUMENTS: ['documents.json'],
  MCP: ['on', 'Name'],
  MCP_TOOLS: ['Name'],
  NODE_ENV: ['production'],
  SANDBOX: ['on'],
  // Words in capitals stand for the addresses of nodes, of the hosted API, and of an explorer: --check asks them.
  CHAINS: [`31337@0=http://user:${SECRET}@NODE/v3/${SECRET}?key=${SECRET}`, '31337@0=http://NODE/(access)'],
  START_BLOCK: ['31337=0'],
  BLOCKSCOUT: ['8453,100=http://EXPLORER'],
  BLOCKSCOUT_API_KEY: [SECRET, 'set'],
  BLOCKSCOUT_URL: ['http://HOSTED'],
  BLOCKSCOUT_LIVE_CREDITS: ['50000'],
  RECEIPTS: [`100=http://user:${SECRET}@RECEIPT/v3/${SECRET}`, '100=http://RECEIPT/(access)'],
  ABI_DIR: ['.'],
  ENS_REGISTRY: [`31337=${REGISTRY}`, `1=${REGISTRY},31337=${REGISTRY}`],
  IPFS_GATEWAY: ['https://ipfs.example.com'],
  PRICES: [`https://prices.example.com/now?key=${SECRET}`, 'https://prices.example.com/now?(query)'],
  OTEL_SDK_DISABLED: ['false'],
  OTEL_TRACES_EXPORTER: ['otlp'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['http://other.example.com', 'http://other.example.com/'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [
    `https://collector.example.com/t?key=${SECRET}`,
    'https://collector.example.com/t?(query)',
  ],
  OTEL_EXPORTER_OTLP_HEADERS: [`authorization=${SECRET}`, 'set'],
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: [`authorization=${SECRET}2`, 'set'],
  OTEL_TRACES_SAMPLER: ['traceidratio'],
  OTEL_TRACES_SAMPLER_ARG: ['0.25'],
  OTEL_PROPAGATORS: ['baggage'],
};

const ANY = ['17', 'off', 'on', 'warn', 'text', 'relaxed', 'http/json', 'A-Name', 'A_Name'];

/** A text that is not the default, and how it is shown. */
const exampleOf = (
  name: VariableName,
  hosts: Readonly<Record<string, string>>,
): readonly [text: string, shown: string] => {
  const { schema, otherwise } = VARIABLES[name];
  const isOther = (each: string) => ![otherwise, undefined].includes(schema.safeParse(each).data);
  const [text = ANY.find(isOther), shown = text] = EXAMPLES[name] ?? [];
  if (text === undefined || shown === undefined)
    return expect.fail(`Expected an example of ${name}, got none.`);
  const located = (example: string) =>
    example.replace(/NODE|EXPLORER|HOSTED|RECEIPT/, (word) => hosts[word] ?? word);
  return [located(text), located(shown)];
};

/** These can't be set, or are not used, beside some of the others. */
const APART: readonly VariableName[] = ['JWT_JWKS_URL', 'DATA_DIR', 'SANDBOX', 'SANDBOX_BLOCK_MS'];
/** Those of the embedded service. */
const OWN = NAMES.filter((name) => name in INDEX || name in EXPLORERS);
const SETS: readonly (readonly VariableName[])[] = [
  NAMES.filter((name) => !APART.includes(name) && !OWN.includes(name)),
  ['AUTH', ...APART],
  OWN,
];

test('--check shows the variable that turns traces off, and says of the others that they are not used', async () => {
  const { stdout } = await run(['--check'], {
    OTEL_SDK_DISABLED: 'TRUE',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
  });
  const rows = rowsIn(stdout);
  expect(rows.get('OTEL_SDK_DISABLED')).toEqual(['true', 'environment']);
  expect(rows.get('OTEL_EXPORTER_OTLP_ENDPOINT')?.[0]).toBe('not used: traces are off');
});

test('--check shows each variable that is set, from the environment, and no secret', async () => {
  await using folder = await folderOf({ 'documents.json': JSON.stringify({ [idOf(DOCUMENT)]: DOCUMENT }) });
  await using anvil = await startAnvil();
  await using node = await startFaultyNode(anvil.url);
  await using other = await startFaultyNode(anvil.url);
  other.faults.call = (call, ask) => (call.method === 'eth_chainId' ? { result: '0x64' } : ask());
  await using hosted = await startBlockscout({
    chains: [{ id: 8453, contents: madeUp({}, 8453) }],
    hosted: { key: SECRET, perSecond: 1_000 },
  });
  await using explorer = await startBlockscout({ chains: [{ id: 100, contents: madeUp({}, 100) }] });
  const hosts = {
    NODE: node.host,
    RECEIPT: other.host,
    HOSTED: new URL(hosted.url).host,
    EXPLORER: new URL(explorer.url).host,
  };
  const shown = new Map<string, string>();
  for (const names of SETS) {
    const env = Object.fromEntries(names.map((name) => [name, exampleOf(name, hosts)[0]]));
    const { code, stdout, stderr } = await run(['--check'], env, folder.path('.'));
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(?:Trying the explorers .*\n)?$/)]);
    expect(stdout).not.toContain(SECRET);
    const rows = rowsIn(stdout);
    for (const [name, [, from]] of rows) expect([name, from === 'environment']).toEqual([name, name in env]);
    for (const name of names) shown.set(name, rows.get(name)?.[0] ?? '');
  }
  for (const name of NAMES) expect([name, shown.get(name)]).toEqual([name, exampleOf(name, hosts)[1]]);
});

test('--check shows every variable that is not set, with its default', async () => {
  const { code, stdout } = await run(['--check']);
  expect(code).toBe(0);
  const rows = rowsIn(stdout);
  expect([...rows.keys()]).toEqual(NAMES.filter((name) => VARIABLES[name].replacedBy === undefined));
  expect([...new Set([...rows.values()].map(([, from]) => from))]).toEqual(['default']);
  const { port, cache } = readConfig({});
  expect(rows.get('PORT')?.[0]).toBe(String(port));
  expect(rows.get('CACHE_NEWEST_MS')?.[0]).toBe(shownValue(VARIABLES.CACHE_NEWEST_MS, cache.newestMs));
  expect(rows.get('UPSTREAM_API_KEY')?.[0]).toBe('not set');
});

test('--check says of a name that was replaced what takes its place, and how it was understood', async () => {
  const { code, stdout } = await run(['--check'], { CACHE_HOLDERS_MS: '7', LOG_FORMAT: 'text' });
  expect(code).toBe(0);
  expect(rowsIn(stdout).get('CACHE_HOLDERS_MS')).toEqual(['7', 'environment']);
  expect(rowsIn(stdout).get('CACHE_NEWEST_MS')?.[0]).toContain('holders=7,');
  expect(stdout).toMatch(
    /^Deprecated .*: CACHE_HOLDERS_MS \(CACHE_NEWEST_MS=holders=…\); LOG_FORMAT \(.*\)$/m,
  );
});

test('--check names every problem at once, those of the trusted documents too, and ends with 1', async () => {
  const { code, stdout, stderr } = await run(['--check'], {
    PORT: 'x',
    AUTH: 'maybe',
    UPSTREAM_API_KEY: `${SECRET} with spaces`,
    UPSTREAM_TIMOUT_MS: '5',
    TRUSTED_DOCUMENTS: '/nowhere/documents.json',
  });
  expect([code, stdout]).toEqual([1, '']);
  for (const name of ['PORT', 'AUTH', 'UPSTREAM_API_KEY', 'UPSTREAM_TIMOUT_MS', 'TRUSTED_DOCUMENTS'])
    expect(stderr).toContain(name);
  expect(stderr).not.toContain(SECRET);
  expect(stderr).not.toContain('\n    at ');
});

test('--check says what each node of CHAINS can do, and names what keeps one from being indexed', async () => {
  await using anvil = await startAnvil();
  await using polled = await startFaultyNode(anvil.url);
  polled.faults.call = (call, ask) => {
    const isMissing = /^(?:debug|ots)_|BlockReceipts$/.test(call.method);
    return isMissing ? { error: { code: -32_601, message: 'method not found' } } : ask();
  };
  const check = (env: Record<string, string>) => run(['--check'], env);
  const able = await check({ CHAINS: `31337=${anvil.url}` });
  expect([able.code, able.stderr]).toEqual([0, '']);
  expect(able.stdout).toMatch(
    /^The node of chain 31337 is anvil\S*, at block 0\.$(?:\n .*)*\n {2}new blocks +announced over a WebSocket$/m,
  );
  const lacking = await check({ CHAINS: `31337=http://user:${SECRET}@${polled.host}/${SECRET}` });
  expect(lacking.stdout).toMatch(/receipts +one by one/);
  expect([able, lacking].map(({ stdout }) => /^ {2}older transactions +of wallets/m.test(stdout))).toEqual([
    true,
    false,
  ]);
  expect(lacking.stdout).toMatch(/internal transfers +not indexed/);
  expect(lacking.stdout).toMatch(/new blocks +asked for/);

  const wrong = await check({
    CHAINS: `1=${anvil.url},2=http://user:${SECRET}@127.0.0.1:1/${SECRET},31337@9=${anvil.url}`,
  });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toMatch(/^ {2}CHAINS: expected a node of chain 1, got one of chain 31337$/m);
  expect(wrong.stderr).toMatch(/^ {2}CHAINS: expected an answer of the node of chain 2, got: /m);
  expect(wrong.stderr).toMatch(
    /^ {2}CHAINS: expected at most block 0, the head of chain 31337, to begin with, got 9$/m,
  );
  const partly = await check({ CHAINS: `31337=${anvil.url},2=http://127.0.0.1:1`, ABI_DIR: './nowhere' });
  expect([partly.code, partly.stdout]).toEqual([1, '']);
  expect(partly.stderr).toMatch(/^The node of chain 31337 is anvil/);
  expect(partly.stderr).toMatch(/^ {2}CHAINS: expected an answer of the node of chain 2, got: /m);
  expect(partly.stderr).toMatch(/^ {2}ABI_DIR: expected a folder, got ".\/nowhere", which is none$/m);
  expect([lacking, wrong].map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(SECRET);
});

test('--check listens nowhere, writes nothing, and contacts neither the service nor Redis', async () => {
  await using folder = await folderOf({});
  // Ports at which nothing answers: a start would wait for them, or fail.
  const { code, stdout } = await run(
    ['--check'],
    {
      UPSTREAM_URL: 'http://127.0.0.1:9',
      UPSTREAM_API_KEY: SECRET,
      REDIS_URL: 'redis://127.0.0.1:9',
      // A port that only root may open, of an address that this machine does not have.
      HOST: '192.0.2.1',
      PORT: '1',
      AUTH: 'open',
      UPSTREAM_TIMOUT_MS: '5',
    },
    folder.path('.'),
  );
  expect(code).toBe(0);
  expect(stdout).toContain('UPSTREAM_TIMOUT_MS (UPSTREAM_TIMEOUT_MS?)');
  expect(stdout).toContain('no file was written');
  await run(['--check'], {}, folder.path('.'));
  expect(await readdir(folder.path('.'))).toEqual([]);
});

test('--version is the version of the package', async () => {
  const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
  expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('--help names variables and pages that there are', async () => {
  const { code, stdout, stderr } = await run(['--help']);
  expect([code, stderr]).toEqual([0, '']);
  const options = [...stdout.matchAll(/^ {2}(--\w+) /gm)].map(([, option]) => option);
  expect(options).toEqual(['--check', '--help', '--version']);
  const names = [...stdout.matchAll(/^ {2}([A-Z][A-Z_, ]+?) {2,}/gm)].flatMap(([, names = '']) =>
    names.split(', '),
  );
  expect(names.length).toBeGreaterThan(6);
  for (const name of names) expect(NAMES).toContain(name);
  const pages = [...stdout.matchAll(/docs\/[\w-]+\.md/g)].map(([page]) => page);
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.filter((page) => !existsSync(join(root, page)))).toEqual([]);
});

test.each<[what: string, args: string[], said: string]>([
  ['an option that there is not', ['--chek'], '--chek'],
  ['an argument', ['start'], 'start'],
  ['a value of an option that has none', ['--check=all'], '--check'],
  ['two answers at once', ['--check', '--version'], 'got both'],
])('%s is an error with the usage, and nothing starts', async (_what, args, said) => {
  const { code, stdout, stderr } = await run(args, { PORT: '0' });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(said);
  expect(stderr).toContain('Usage: npm start');
  expect(stderr).not.toContain('\n    at ');
});

describe('why it does not start', () => {
  const mistakes = { PORT: 'x', AUTH: 'maybe', UPSTREAM_TIMOUT_MS: '5', TRUSTED_DOCUMENTS: '' };

  test('is one JSON line for a supervisor, whatever it is', async () => {
    const settings = await run([], mistakes);
    expect([settings.code, settings.stdout]).toEqual([1, '']);
    expect(settings.stderr.match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(settings.stderr)).toEqual({
      level: 'error',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      msg: 'the configuration has problems',
      problems: [expect.stringMatching(/^PORT: expected /), expect.stringMatching(/^AUTH: expected /)],
      unknown: [{ name: 'UPSTREAM_TIMOUT_MS', meant: 'UPSTREAM_TIMEOUT_MS' }],
    });
    // What only the machine shows to be wrong, and what a script of its user's breaks.
    const folder = await run([], { PORT: '0', DATA_DIR: '/dev/null/data' });
    expect(JSON.parse(folder.stderr).problems).toEqual([expect.stringMatching(/^DATA_DIR: /)]);
    const usage = await run(['--chek'], {});
    expect(JSON.parse(usage.stderr)).toMatchObject({
      level: 'error',
      usage: expect.stringMatching(/^Usage: /),
    });
  });

  test('is text where LOG_FORMAT says so, and on a terminal unless it says json', async (context) => {
    const { stderr } = await run([], { ...mistakes, LOG_FORMAT: 'text' });
    expect(stderr).toMatch(
      /^The configuration has problems:\n {2}PORT: .*\n {2}AUTH: .*\n.*UPSTREAM_TIMOUT_MS \(UPSTREAM_TIMEOUT_MS\?\)\n$/,
    );
    need(context, existsSync(SCRIPT), `${SCRIPT}, which makes a terminal`);
    const onTerminal = (settings: string) =>
      new Promise<string>((resolve) => {
        const command = `env -i PORT=x ${settings} ${join(root, 'node_modules/.bin/node')} ${PROGRAM}`;
        execFile(SCRIPT, ['-qec', command, '/dev/null'], { cwd: root }, (_error, stdout) => resolve(stdout));
      });
    expect(await onTerminal('')).toMatch(/^The configuration has problems:/);
    expect(JSON.parse(await onTerminal('LOG_FORMAT=json')).problems).toHaveLength(1);
  });

  test('is told in the format of all other lines', async () => {
    await using folder = await folderOf({});
    const log = await startAndStop({ LOG_FORMAT: 'text', PORT: '0', DATA_DIR: folder.path('data') });
    expect(log).toMatch(/^\S+Z info {2}listening \{"url":"http:\/\/127.0.0.1:\d+","version":"[\d.]+"\}$/m);
    expect(log).not.toMatch(/^\{/m);
  });
});
