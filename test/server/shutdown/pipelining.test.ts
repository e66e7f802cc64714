import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attack, json } from '../../support/clients/raw-http.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { heldKey } from '../../support/gateway/start.ts';
import { startBlockingService } from '../../support/upstream/blocking-service.ts';

/** Requests that are sent at once over a connection: one that waits for another to be answered has not begun. */

const webhookOf = (number: number) => `0193f0a0-0000-7000-8000-${String(number).padStart(12, '0')}`;
const update = (number: number) =>
  `mutation { updateWebhook(input: { webhookId: "${webhookOf(number)}", name: "new" }) { __typename } }`;
const posted = (number: number) => {
  const body = JSON.stringify({ query: update(number) });
  return `${json(`content-length: ${body.length}`)}${body}`;
};

/** The process as shipped, over a service that answers nothing about webhooks until it is let. */
const startHeld = async () => {
  await using made = new AsyncDisposableStack();
  const service = made.use(await startBlockingService());
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-pipelining-'));
  made.defer(() => rm(dataDir, { recursive: true, force: true }));
  const env = { UPSTREAM_URL: service.url, UPSTREAM_API_KEY: heldKey, DATA_DIR: dataDir };
  const gateway = made.use(await spawnGateway(env));
  const running = made.move();
  const asked = () => service.requests.map(({ path }) => Number(path.split('-').at(-1)));
  return { service, gateway, asked, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

test('at SIGTERM a queued mutation gets 503 with Retry-After, and is not run', async () => {
  await using held = await startHeld();
  const { service, gateway, asked } = held;
  let exit: Promise<number | null> | null = null;
  const said = await attack(gateway.url, async (socket) => {
    socket.write(`${posted(1)}${posted(2)}`);
    await service.asked(1);
    exit = gateway.end('SIGTERM');
  });
  expect(said).toMatch(/"UPSTREAM_TIMEOUT".*HTTP\/1.1 503 .*retry-after: \d.*"INTERNAL_SERVER_ERROR"/is);
  expect(await exit).toBe(0);
  expect(asked()).toEqual([1]);
});
