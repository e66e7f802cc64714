import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { NAMES } from '../../src/config/table.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { startGateway } from '../support/gateway/start.ts';
import { readersToBe } from '../support/gateway/wait-for-readers.ts';
import { blocksOf, commandsOf, readPage, readPages, root } from '../support/pages.ts';

const pages = await readPages();
const run = promisify(execFile);
const PORT = 'http://127.0.0.1:4000';
const NODE = 'http://127.0.0.1:8545';

/** Reads an event stream up to its `count`-th event. */
const readStream = async (url: string, init: RequestInit, count: number): Promise<string> => {
  const stopped = new AbortController();
  const response = await fetch(url, { ...init, signal: stopped.signal });
  expect(response.status).toBe(200);
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if ([...text.matchAll(/^id: .+\n/gm)].length >= count) break;
  }
  stopped.abort();
  return text;
};

/** What a command sends: the shell reads its arguments, and `fetch` takes the place of curl. */
const requestOf = async (command: string): Promise<readonly [path: string, init: RequestInit]> => {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const { stdout } = await run('sh', ['-c', script]);
  const headers = new Headers();
  let url = '';
  let body: string | null = null;
  const given = stdout.split('\0').slice(0, -1).values();
  for (const argument of given) {
    if (argument === '-H') {
      const [name = '', value = ''] = (given.next().value ?? '').split(': ');
      headers.set(name, value);
    } else if (argument === '-d') body = given.next().value ?? '';
    else if (argument.startsWith('http')) url = argument;
    else expect(['-s', '-N']).toContain(argument);
  }
  expect(url.startsWith(`${PORT}/`) || url === NODE, command).toBe(true);
  return [url === NODE ? '' : url.slice(PORT.length), { method: 'POST', headers, body }];
};

type FirstScreen = {
  readonly wallet: {
    readonly portfolio: { readonly top: readonly object[] };
    readonly activity: { readonly nodes: readonly object[] };
    readonly collectibles: { readonly nodes: readonly object[] };
  };
};

const curlsOf = async (path: string): Promise<readonly string[]> =>
  commandsOf(await readPage(path))
    .flat()
    .filter((command) => command.startsWith('curl '));

test('every command of a page is npm, npx anvil, node, curl, export or redis-server, and what it names exists', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const commands = pages.flatMap(commandsOf).flat();
  expect(commands.length).toBeGreaterThan(12);
  for (const command of commands) {
    const [, assignments = '', program] = /^((?:[A-Z_]+=\S+ +)*)(.*)$/s.exec(command) ?? [];
    const known = program === 'npm run service' ? [...NAMES, 'API_KEY'] : NAMES;
    for (const [, name] of assignments.matchAll(/([A-Z_]+)=/g)) expect(known, command).toContain(name);
    expect(program).toMatch(
      /^(?:npx anvil$|npm (?:start|ci && npm (?:start|test)|run [\w-]+|install )|node |curl |export |redis-server )/,
    );
  }
  const named = pages.flatMap(({ text }) => [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name = '') => !(name in scripts))).toEqual([]);
});

