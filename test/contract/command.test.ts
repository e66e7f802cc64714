import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { items, type OpenSandbox, openSandbox } from '../backend/support/sandbox.ts';
import { root } from '../support/pages.ts';
import { runContract } from './command.ts';
import { said, startBendingProxy } from './support/bending-proxy.ts';
import { judge, remarks } from './support/judge.ts';

/** `npm run contract`, as it looks to the person who runs it. */

const run = async (args: readonly string[], env: Record<string, string> = {}) => {
  let stdout = '';
  let stderr = '';
  const code = await runContract(args, {
    env,
    write: (text) => {
      stdout += text;
    },
    writeError: (text) => {
      stderr += text;
    },
    signal: new AbortController().signal,
  });
  return { code, stdout, stderr };
};

/** For what does not count its requests. */
let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const FAST = ['--rate', '10000'];
const WEBHOOKS = '/beta/evm/subscriptions/webhooks';
const webhooksOf = async ({ ask }: OpenSandbox): Promise<number> =>
  items(await ask(WEBHOOKS), 'webhooks').length;

test('a line says what became of each point, and the last one counts', async () => {
  await using sandbox = await openSandbox();
  const { code, stdout, stderr } = await run([sandbox.url, 'sandbox', '--webhooks', ...FAST]);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n').filter(Boolean);
  expect(lines.slice(0, 3)).toEqual([
    `Judging ${sandbox.url}. It spends at most 500 compute units. It creates webhooks, and deletes them.`,
    'All operations',
    '  ok       answer 404 for an unknown path',
  ]);
  expect(stdout).toContain('\nGET /v1/evm/transactions/{address}\n  ok       answers 401');
  const { computeUnits, total } = sandbox.stats();
  expect(lines.at(-1)).toMatch(/^\d+ ok, 0 differs, 1 note, 0 skipped\. /);
  expect(lines.at(-1)).toContain(`${computeUnits} compute units spent, in ${total} requests.`);
  expect(await webhooksOf(sandbox)).toBe(3);
});

test('what differs is said with what was expected, and ends with 1', async () => {
  await using proxy = await startBendingProxy(sandbox.url);
  proxy.bend({ request: ({ query }) => query.delete('decode') as undefined });
  const { code, stdout } = await run([proxy.url, 'sandbox', '--only', '/transactions/', ...FAST]);
  expect(code).toBe(1);
  expect(stdout).toContain(
    '  differs  refuses a decode other than true and false: expected a refusal (400), got 200 {"wallet_address"',
  );
  expect(stdout).toContain('(specification: Get transactions)\n');
});

test('--json writes an object for each point', async () => {
  const args = [sandbox.url, 'sandbox', '--only', 'supported-chains', '--json', ...FAST];
  const { stdout, stderr } = await run(args);
  const [first, ...others] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(first).toEqual({
    operation: 'GET /v1/evm/supported-chains',
    expects: 'has the documented fields in their forms',
    source: 'documentation: Supported chains',
    status: 'ok',
    findings: [],
  });
  expect(others).toHaveLength(3);
  expect(stderr).toContain('4 ok, 0 differs');
});

test('the environment of the gateway names the service and its key', async () => {
  await using sandbox = await openSandbox({ apiKey: 'secret', keyHeader: 'X-Other-Key' });
  const env = {
    UPSTREAM_URL: sandbox.url,
    UPSTREAM_API_KEY: 'secret',
    UPSTREAM_API_KEY_HEADER: 'X-Other-Key',
  };
  const { code, stdout } = await run(['--only', '/stablecoins', ...FAST], env);
  expect([code, stdout.match(/^ {2}(?:differs|skipped).*/m)]).toEqual([0, null]);
});

test.each([
  [[], 'Expected the http or https URL of a service, got nothing.'],
  [['service', 'key'], 'Expected the http or https URL of a service, got service.'],
  [['http://127.0.0.1:1'], 'Expected a key, as the second argument or in UPSTREAM_API_KEY, got nothing.'],
  [['http://127.0.0.1:1', 'key', 'more'], 'Expected a URL and a key, got 1 arguments more.'],
  [['http://127.0.0.1:1', 'key', '--wallet', '0x1'], 'Expected an address after --wallet, got 0x1.'],
  [['http://127.0.0.1:1', 'key', '--budget', '-1'], "Option '--budget' argument is ambiguous."],
  [['http://127.0.0.1:1', 'key', '--rate', '0'], 'Expected a whole number from 1 after --rate, got 0.'],
  [['http://127.0.0.1:1', 'key', '--listen', 'me'], 'Expected an http or https URL after --listen, got me.'],
  [['http://127.0.0.1:1', 'key', '--loud'], "Unknown option '--loud'"],
])('%j is refused', async (args, problem) => {
  const { code, stderr } = await run(args);
  expect([code, stderr.includes(problem) ? problem : stderr]).toEqual([1, problem]);
});

