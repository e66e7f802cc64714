import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { need } from '../support/available.ts';
import { deliver } from '../support/clients/deliver.ts';
import { sleep } from '../support/clients/queries.ts';
import { message, openRawSocket } from '../support/clients/raw-socket.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { findProgram, JQ } from '../support/debian-program.ts';
import { needPrometheus, startPrometheus } from '../support/deploy/prometheus-server.ts';
import { folderOf } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway/process.ts';
import { idOf } from '../support/gateway/trusted.ts';
import { readersToBe } from '../support/gateway/wait-for-readers.ts';
import { blocksOf, readPage } from '../support/pages.ts';
import { addressOf, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';

/** The six questions of docs/operations.md, each asked as the page says, of a gateway with load. */

const page = await readPage('docs/operations.md');
const [, section = ''] = page.text.split('\n## Six questions at night\n');
const questions =
  section
    .split('\n## ')[0]
    ?.split('\n### ')
    .slice(1)
    .map((text) => ({
      question: text.split('\n')[0] ?? '',
      queries: blocksOf({ path: page.path, text }, 'promql').map((block) => block.trim()),
      lines: blocksOf({ path: page.path, text }, 'console').map((block) => block.trim().replace(/^\$ /, '')),
    })) ?? [];

const DOCUMENTS = {
  wallet:
    'query Wallet($all: [Address!]!) { wallets(addresses: $all) { transactions(first: 1) { nodes { hash } } } }',
  portfolio:
    'query Portfolio($all: [Address!]!) { wallets(addresses: $all) { transactions(first: 2) { nodes { hash } } } }',
  url: 'query Url { deliveryUrl }',
  feed: 'subscription Feed { deliveries { node { payload } } }',
};

const [ALIVE, STOPPED] = ['0190aaaa-bbbb-7ccc-8ddd-000000000001', '0190aaaa-bbbb-7ccc-8ddd-000000000002'];

const run = promisify(execFile);

const FILLER = 'x'.repeat(100_000);

/** Starts a gateway of three clients, two operations, two webhooks and a subscriber that does not read. */
const startUsed = async () => {
  await using made = new AsyncDisposableStack();
  const trusted = Object.fromEntries(Object.values(DOCUMENTS).map((document) => [idOf(document), document]));
  const folder = made.use(await folderOf({ 'trusted.json': JSON.stringify(trusted) }));
  const gateway = made.use(
    await startGatewayProcess({
      TRUSTED_DOCUMENTS: folder.path('trusted.json'),
      CLIENT_NAMES: 'web,ios,script',
      TENANT_METRICS: 'on',
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '100',
      LOG_LEVEL: 'debug',
    }),
  );
  let wallets = 0;
  const ask = async (client: string, document: string, count: number) => {
    const all = Array.from({ length: count }, () => addressOf(1_000_000 + wallets++));
    const serve = servingTransactions(history(1));
    for (const address of all)
      gateway.fake.transactions.set(address, async (request) => {
        if (document === DOCUMENTS.portfolio) await sleep(300);
        return serve(request);
      });
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'graphql-client-name': client },
      body: JSON.stringify({ documentId: idOf(document), variables: { all } }),
    });
    return response.json();
  };
  const { data } = await ask('web', DOCUMENTS.url, 0);
  const deliverAs = (webhookId: string, body: object) => deliver(data.deliveryUrl, { webhookId, body });
  const running = made.move();
  return {
    ...gateway,
    ask,
    deliverAs,
    deliveryUrl: String(data.deliveryUrl),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** A series: its labels, and its value. */
type Answer = { readonly [label: string]: string | number | undefined } & {
  readonly value: number;
  readonly __name__?: string;
};

test('each of the six questions has its answer, by a query of Prometheus or a line of jq', async (context) => {
  await needPrometheus(context);
  const jq = await findProgram(JQ);
  need(context, typeof jq !== 'string', `jq (${jq})`);
  if (typeof jq === 'string') return;
  expect(questions.map(({ question }) => question)).toEqual([
    'Which client spends our units?',
    'Which operation is slow?',
    'Which webhook stopped?',
    'Which subscriber lags?',
    'How big is the log?',
    'Which version runs where?',
  ]);
  await using gateway = await startUsed();
  const { ask, deliverAs } = gateway;
  // What counts for the first time is not an increase.
  for (const client of ['web', 'ios'])
    for (const document of [DOCUMENTS.wallet, DOCUMENTS.portfolio]) await ask(client, document, 1);
  await deliverAs(STOPPED, { number: 0 });
  await deliverAs(STOPPED, {});
  const prometheus = await startPrometheus(gateway.url);
  await prometheus.scraped(3);

  for (let times = 0; times < 4; times += 1) await ask('web', DOCUMENTS.wallet, 1);
  for (let times = 0; times < 3; times += 1) await ask('ios', DOCUMENTS.portfolio, 10);
  const refused = await ask('script', DOCUMENTS.wallet, 90);
  expect(refused.errors[0].extensions.code).toBe('COMPUTE_BUDGET_EXCEEDED');
  await fetch(gateway.deliveryUrl, {
    method: 'POST',
    headers: { 'x-fake-webhook-id': STOPPED },
    body: 'no JSON',
  });
  using slow = await openRawSocket(gateway.url, () => {}, { 'apollographql-client-name': 'ios' });
  const persistedQuery = { version: 1, sha256Hash: idOf(DOCUMENTS.feed) };
  slow.write(
    message({
      id: '1',
      type: 'subscribe',
      payload: { query: DOCUMENTS.feed, extensions: { persistedQuery } },
    }),
  );
  await readersToBe(gateway.url, 1);
  slow.stall();
  const lines = () => gateway.lines.filter((line) => line.includes('subscriber falls behind'));
  for (let number = 1; number <= 250; number += 1) await deliverAs(ALIVE, { number, filler: FILLER });
  await eventually(() => lines().length > 0);
  await prometheus.scraped(10);

  /** The results of the queries of a question, each as the labels and the values of its series, in their order. */
  const answersTo = async (question: string) => {
    const { queries = [] } = questions.find((each) => each.question === question) ?? {};
    return Promise.all(
      queries.map(async (query) =>
        (await prometheus.query(query)).map(
          ({ metric, value }): Answer => ({ ...metric, value: Number(value[1]) }),
        ),
      ),
    );
  };
  const [clients, tenants] = await answersTo('Which client spends our units?');
  expect(clients?.[0]).toMatchObject({ client: 'ios' });
  expect(clients?.[0]?.value).toBeGreaterThan(10);
  expect(tenants).toEqual([{ tenant: expect.stringMatching(/^[0-9a-f]{12}$/), value: expect.any(Number) }]);
  const [operations] = await answersTo('Which operation is slow?');
  expect(operations?.[0]).toMatchObject({
    operation: 'Portfolio',
    document: idOf(DOCUMENTS.portfolio).slice(0, 12),
  });
  expect(operations?.[0]?.value).toBeGreaterThan(0.25);
  const [silent, rejected] = await answersTo('Which webhook stopped?');
  expect(silent).toEqual([
    { webhook: STOPPED, value: expect.any(Number) },
    { webhook: ALIVE, value: expect.any(Number) },
  ]);
  expect(rejected).toEqual([expect.objectContaining({ webhook: STOPPED, status: '400' })]);
  const [subscribers] = await answersTo('Which subscriber lags?');
  expect(subscribers?.[0]).toMatchObject({ client: 'ios' });
  expect(subscribers?.[0]?.value).toBeGreaterThan(100);
  const [sizes] = await answersTo('How big is the log?');
  const size = Object.fromEntries((sizes ?? []).map(({ __name__ = '', value }) => [__name__, value]));
  expect(size).toMatchObject({ gateway_log_deliveries: 252, gateway_log_tenants: 1 });
  expect(size.gateway_log_bytes).toBeGreaterThan(250 * FILLER.length);
  expect(size.gateway_log_oldest_timestamp_seconds).toBeGreaterThan(Date.now() / 1000 - 600);
  const [versions] = await answersTo('Which version runs where?');
  expect(versions).toEqual([
    { instance: new URL(gateway.url).host, version: expect.any(String), node: expect.any(String), value: 1 },
  ]);

  await using folder = await folderOf({ 'gateway.log': `${gateway.lines.join('\n')}\n` });
  const linesTo = async (question: string) => {
    const { lines: commands = [] } = questions.find((each) => each.question === question) ?? {};
    const outputs = commands.map((command) =>
      run('sh', ['-c', command.replace(/^jq\b/, jq.path)], { cwd: folder.path('.'), env: jq.env }),
    );
    return (await Promise.all(outputs)).flatMap(({ stdout }) =>
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
  };
  expect(await linesTo('Which client spends our units?')).toEqual([{ client: 'script', refused: 1 }]);
  expect((await linesTo('Which operation is slow?'))[0]).toEqual({
    operation: 'Portfolio',
    worstMs: expect.any(Number),
  });
  const [line = '{}'] = lines();
  const { requestId, behind } = JSON.parse(line);
  expect(await linesTo('Which subscriber lags?')).toEqual([
    { client: 'ios', operation: 'Feed', requestId, behind },
  ]);
  expect(await linesTo('Which version runs where?')).toEqual([
    { time: expect.any(String), url: gateway.url, version: versions?.[0]?.version },
  ]);
});
