import { afterEach, expect, test, vi } from 'vitest';
import { poll } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Which traces are exported, when, and to whom. */

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Sets what OpenTelemetry's SDK reads from the environment of the process. */
const forSdk = (env: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
};

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  ['the client decides by default', {}, '00', { spans: 0, flags: '00', continued: true }],
  [
    'an own sampler decides',
    { OTEL_TRACES_SAMPLER: 'always_on' },
    '00',
    { spans: 1, flags: '01', continued: true },
  ],
  [
    'a ratio of none records none',
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    '01',
    { spans: 0, flags: '00', continued: true },
  ],
  [
    'without propagation a trace begins and ends here',
    { OTEL_PROPAGATORS: 'none' },
    '01',
    { spans: 1, flags: null, continued: false },
  ],
])('sampling: %s', async (_what, env, flags, expected) => {
  await using fake = await startFakeWallets();
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...receiver.env, ...env });
  await poll(gateway, freshAddress(), { traceparent: `00-${TRACE}-${SPAN}-${flags}` });
  await gateway.stop();
  expect(receiver.spans().filter(({ name }) => name === 'POST /graphql')).toHaveLength(expected.spans);
  for (const { traceId } of receiver.spans()) expect(traceId === TRACE).toBe(expected.continued);
  const sent = fake.requests[0]?.headers.traceparent;
  if (expected.flags === null) expect(sent).toBeUndefined();
  else expect(sent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-${expected.flags}$`));
});

test('the last spans are exported by the shutdown, as protobuf by default, compressed on demand', async () => {
  await using receiver = await startOtlpReceiver();
  forSdk({
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_SERVICE_NAME: 'my-gateway',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=another,deployment.environment.name=blue%20green',
  });
  await using gateway = await startGateway({
    UPSTREAM_URL: nowhere,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own/path`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VjcmV0,x-tenant=blue',
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  });
  await gateway.query('{ __typename }', {}, { traceparent: `00-${TRACE}-${SPAN}-01` });
  expect(receiver.exports).toEqual([]);
  await gateway.stop();
  const [exported, ...more] = receiver.exports;
  expect(more).toEqual([]);
  expect(exported?.path).toBe('/own/path');
  expect(exported?.headers).toMatchObject({
    'content-type': 'application/x-protobuf',
    'content-encoding': 'gzip',
    authorization: 'Basic c2VjcmV0',
    'x-tenant': 'blue',
  });
  const body = exported?.body ?? Buffer.alloc(0);
  for (const text of ['my-gateway', 'blue green', 'POST /graphql', 'graphql.parse'])
    expect([text, body.includes(text)]).toEqual([text, true]);
  expect(body.includes(Buffer.from(TRACE, 'hex'))).toBe(true);
  expect(body.includes('another')).toBe(false);
});

test('probes, the console and unknown paths have no spans', async () => {
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...receiver.env });
  for (const path of ['/health/live', '/health/ready', '/metrics', '/', '/nothing', '/wp-login.php'])
    await (await fetch(gateway.url + path)).text();
  await gateway.query('{ __typename }');
  await gateway.stop();
  expect(new Set(receiver.spans().map(({ name }) => name))).toEqual(
    new Set(['POST /graphql', 'graphql.parse', 'graphql.validate', 'query']),
  );
  for (const { body } of receiver.exports) expect(body.includes('"evm-graphql-gateway"')).toBe(true);
});

test.each([
  ['is gone', null, 'ECONNREFUSED'],
  ['refuses them', 401, 'status 401'],
])(
  'a receiver that %s costs no request, and one line that holds no secret',
  async (_what, status, reason) => {
    await using fake = await startFakeWallets();
    await using receiver = await startOtlpReceiver(status ?? 200);
    const secret = 'the-receivers-own-token';
    if (status === null) forSdk({ OTEL_EXPORTER_OTLP_TIMEOUT: '50' });
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      ...receiver.env,
      ...(status === null && { OTEL_EXPORTER_OTLP_ENDPOINT: nowhere }),
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secret}`,
      OTEL_BSP_MAX_QUEUE_SIZE: '20',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
    });
    const lines = () => gateway.logLines.filter((line) => line.includes('traces:'));
    for (let turn = 0; turn < 50; turn += 1) expect((await poll(gateway, freshAddress())).status).toBe(200);
    await eventually(() => lines().length > 0);
    await gateway.stop();
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'warn', msg: 'traces: export failed', reason }),
    ]);
    expect(gateway.logLines.join('')).not.toContain(secret);
  },
);
