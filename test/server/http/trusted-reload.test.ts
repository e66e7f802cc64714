import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { need } from '../../support/available.ts';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { sleep } from '../../support/clients/queries.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { folderOf } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { codesOf, heldKey, nowhere } from '../../support/gateway/start.ts';
import { idOf, startTrusting, trustedFile } from '../../support/gateway/trusted.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** SIGHUP: the file of TRUSTED_DOCUMENTS is read again, and judged as at the start. */

const BEFORE = 'query Before { __typename }';
const AFTER = 'query After { __typename }';
const KEPT = 'query Kept { chains { name } }';

type Line = { readonly msg: string } & Record<string, unknown>;

const linesOf = (lines: readonly string[]): Line[] =>
  lines.map((line): Line => JSON.parse(line)).filter(({ msg }) => msg.startsWith('trusted documents'));

const sendById = (gateway: { post(body: string): Promise<{ data: unknown }> }, document: string) =>
  gateway.post(JSON.stringify({ documentId: idOf(document) }));

test('the process reads the file again at SIGHUP, and a file that is bad leaves it as it was', async () => {
  await using folder = await folderOf({ 'trusted.json': trustedFile([BEFORE, KEPT]) });
  const path = folder.path('trusted.json');
  await using gateway = await spawnGateway({
    UPSTREAM_URL: nowhere,
    UPSTREAM_API_KEY: heldKey,
    DATA_DIR: folder.path('data'),
    TRUSTED_DOCUMENTS: path,
  });
  const reload = async (content: string): Promise<Line | undefined> => {
    await writeFile(path, content);
    const before = linesOf(gateway.lines).length;
    gateway.child.kill('SIGHUP');
    await eventually(() => linesOf(gateway.lines).length > before);
    return linesOf(gateway.lines).at(-1);
  };
  const runs = async (document: string) => (await sendById(gateway, document)).data !== undefined;

  expect(linesOf(gateway.lines)).toMatchObject([{ level: 'info', documents: 2 }]);
  expect(await reload(trustedFile([AFTER, KEPT, BEFORE.replace('Before', 'Third')]))).toMatchObject({
    level: 'info',
    msg: 'trusted documents reloaded',
    documents: 3,
    added: 2,
    removed: 1,
  });
  expect([await runs(BEFORE), await runs(AFTER), await runs(KEPT)]).toEqual([false, true, true]);

  const bad = await reload(trustedFile([BEFORE, 'query Bad { nothing }']));
  expect(bad).toMatchObject({ level: 'error', documents: 3 });
  expect(bad?.msg).toContain('not reloaded');
  expect(bad?.problems).toEqual([
    expect.stringMatching(/^TRUSTED_DOCUMENTS: .*Cannot query field "nothing"/),
  ]);
  expect([await runs(BEFORE), await runs(AFTER), await runs(KEPT)]).toEqual([false, true, true]);
});

test.each<[what: string, content: string, problem: RegExp]>([
  ['no JSON, as of a file that is half written', '{"', /expected a JSON object/],
  ['a wrong hash', JSON.stringify({ abc: AFTER }), /abc: expected the SHA-256/],
  ['a document that is beyond a limit', trustedFile([`{${' __typename'.repeat(31)} }`]), /30 root fields/],
])('%s is one line of the log, and changes nothing', async (_what, content, problem) => {
  await using gateway = await startTrusting([BEFORE], { UPSTREAM_URL: nowhere });
  await gateway.rewrite(content);
  const [, line, ...more] = linesOf(gateway.logLines);
  expect(line).toMatchObject({ level: 'error', documents: 1, problems: [expect.stringMatching(problem)] });
  expect(more).toEqual([]);
  expect(await sendById(gateway, BEFORE)).toMatchObject({ data: { __typename: 'Query' } });
});

