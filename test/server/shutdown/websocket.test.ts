import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sleep } from '../../support/clients/queries.ts';
import { upgrade } from '../../support/clients/raw-http.ts';
import { listenTo, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { startReconnectingClient } from '../../support/clients/reconnecting-client.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { heldKey, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, expiringSoon, tokenOf } from '../../support/gateway/tokens.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { startBlockingService } from '../../support/upstream/blocking-service.ts';

/**
 * A client of graphql-ws asks again, on its next socket, for all that it got no `complete` for. A gateway that closes a
 * socket, because it stops or because a token has expired, has no mutation done twice for that, and breaks none off.
 */

const updateField = (name: string) =>
  `updateWebhook(input: { webhookId: "0193f0a0-0000-7000-8000-000000000001", name: "${name}" }) { __typename }`;

const update = (name: string) => `mutation { ${updateField(name)} }`;

const WEBHOOK = '{ webhook(webhookId: "0193f0a0-0000-7000-8000-000000000001") { id } }';

/** Most of these tests wait for a drain of five seconds: they wait together. */
const CONCURRENT = { concurrent: true };

const LISTEN = 'subscription { deliveries { cursor } }';

const UPDATED = { data: { updateWebhook: { __typename: 'UpdateWebhookPayload' } } };

/** The process as shipped, and another one after it, at the same place. */
const startDeployment = async (upstreamUrl: string) => {
  await using made = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-drain-'));
  made.defer(() => rm(dataDir, { recursive: true, force: true }));
  const env = { UPSTREAM_URL: upstreamUrl, UPSTREAM_API_KEY: heldKey, DATA_DIR: dataDir };
  const first = made.use(await spawnGateway(env));
  const running = made.move();
  const isAccepting = () =>
    fetch(`${first.url}/health/live`).then(
      () => true,
      () => false,
    );
  return {
    url: first.url,
    /** Sends SIGTERM; resolves when nothing more is accepted, with what will be the exit code. */
    async stop() {
      const exit = first.end('SIGTERM');
      while (await isAccepting()) await sleep(20);
      return { exit };
    },
    async startAgain() {
      running.use(await spawnGateway({ ...env, PORT: new URL(first.url).port }));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

test(
  'a mutation that is answered while the process stops is done once, and answered once',
  CONCURRENT,
  async () => {
    await using service = await startBlockingService();
    await using deployment = await startDeployment(service.url);
    await using client = startReconnectingClient(deployment.url);
    const answers = client.ask(update('one'));
    await service.asked(1);
    const { exit } = await deployment.stop();
    service.answerAll();
    expect(await exit).toBe(0);
    await deployment.startAgain();
    expect(await answers).toMatchObject([UPDATED]);
    expect(service.requests.map(({ method }) => method)).toEqual(['PATCH']);
  },
);

test('a mutation that arrives while the process stops is done once', CONCURRENT, async () => {
  await using service = await startBlockingService();
  await using deployment = await startDeployment(service.url);
  await using client = startReconnectingClient(deployment.url);
  const first = client.ask(update('one'));
  await service.asked(1);
  const { exit } = await deployment.stop();
  const second = client.ask(update('two'));
  await client.roundTrip();
  service.answerOne();
  expect(await exit).toBe(0);
  service.answerAll();
  await deployment.startAgain();
  expect(await first).toMatchObject([UPDATED]);
  expect(await second).toMatchObject([UPDATED]);
  expect(service.requests.map(({ body }) => JSON.parse(body).name)).toEqual(['one', 'two']);
});

test.each([
  ['query', WEBHOOK],
  ['mutation', update('one')],
])(
  'a %s under way is answered and completed before its socket is closed',
  CONCURRENT,
  async (_type, document) => {
    await using service = await startBlockingService();
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    using client = await listenTo(gateway);
    client.write(subscribeMessage(document, {}, 'under way'));
    await service.asked(1);
    const stopped = gateway.stop();
    service.answerAll();
    await stopped;
    expect(await client.closed).toBe(1012);
    expect(client.received.map(({ id, type }) => `${id}: ${type}`)).toEqual([
      'under way: next',
      'under way: complete',
    ]);
  },
);

test(
  'a mutation that the service does not answer in time is answered for it, and a query is left to be repeated',
  CONCURRENT,
  async () => {
    await using service = await startBlockingService();
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    using client = await listenTo(gateway);
    client.write(subscribeMessage(update('one'), {}, 'mutation'), subscribeMessage(WEBHOOK, {}, 'query'));
    await service.asked(2);
    await gateway.stop();
    expect(await client.closed).toBe(1012);
    expect(client.received).toMatchObject([
      {
        id: 'mutation',
        type: 'next',
        payload: {
          errors: [{ extensions: { code: 'UPSTREAM_TIMEOUT', requestId: expect.any(String) } }],
          extensions: { upstream: { requests: 1 } },
        },
      },
      { id: 'mutation', type: 'complete' },
    ]);
  },
);

test(
  'a mutation that is answered in the place of the service counts as that, and asks for nothing more',
  CONCURRENT,
  async ({ expect }) => {
    await using service = await startBlockingService();
    await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...byToken });
    using client = await listenTo(gateway, bearer(await tokenOf(expiringSoon())));
    client.write(subscribeMessage(`mutation { first: ${updateField('one')} second: ${updateField('two')} }`));
    await service.asked(1);
    expect(await client.closed).toBe(4403);
    expect(client.received).toMatchObject([
      { payload: { errors: [{ extensions: { code: 'UPSTREAM_TIMEOUT' } }] } },
      { type: 'complete' },
    ]);
    service.answerAll();
    await expect
      .poll(async () => (await scrape(gateway.url)).sum('gateway_upstream_requests_in_flight'))
      .toBe(0);
    expect(service.requests).toHaveLength(1);
    const { sum } = await scrape(gateway.url);
    const counted = (code: string) => sum('gateway_operations_total', { type: 'mutation', code });
    expect(['UPSTREAM_TIMEOUT', 'ABANDONED'].map(counted)).toEqual([1, 0]);
  },
);

test('a WebSocket that is asked for while the gateway stops is refused', CONCURRENT, async () => {
  await using service = await startBlockingService();
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  using client = await listenTo(gateway);
  client.write(subscribeMessage(update('one')));
  await service.asked(1);
  const { hostname, port } = new URL(gateway.url);
  const late = connect(Number(port), hostname).setEncoding('utf8');
  await once(late, 'connect');
  // One that has begun to ask is not idle, and is heard out.
  late.write(upgrade().slice(0, -2));
  await gateway.query('{ __typename }');
  const stopped = gateway.stop();
  late.write('\r\n');
  const [answer] = await once(late, 'data');
  expect(answer).toMatch(/^HTTP\/1.1 503 /);
  service.answerAll();
  await stopped;
  expect(client.received.map(({ type }) => type)).toEqual(['next', 'complete']);
});

test(
  'when a token expires a mutation under way is done once, and its subscription goes on with the next token',
  CONCURRENT,
  async () => {
    await using service = await startBlockingService();
    await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...byToken });
    await using client = startReconnectingClient(gateway.url, async () =>
      bearer(await tokenOf(client.closes.length === 0 ? expiringSoon() : {})),
    );
    client.listen(LISTEN);
    const first = client.ask(update('one'));
    await service.asked(1);
    await readersToBe(gateway.url, 1);
    // Though the socket is open still.
    await readersToBe(gateway.url, 0);
    const second = client.ask(update('two'));
    await client.roundTrip();
    expect([service.requests.length, client.closes]).toEqual([1, []]);
    service.answerAll();
    expect(await first).toMatchObject([UPDATED]);
    expect(await second).toMatchObject([UPDATED]);
    await readersToBe(gateway.url, 1);
    expect(client.closes).toEqual([4403]);
    expect(service.requests.map(({ body }) => JSON.parse(body).name)).toEqual(['one', 'two']);
  },
);
