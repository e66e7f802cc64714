import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../deliveries/support/builders.ts';
import { deliver } from '../../support/clients/deliver.ts';
import { askInParts, errorsIn, MULTIPART, NEWEST } from '../../support/clients/parts.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { PORTFOLIO, plainOf, startPortfolio } from '../../support/lookups/portfolio.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The rights, masking and reports of an operation, and its deadline, hold for all parts of its answer together. */

const linesOf = ({ logLines }: Gateway): Record<string, unknown>[] =>
  logLines.map((line) => JSON.parse(line)).filter(({ msg }) => /^operation (answered|failed)$/.test(msg));

test('a deferred field outside of the scopes of a token is an error of its part', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken });
  const query = '{ chains { name } ... @defer { deliveries { nodes { id } } } }';
  const headers = bearer(await tokenOf({ scope: 'wallets' }));
  const parts = await (await askInParts(gateway.url, { query, headers })).rest();
  expect(parts[0]).toMatchObject({ data: { chains: expect.any(Array) } });
  expect(errorsIn(parts)).toMatchObject([
    { path: ['deliveries'], extensions: { code: 'FORBIDDEN', scope: 'deliveries' } },
  ]);
});

test('a fault of the gateway in a later part is masked there, and one line of the log has its stack', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: await temporaryDirectory() });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  await deliver(deliveryUrl, { body: {} });
  const intruder = new DatabaseSync(join(gateway.dataDir, 'deliveries.db'));
  intruder.exec('UPDATE delivery SET received = 9007199254740991');
  intruder.close();
  const query = '{ chains { name } ... @defer { deliveries { nodes { receivedAt } } } }';
  const answer = await askInParts(gateway.url, { query, headers: { 'x-request-id': 'broken' } });
  const parts = await answer.rest();
  expect(errorsIn(parts)).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
  expect(JSON.stringify(parts)).not.toContain('RangeError');
  const [line, ...more] = linesOf(gateway).filter(({ requestId }) => requestId === 'broken');
  expect(more).toEqual([]);
  expect(line).toMatchObject({ level: 'error', codes: ['INTERNAL_SERVER_ERROR'] });
  expect(JSON.stringify(line)).toContain('RangeError');
});

test('an operation is one line and one count, after its last part', async () => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  const counted = async () => (await scrape(gateway.url)).sum('gateway_operations_total', { type: 'query' });
  const answer = await askInParts(gateway.url, { query: PORTFOLIO, variables });
  await answer.next();
  expect(linesOf(gateway)).toEqual([]);
  expect(await counted()).toBe(0);
  portfolio.release();
  await answer.rest();
  expect(linesOf(gateway)).toMatchObject([
    { type: 'query', transport: 'http', requests: 2, computeUnits: 2 },
  ]);
  expect(await counted()).toBe(1);
});

test('one deadline holds for all parts', async () => {
  await using portfolio = await startPortfolio({ UPSTREAM_TIMEOUT_MS: '500' });
  const { gateway, variables } = portfolio;
  const parts = await (await askInParts(gateway.url, { query: PORTFOLIO, variables })).rest();
  expect(parts[0]).toMatchObject({ data: { quick: { transactions: { nodes: [{}, {}] } } } });
  expect(errorsIn(parts)).toMatchObject([
    { path: ['slow', 'transactions'], extensions: { code: 'UPSTREAM_TIMEOUT' } },
  ]);
  expect(parts.at(-1)).not.toHaveProperty('errors');
  expect(linesOf(gateway)).toMatchObject([{ codes: ['UPSTREAM_TIMEOUT'] }]);
});

test.each([MULTIPART, NEWEST])(
  'a page whose details only a later part selects is read once: %s',
  async (accept) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(3)));
    const query = `query ($address: Address!) { wallets(addresses: [$address]) {
    transactions { nodes { hash } }
    ... @defer { id ... @defer { transactions { nodes { decoded { name } } } } }
  } }`;
    const parts = await (await askInParts(gateway.url, { query, variables: { address }, accept })).rest();
    expect(parts.at(-1)?.extensions?.upstream).toMatchObject({ computeUnits: 1 });
    expect(fake.requests.map((request) => request.query.get('decode'))).toEqual(['true']);
  },
);

test('a document whose directives are off is shared as one without them', async () => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  portfolio.release();
  const query = PORTFOLIO.replace('@defer(', '@defer(if: false, ');
  const ask = async (asked: string) =>
    (await askInParts(gateway.url, { query: asked, variables })).response.text();
  const shared = async () => (await scrape(gateway.url)).sum('gateway_shared_answers_total');
  const answers = [await ask(query), await ask(query), await ask(query)];
  expect(await shared()).toBe(1);
  const plain = [await ask(plainOf(query)), await ask(plainOf(query)), await ask(plainOf(query))];
  expect(await shared()).toBe(2);
  expect(plain[2]).toBe(answers[2]);
});
