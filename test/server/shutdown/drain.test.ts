import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { eventually } from '../../support/clients/subscribe.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { startBlockingService } from '../../support/upstream/blocking-service.ts';

/** A gateway that stops finishes what runs, however it was asked for: drain-sockets.test.ts has the WebSockets. */

const byKey = { 'x-service-api-key': 'a-key' };

const MUTATION = `mutation {
  updateWebhook(input: { webhookId: "0193f0a0-0000-7000-8000-000000000001", name: "new" }) { __typename }
}`;

test('of two requests that were sent at once over a connection both are answered', async () => {
  await using service = await startBlockingService();
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const said = text(socket);
  const body = JSON.stringify({ query: MUTATION });
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}` +
      `GET /health/live HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`,
  );
  await service.asked(1);
  const stopped = gateway.stop();
  service.answerAll();
  await stopped;
  expect((await said).match(/HTTP\/1.1 200/g)).toHaveLength(2);
  expect(await said).toContain('UpdateWebhookPayload');
  expect(await said).toContain('{"status":"live"}');
});

test.each(['application/json', 'text/event-stream'])(
  'a mutation under way is answered as %s',
  async (accept) => {
    await using service = await startBlockingService();
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const response = fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: MUTATION }),
    });
    await service.asked(1);
    const stopped = gateway.stop();
    service.answerAll();
    expect(await (await response).text()).toContain('UpdateWebhookPayload');
    await stopped;
  },
);

test('at SIGTERM it is not ready first, still serves clients that have not noticed, and closes kept-alive connections', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-retire-'));
  try {
    await using gateway = await spawnGateway({ DATA_DIR: dataDir });
    const ready = () => fetch(`${gateway.url}/health/ready`);
    expect((await ready()).status).toBe(200);
    const exit = gateway.end('SIGTERM');
    let answer = await ready();
    while (answer.status === 200) answer = await ready();
    expect([answer.status, await answer.json()]).toMatchObject([503, { reasons: [{ part: 'stopping' }] }]);

    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
    const served = await fetch(`${gateway.url}/graphql?query={__typename}`);
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close']);
    expect(await served.json()).toMatchObject({ data: { __typename: 'Query' } });
    expect(await exit).toBe(0);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s again does not cut off what the first one lets finish',
  async (signal) => {
    await using service = await startBlockingService();
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-again-'));
    try {
      const env = { DATA_DIR: dataDir, UPSTREAM_URL: service.url, UPSTREAM_API_KEY: 'a-key' };
      await using gateway = await spawnGateway(env);
      const response = fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: MUTATION }),
      });
      await service.asked(1);
      const exit = gateway.end(signal);
      await eventually(() => gateway.lines.some((line) => line.includes('"stopping"')));
      gateway.child.kill(signal);
      service.answerAll();
      expect(await (await response).text()).toContain('UpdateWebhookPayload');
      expect(await exit).toBe(0);
      expect(gateway.lines.filter((line) => line.includes('"stopping"'))).toHaveLength(1);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);

test('NOTICE_MS keeps a gateway accepting whose readiness is not polled, such as behind a balancer that only connects', async () => {
  await using gateway = await spawnGateway({ UPSTREAM_URL: nowhere, AUTH: 'key', NOTICE_MS: '600000' });
  gateway.child.kill('SIGTERM');
  await eventually(() => gateway.lines.some((line) => line.includes('"stopping"')));
  for (let again = 0; again < 20; again += 1) {
    const served = await fetch(`${gateway.url}/graphql?query={__typename}`, { headers: byKey });
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close']);
  }
  expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(503);
});

test('DRAIN_MS is how long an operation may go on', async () => {
  await using service = await startBlockingService();
  const started = async (env: Record<string, string>) => {
    const gateway = await startGateway({ UPSTREAM_URL: service.url, ...env });
    const asked = service.requests.length + 1;
    const answer = gateway.query<unknown>(MUTATION);
    await service.asked(asked);
    return { gateway, answer };
  };
  const patient = await started({});
  const hasty = await started({ DRAIN_MS: '0' });
  const stopped = [patient, hasty].map(({ gateway }) => gateway.stop());
  let isFirst = true;
  void patient.answer.then(() => {
    isFirst = false;
  });
  expect((await hasty.answer).errors?.[0]?.extensions.code).toBe('UPSTREAM_TIMEOUT');
  expect(isFirst).toBe(true);
  service.answerAll();
  expect((await patient.answer).errors).toBeUndefined();
  await Promise.all(stopped);
});

test('SIGTERM to npm start reaches the gateway, and it exits with 0', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-npm-'));
  const npm = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    let output = '';
    npm.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await eventually(
      () => output.includes('"listening"'),
      () => output,
    );
    const exit = once(npm, 'exit');
    npm.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    await eventually(
      () => output.includes('"stopped"'),
      () => output,
    );
  } finally {
    npm.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  }
});
