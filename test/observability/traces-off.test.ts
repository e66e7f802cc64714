import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGatewayProcess } from '../support/gateway/process.ts';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.ts';

/** What a gateway loads: OpenTelemetry's SDK only where traces are on. */

/** Runs in the gateway's process before it: writes the URL of each module to the file LOADED. */
const recordModules = `
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED, url + '\\n');
      return next(url, context);
    },
  });`;

const packagesLoadedWith = async (env: Record<string, string>): Promise<Set<string>> => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-modules-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const loaded = join(folder, 'loaded');
  await using gateway = await startGatewayProcess({
    ...env,
    LOADED: loaded,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(recordModules)}`,
  });
  const response = await fetch(`${gateway.url}/graphql?query=%7B__typename%7D`);
  expect(response.status).toBe(200);
  const text = await readFile(loaded, 'utf8');
  return new Set(
    [...text.matchAll(/node_modules\/(@[^/\n]+\/[^/\n]+|[^@/\n][^/\n]*)/g)].map(([, name = '']) => name),
  );
};

test('without an endpoint nothing of the SDK or of an exporter is loaded', async () => {
  const packages = await packagesLoadedWith({
    OTEL_SERVICE_NAME: 'named',
    OTEL_TRACES_SAMPLER: 'always_on',
    OTEL_SDK_DISABLED: 'false',
  });
  expect(packages).toContain('graphql');
  // The metrics' library loads the API by itself.
  expect([...packages].filter((name) => name.startsWith('@opentelemetry/'))).toEqual(['@opentelemetry/api']);
});

test('with one, the exporter of its protocol is loaded, and not the other', async () => {
  await using receiver = await startOtlpReceiver();
  const packages = await packagesLoadedWith(receiver.env);
  expect(packages).toContain('@opentelemetry/sdk-trace');
  expect(packages).toContain('@opentelemetry/exporter-trace-otlp-http');
  expect(packages).not.toContain('@opentelemetry/exporter-trace-otlp-proto');
});
