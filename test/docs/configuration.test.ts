import { expect, test } from 'vitest';
import { readSandboxConfig } from '../../src/backend/sandbox/sandbox.ts';
import { NAMES } from '../../src/config/table.ts';
import { isErrorCode } from '../../src/graph/errors.ts';
import { readPage, readPages, rowsOf } from '../support/pages.ts';

/** `HOST, PORT`. */
const namesIn = (cell = ''): readonly string[] => cell.split(', ');

/** The defaults that are values: `HOST, PORT | 127.0.0.1, 4000` has two. */
const defaultsIn = (table: readonly (readonly string[])[]): readonly (readonly [string, string])[] =>
  table.flatMap(([names, defaults = '']) =>
    namesIn(names).map((name, index) => [name, defaults.split(', ')[index] ?? ''] as const),
  );

test('the defaults of the sandbox that runs alone are those of its table', async () => {
  const defaults = defaultsIn(rowsOf(await readPage('docs/sandbox.md'), 'variable'));
  expect(defaults.map(([name]) => name).toSorted()).toEqual([
    'HOST',
    'PORT',
    'SANDBOX_API_KEY',
    'SANDBOX_BLOCK_MS',
    'SANDBOX_FAULTS',
    'SANDBOX_SEED',
  ]);
  for (const [name, value] of defaults)
    expect(readSandboxConfig({ [name]: value }), name).toEqual(readSandboxConfig({}));
});

test('every name of a variable on any page is one that is read', async () => {
  const ofOthers = [
    'SANDBOX_API_KEY',
    'SANDBOX_SEED',
    'SANDBOX_FAULTS',
    'API_KEY',
    'API_KEY_HEADER',
    'SIGNATURE_SECRET',
    'MALLOC_ARENA_MAX',
    'MALLOC_MMAP_THRESHOLD_',
    'FC_RUNS',
    'NODE_EXTRA_CA_CERTS',
    'NODE_COMPILE_CACHE',
    // OpenTelemetry's SDK reads them.
    'OTEL_SERVICE_NAME',
    'OTEL_RESOURCE_ATTRIBUTES',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'OTEL_EXPORTER_OTLP_COMPRESSION',
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    'OTEL_BSP_MAX_QUEUE_SIZE',
    'GATEWAY_1',
    'GATEWAY_2',
  ];
  // What warnings of the service begin with.
  const warnings = [
    'UNVERIFIED_HOLDERS',
    'INDEXING',
    'ABIS_UNKNOWN',
    'CHAIN_NOT_SERVED',
    'CHAIN_UNAVAILABLE',
  ];
  const placeholders = ['YOUR_KEY', 'YOUR_WEBHOOKS_SECRET', 'AT_LEAST_16_CHARACTERS', 'THE_LAST_ID'];
  const known: readonly string[] = [...NAMES, ...ofOthers, ...warnings, ...placeholders];
  const named = (await readPages()).flatMap(({ path, text }) =>
    [...text.matchAll(/(?<![\w.])[A-Z][A-Z0-9]*(?:_[A-Z0-9]*)+(?![\w.(])/g)]
      // A constant of a snippet is no variable of the environment.
      .filter(([name]) => !text.includes(`const ${name} = `))
      .map(([name]) => `${path}: ${name}`),
  );
  const isKnown = (mention: string) => {
    const name = mention.split(': ')[1] ?? '';
    return known.includes(name) || isErrorCode(name);
  };
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter((mention) => !isKnown(mention))).toEqual([]);
});