test('each configuration that a page starts the gateway with has no problem', () => {
  const started = pages.flatMap(commandsOf).flatMap((commands) => {
    const environments: Record<string, string>[] = [];
    const exported: Record<string, string> = {};
    for (const command of commands) {
      const assigned = [...command.matchAll(/(?<= |^)([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]);
      if (command.startsWith('export ')) Object.assign(exported, Object.fromEntries(assigned));
      else if (command.endsWith('npm start'))
        environments.push({ ...exported, ...Object.fromEntries(assigned) });
    }
    return environments;
  });
  expect(started.length).toBeGreaterThan(5);
  for (const environment of started) expect(() => readConfig(environment)).not.toThrow();
});

test("README.md's query answers as it shows", async () => {
  const readme = await readPage('README.md');
  const [query = ''] = await curlsOf('README.md');
  const [, shown = ''] = /```json\n([\s\S]*?)```/.exec(readme.text) ?? [];
  await using gateway = await startGateway();
  const [path, init] = await requestOf(query);
  const reply = await (await fetch(gateway.url + path, init)).json();
  const expected = JSON.parse(shown);
  expect(reply.errors).toBeUndefined();
  expect(reply.extensions).toEqual(expected.extensions);
  const [node] = reply.data.wallet.transactions.nodes;
  const [shownNode] = expected.data.wallet.transactions.nodes;
  expect(Object.keys(node)).toEqual(Object.keys(shownNode));
  expect(node.hash).toMatch(/^0x[0-9a-f]{64}$/);
});

test("README.md's first screen costs what it says, and nothing when it is asked again", async () => {
  const readme = await readPage('README.md');
  const [query = ''] = blocksOf(readme, 'graphql');
  const [, address] = /address: \\"(0x[0-9a-f]{40})/.exec(readme.text) ?? [];
  const [, chainIds = ''] = /`"chainIds": ([^`]*)`/.exec(readme.text) ?? [];
  const shown = [...readme.text.matchAll(/`(\{ "requests": [^`]*\})`/g)].map(([, cost = '']) =>
    JSON.parse(cost),
  );
  await using gateway = await startGateway();
  for (const cost of shown.slice(0, 2)) {
    const { data, errors, extensions } = await gateway.query<FirstScreen>(query, {
      address,
      chainIds: JSON.parse(chainIds),
    });
    expect(errors).toBeUndefined();
    expect(extensions.upstream).toEqual(cost);
    const { portfolio, activity, collectibles } = data?.wallet ?? {};
    expect([portfolio?.top.length, activity?.nodes.length, collectibles?.nodes.length]).toEqual([10, 20, 20]);
  }
});

test("README.md's event stream goes on after the last id", async () => {
  const { text: readme } = await readPage('README.md');
  const [, live = ''] = await curlsOf('README.md');
  const [, header = ''] = /`(-H 'last-event-id: THE_LAST_ID')`/.exec(readme) ?? [];
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '100' });
  /** The ids of the first events. */
  const idsOf = async (command: string, count: number): Promise<readonly string[]> => {
    const [path, init] = await requestOf(command);
    const text = await readStream(gateway.url + path, init, count);
    return [...text.matchAll(/^id: (.+)$/gm)].map(([, id = '']) => id).slice(0, count);
  };
  const [first = '', second, third] = await idsOf(live, 3);
  expect(header).not.toBe('');
  const resumed = `${live} ${header.replace('THE_LAST_ID', first)}`;
  expect(await idsOf(resumed, 2)).toEqual([second, third]);
});

test('docs/your-own-chain.md: what is sent on the chain of one terminal, the gateway of the other prints', async () => {
  const [watch = '', subscribe = '', transfer = ''] = await curlsOf('docs/your-own-chain.md');
  await using anvil = await startAnvil();
  await using gateway = await startGateway({ CHAINS: `31337=${anvil.url}` });
  const [watchPath, watching] = await requestOf(watch);
  const watched = await (await fetch(gateway.url + watchPath, watching)).json();
  expect(watched).toMatchObject({ data: { watchWallet: { __typename: 'WatchWalletPayload' } } });
  const [streamPath, streaming] = await requestOf(subscribe);
  const printed = readStream(gateway.url + streamPath, streaming, 3);
  await readersToBe(gateway.url, 1);
  const [, sending] = await requestOf(transfer);
  const sent = await (await fetch(anvil.url, sending)).json();
  expect(sent.result).toMatch(/^0x[0-9a-f]{64}$/);
  const text = await printed;
  for (const type of ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES']) expect(text).toContain(`"type":"${type}"`);
});

test("docs/authentication.md's key gets a delivery url", async () => {
  const [command = ''] = await curlsOf('docs/authentication.md');
  await using gateway = await startGateway({ AUTH: 'key' });
  const [path, init] = await requestOf(command);
  const reply = await (await fetch(gateway.url + path, init)).json();
  expect(reply).toMatchObject({ data: { deliveryUrl: expect.stringContaining('/deliveries/') } });
});

test('every bench that a page names can be run', async () => {
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/npm run bench -- (\w+)/g)].map(([, name = '']) => name),
  );
  // Without a name it says which there are.
  const { stderr } = await run(process.execPath, [join(root, 'scripts/bench/main.ts')]).catch(
    (error: { readonly stderr: string }) => error,
  );
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((name) => !stderr.includes(name))).toEqual([]);
});

test('each npm script prints its usage in place of a stack trace at an unknown option, and at --help', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const programs = Object.values<string>(scripts).flatMap(
    (script) => /node .*?(\S+\.ts)$/.exec(script)?.[1] ?? [],
  );
  expect(programs.length).toBeGreaterThan(6);
  const node = join(root, 'node_modules/.bin/node');
  for (const program of new Set(programs)) {
    const failed = await run(node, [program, '--nonsense'], { cwd: root }).catch((error: object) => error);
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/nonsense[\s\S]*Usage: npm /),
    });
    expect(failed).not.toMatchObject({ stderr: expect.stringContaining('\n    at ') });
  }
  // Those that share a parser share its --help.
  for (const program of ['src/main.ts', 'scripts/soak/main.ts']) {
    const { stdout } = await run(node, [program, '--help'], { cwd: root });
    expect(stdout).toMatch(/^Usage: npm /);
  }
});