test('a file that has thousands of problems is still one line of bounded length', async () => {
  await using gateway = await startTrusting([BEFORE], { UPSTREAM_URL: nowhere });
  const bad = Array.from({ length: 500 }, (_, number) => `query Bad${number} { nothing }`);
  await gateway.rewrite(bad);
  const [, line] = linesOf(gateway.logLines);
  expect(line).toMatchObject({ moreProblems: 480 });
  expect(line?.problems).toHaveLength(20);
});

test('operations that run go on: a subscription hears of what comes later, a lookup gets its answer', async () => {
  const FEED = 'subscription Feed { deliveries { cursor node { id } } }';
  const URL_OF = 'query Url { deliveryUrl }';
  const WALLET =
    'query Wallet($address: Address!) { wallet(address: $address) { transactions(first: 1) { nodes { hash } } } }';
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([FEED, WALLET, URL_OF], { UPSTREAM_URL: fake.url });
  const { deliveryUrl } = (await sendById(gateway, URL_OF)).data as { deliveryUrl: string };
  const extensions = { persistedQuery: { version: 1, sha256Hash: idOf(FEED) } };
  await using feed = subscribe(gateway.url, { query: FEED, extensions });
  await eventually(() => gateway.logLines.some((line) => line.includes('"type":"subscription"')));
  const address = freshAddress();
  const answer = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    await answer.promise;
    return servingTransactions([])(request);
  });
  const lookup = gateway.post(JSON.stringify({ documentId: idOf(WALLET), variables: { address } }));
  await eventually(() => fake.requestsFor(address).length > 0);

  await gateway.rewrite([AFTER]);
  answer.resolve();
  expect(await lookup).toMatchObject({
    data: { wallet: { transactions: { nodes: [] } } },
    errors: undefined,
  });
  await deliver(deliveryUrl, { body: activity(1) });
  await eventually(() => feed.edges.length > 0);
  expect(feed.faults).toEqual([]);
  await using late = subscribe(gateway.url, { query: FEED, extensions });
  await late.ended;
  expect(codesOf({ errors: late.faults })).toEqual(['FORBIDDEN']);
});

test('labels follow: a new document has its own, and so has one that moves among the first 100', async () => {
  const many = Array.from({ length: 100 }, (_, number) => `query Many${number} { __typename }`);
  await using gateway = await startTrusting([...many, KEPT], { UPSTREAM_URL: nowhere });
  const counted = async (operation: string) =>
    (await scrape(gateway.url)).sum('gateway_client_operations_total', { operation });
  await sendById(gateway, KEPT);
  expect([await counted('Kept'), await counted('other')]).toEqual([0, 1]);
  await gateway.rewrite([KEPT, AFTER]);
  await sendById(gateway, KEPT);
  await sendById(gateway, AFTER);
  expect([await counted('Kept'), await counted('After'), await counted('other')]).toEqual([1, 1, 1]);
});

test('without TRUSTED_DOCUMENTS, SIGHUP says that there is nothing to reload', async () => {
  await using folder = await folderOf({});
  await using gateway = await spawnGateway({
    UPSTREAM_URL: nowhere,
    UPSTREAM_API_KEY: heldKey,
    DATA_DIR: folder.path('data'),
  });
  gateway.child.kill('SIGHUP');
  await eventually(() => gateway.lines.some((line) => line.includes('nothing to reload')));
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('a gateway in a terminal ends when that is closed, which is SIGHUP too', async (context) => {
  need(context, existsSync('/usr/bin/script'), "util-linux' script");
  await using folder = await folderOf({});
  const env = { HOST: '127.0.0.1', PORT: String(await freePort()) };
  const url = `http://${env.HOST}:${env.PORT}/health/live`;
  const terminal = spawn('script', ['-qec', 'node_modules/.bin/node src/main.ts', '/dev/null'], {
    env: { PATH: process.env.PATH, ...env, DATA_DIR: folder.path('data') },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  await eventually(
    () => shown.includes(' listening '),
    () => shown,
  );
  expect((await fetch(url)).ok).toBe(true);
  terminal.kill('SIGKILL');
  const isUp = () =>
    fetch(url, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    );
  while (await isUp()) await sleep(50);
});