test('a service that does not answer, or has no chains, ends with 1', async () => {
  const absent = await run(['http://127.0.0.1:1', 'key']);
  expect([absent.code, absent.stderr]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
  await using proxy = await startBendingProxy(sandbox.url);
  proxy.bend({ request: () => said(404, { error: 'Not found' }) });
  const other = await run([proxy.url, 'key']);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('Expected 200, got 404')]);
});

test('it spends no more than its budget', async () => {
  await using sandbox = await openSandbox();
  const results = await judge({ url: sandbox.url, budget: 30 });
  expect(sandbox.stats().computeUnits).toBeLessThanOrEqual(30);
  expect(remarks(results)).toContainEqual(
    expect.stringMatching(/^skipped: .*: it needs \d+ compute units: --budget/),
  );
  expect(remarks(results).filter((remark) => remark.startsWith('differs'))).toEqual([]);
});

test('without data, it says what it needs', async () => {
  const wallets = ['0x00000000000000000000000000000000000000aa'];
  const results = await judge({ url: sandbox.url, wallets });
  expect(remarks(results)).toContain(
    'skipped: GET /v1/evm/transactions/{address} orders by descending block time: no wallet with transactions was found: name one with --wallet and --chain',
  );
  expect(remarks(results.filter(({ status }) => status === 'differs'))).toEqual([]);
});

test('it asks again after 429, and gives up where that does not help', async () => {
  await using proxy = await startBendingProxy(sandbox.url);
  const busy = said(429, { error: 'Too many requests' }, { 'retry-after': '0' });
  let count = 0;
  proxy.bend({ request: () => (++count % 2 === 1 ? busy : undefined) });
  const only = ({ operation }: { operation: string }) => operation.endsWith('/supported-protocols');
  expect(remarks(await judge({ url: proxy.url, only }))).toEqual([]);

  proxy.bend({ request: ({ path }) => (path.endsWith('-protocols') ? busy : undefined) });
  const results = await judge({ url: proxy.url, only });
  expect(results.map(({ status }) => status)).toEqual(results.map(() => 'skipped'));
  expect(results[0]?.why).toBe('the service answered 429 to 5 attempts: try a lower --rate');
});

test('a key that is refused ends with 1; one that lacks a permission skips what needs it', async () => {
  const refused = await run([sandbox.url, 'other']);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    'Expected the service to take the key, got 401 {"error":"invalid API Key"}.\n',
  ]);
  await using proxy = await startBendingProxy(sandbox.url);
  proxy.bend({
    request: ({ path }) => (path.includes('/activity/') ? said(403, { error: 'no' }) : undefined),
  });
  const results = await judge({ url: proxy.url, only: ({ operation }) => operation.includes('/activity/') });
  expect(results.find(({ point }) => point.expects.startsWith('filters'))?.why).toBe(
    'the key lacks the permission for it (403)',
  );
});

test('a service that is busy for a moment, and says no prices, is judged all the same', async () => {
  await using proxy = await startBendingProxy(sandbox.url);
  let count = 0;
  proxy.bend({
    request: () =>
      ++count === 3 ? said(503, { message: 'Try again later' }, { 'retry-after': '0' }) : undefined,
    answer: ({ headers }) => void delete headers['x-compute-units-cost'],
  });
  const { code, stdout } = await run([proxy.url, 'sandbox', '--only', '/supported-protocols', ...FAST]);
  expect(code).toBe(0);
  expect(stdout).toContain('expected the header x-compute-units-cost, got none (tolerable)');
  expect(stdout).toMatch(/\d+ compute units spent by the documented prices, as the service states none, in/);
});

test('it asks no more once the quota is used up', async () => {
  await using proxy = await startBendingProxy(sandbox.url);
  let refused = 0;
  proxy.bend({
    request({ path }) {
      if (!path.includes('/balances/')) return undefined;
      refused += 1;
      return said(402, { error: 'quota' });
    },
  });
  const results = await judge({ url: proxy.url, only: ({ operation }) => operation.includes('/balances/') });
  expect(refused).toBe(1);
  expect(results.at(-1)?.why).toBe('the service says that the quota of the key is used up (402)');
});

test.each([
  ['Ctrl+C', (child: ChildProcess) => child.kill('SIGINT')],
  ['a reader that has seen enough', (child: ChildProcess) => child.stdout?.destroy()],
])('%s ends it, and it deletes the webhooks that it has made', async (_, interrupt) => {
  await using sandbox = await openSandbox();
  const args = ['test/contract/main.ts', sandbox.url, 'sandbox', '--webhooks', '--only', 'webhooks'];
  const child = spawn(join(root, 'node_modules/.bin/node'), args, { cwd: root });
  const ended = once(child, 'exit');
  await expect.poll(() => webhooksOf(sandbox)).toBeGreaterThan(3);
  interrupt(child);
  expect(await ended).toEqual([1, null]);
  expect(await webhooksOf(sandbox)).toBe(3);
});
