import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderOf } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway/process.ts';
import { recordingModules } from '../support/gateway/record-modules.ts';
import { SOURCE } from '../support/gateway/spawn.ts';
import { byToken } from '../support/gateway/tokens.ts';
import { idOf } from '../support/gateway/trusted.ts';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.ts';

/** What a gateway over a service loads: only what its configuration, or a request, needs. */

const startRecorded = async (env: Record<string, string>) => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-modules-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const loaded = join(folder, 'loaded');
  const gateway = await startGatewayProcess({ ...env, ...recordingModules(loaded) }, SOURCE);
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  /** The modules that it has loaded so far, and the packages that they are of. */
  const read = async () => {
    const modules = new Set((await readFile(loaded, 'utf8')).split('\n').filter(Boolean));
    const packages = [...modules].flatMap(
      (url) => /.*node_modules\/(@[^/]+\/[^/]+|[^@/][^/]*)/.exec(url)?.[1] ?? [],
    );
    return { modules, packages: new Set(packages) };
  };
  return { gateway, read };
};

const MOST_MODULES = 700;

test(`a start loads at most ${MOST_MODULES} modules, and nothing that is not in use`, async () => {
  const { gateway, read } = await startRecorded({
    OTEL_SERVICE_NAME: 'named',
    OTEL_TRACES_SAMPLER: 'always_on',
    OTEL_SDK_DISABLED: 'false',
  });
  await gateway.data('{ __typename }');
  const { modules, packages } = await read();
  expect(packages).toContain('graphql');
  expect(modules.size).toBeLessThanOrEqual(MOST_MODULES);
  const unused = [
    '@modelcontextprotocol/core',
    '@modelcontextprotocol/server',
    '@redis/client',
    'jose',
    'ox',
    'graphql-yoga',
    '@graphql-yoga/render-graphiql',
    'tdigest',
  ];
  expect([...packages].filter((name) => unused.includes(name) || name.startsWith('@opentelemetry/'))).toEqual(
    [],
  );
  expect(
    [...modules].filter((url) =>
      /src\/(?:backend\/(?!indexer\/config\.ts)|deliveries\/redis\/|redis\/(?!sentinel-url\.ts)|server\/mcp\/)/.test(
        url,
      ),
    ),
  ).toEqual([]);
});

/** What Node loads for a request, a response or a header of the Fetch API, and for its own WebSocket. */
const FETCH_API = 'NativeModule internal/deps/undici/undici';

test('Yoga and the Fetch API are loaded for the first request that needs them', async () => {
  for (const [ask, isNeeded] of [
    ['{ __typename }', false],
    ['?query=%7B__typename%7D', true],
  ] as const) {
    const { gateway, read } = await startRecorded({});
    if (isNeeded) expect((await fetch(`${gateway.url}/graphql${ask}`)).status).toBe(200);
    else await gateway.data(ask);
    await gateway.end('SIGTERM');
    const { modules, packages } = await read();
    expect(modules).toContain('NativeModule http');
    expect([packages.has('graphql-yoga'), modules.has(FETCH_API)]).toEqual([isNeeded, isNeeded]);
  }
});

test('the first scrape begins the metrics of Node, and has them', async () => {
  const { gateway, read } = await startRecorded({});
  const scrape = async () => (await fetch(`${gateway.url}/metrics`)).text();
  const text = await scrape();
  // Without an observation it would be the greatest integer, in seconds.
  expect(Number(/^nodejs_eventloop_lag_min_seconds (\S+)$/m.exec(text)?.[1])).toBeLessThan(1000);
  for (const each of await Promise.all([text, scrape(), scrape()]))
    expect(each).toMatch(/^process_cpu_seconds_total [\d.]+$/m);
  expect((await read()).packages).toContain('tdigest');
});

test('with MCP=on its library is loaded', async () => {
  const document = 'query Name { __typename }';
  await using folder = await folderOf({ 'trusted.json': JSON.stringify({ [idOf(document)]: document }) });
  const { read } = await startRecorded({ MCP: 'on', TRUSTED_DOCUMENTS: folder.path('trusted.json') });
  expect((await read()).packages).toContain('@modelcontextprotocol/server');
});

test('with tokens their library is loaded', async () => {
  const { read } = await startRecorded(byToken);
  expect((await read()).packages).toContain('jose');
});

test('with an endpoint for traces, the exporter of its protocol is loaded, and not the other', async () => {
  await using receiver = await startOtlpReceiver();
  const { read } = await startRecorded(receiver.env);
  const { packages } = await read();
  expect(packages).toContain('@opentelemetry/sdk-trace');
  expect(packages).toContain('@opentelemetry/exporter-trace-otlp-http');
  expect(packages).not.toContain('@opentelemetry/exporter-trace-otlp-proto');
});
