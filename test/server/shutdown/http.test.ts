import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deliveriesOf } from '../../support/clients/deliver.ts';
import { attack, head, json } from '../../support/clients/raw-http.ts';
import { listenTo, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { overEventStream, overHttp } from '../../support/clients/transports.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { heldKey } from '../../support/gateway/start.ts';
import { startBlockingService } from '../../support/upstream/blocking-service.ts';

/** Every request that the process has taken is answered before it ends, whatever it waits for. */

const WEBHOOK = '{ webhook(webhookId: "0193f0a0-0000-7000-8000-000000000001") { id } }';

/** Two of these tests wait for a drain of five seconds: they wait together. */
const CONCURRENT = { concurrent: true };

/** Each updates another webhook: updates of one webhook wait for one another. */
const update = (number: number) => {
  const webhookId = `0193f0a0-0000-7000-8000-${String(number).padStart(12, '0')}`;
  return `mutation { updateWebhook(input: { webhookId: "${webhookId}", name: "new" }) { __typename } }`;
};

/** The process as shipped, over a service that answers nothing about webhooks until it is let. */
const startHeld = async () => {
  await using made = new AsyncDisposableStack();
  const service = made.use(await startBlockingService());
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-drain-http-'));
  made.defer(() => rm(dataDir, { recursive: true, force: true }));
  const env = { UPSTREAM_URL: service.url, UPSTREAM_API_KEY: heldKey, DATA_DIR: dataDir };
  const gateway = made.use(await spawnGateway(env));
  const running = made.move();
  return { service, gateway, url: gateway.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

test(
  'at SIGTERM all that the service has not answered is UPSTREAM_TIMEOUT, whatever it came by, and the process exits with 0',
  CONCURRENT,
  async () => {
    await using held = await startHeld();
    const { service, gateway, url } = held;
    using client = await listenTo(gateway);
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    const asked = Promise.all([
      ...numbers.map((number) => overHttp(url, { query: update(number) })),
      ...numbers.slice(0, 5).map((number) => overEventStream(url, { query: update(100 + number) })),
      overHttp(url, { query: WEBHOOK }),
      overEventStream(url, { query: WEBHOOK }),
    ]);
    client.write(...numbers.map((number) => subscribeMessage(update(200 + number), {}, `${number}`)));
    await service.asked(46);
    const exit = gateway.end('SIGTERM');
    for (const { errors, raw } of await asked) {
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_TIMEOUT']);
      expect(raw).toContain('"upstream"');
    }
    expect(await exit).toBe(0);
    expect(await client.closed).toBe(1012);
    const next = client.received.filter(({ type }) => type === 'next');
    expect(next).toHaveLength(20);
    expect(JSON.stringify(next).match(/"UPSTREAM_TIMEOUT"/g)).toHaveLength(20);
    const lines = gateway.lines.filter((line) => line.includes('"level":"error"'));
    expect(lines).toEqual([]);
  },
);

test('at SIGTERM a request whose body is incomplete gets 503 with Retry-After', CONCURRENT, async () => {
  await using held = await startHeld();
  const { gateway, url } = held;
  const { pathname } = new URL((await deliveriesOf(url)).deliveryUrl);
  let started = 0;
  const begin = (requestHead: string) =>
    attack(url, (socket) => {
      socket.write(`${requestHead}{"query":`, () => {
        started += 1;
      });
    });
  const operation = begin(json('content-length: 1000'));
  const delivery = begin(head(`POST ${pathname}`, 'content-length: 1000'));
  await eventually(() => started === 2);
  await fetch(`${url}/health/live`);
  const exit = gateway.end('SIGTERM');
  expect(await operation).toMatch(
    /^HTTP\/1.1 503 .*retry-after: \d.*"code":"INTERNAL_SERVER_ERROR".*"upstream"/is,
  );
  expect(await delivery).toMatch(/^HTTP\/1.1 503 .*retry-after: \d/is);
  for (const rejection of [await operation, await delivery])
    expect(rejection).toMatch(
      /^x-request-id: \S+\r\ncache-control: no-store\r\n.*^x-frame-options: DENY\r\n/ims,
    );
  expect(await exit).toBe(0);
  expect(gateway.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

test(
  'a request that lies unread in its connection when SIGTERM comes is answered, also on a new connection',
  CONCURRENT,
  async () => {
    await using held = await startHeld();
    const { gateway, url } = held;
    const asking = head('GET /health/live');
    let first = '';
    const kept = attack(url, async (socket) => {
      socket.on('data', (text) => {
        first += text;
      });
      socket.write(asking);
      await eventually(() => first.includes('"live"'));
      gateway.child.kill('SIGSTOP');
      await new Promise((resolve) => socket.write(asking, resolve));
      const fresh = attack(url, (other) => void other.write(asking));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const exit = gateway.end('SIGTERM');
      gateway.child.kill('SIGCONT');
      expect(await fresh).toContain('"live"');
      expect(await exit).toBe(0);
    });
    expect((await kept).match(/HTTP\/1.1 200 /g)).toHaveLength(2);
  },
);
