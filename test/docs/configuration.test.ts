import { expect, test } from 'vitest';
import { INDEXED_VARIABLES, readServiceConfig } from '../../src/backend/indexer/config.ts';
import { readSandboxConfig } from '../../src/backend/sandbox/sandbox.ts';
import { readConfig } from '../../src/config/config.ts';
import { VARIABLES } from '../../src/config/environment.ts';
import { isErrorCode } from '../../src/graph/errors.ts';
import { readPage, readPages, rowsOf } from '../support/pages.ts';

const page = await readPage('docs/configuration.md');
const rows = rowsOf(page, 'variable');

/** `HOST, PORT`, or `JWT_SECRET or JWT_JWKS_URL`. */
const namesIn = (cell = ''): readonly string[] => cell.split(/, | or /);

test('docs/configuration.md has every variable that the configuration reads, once, and no other', () => {
  const read = new Set<string>();
  const environment = new Proxy<Record<string, string | undefined>>(
    {},
    { get: (_target, name) => void read.add(String(name)) },
  );
  readConfig(environment);
  const listed = rows.flatMap(([names]) => namesIn(names));
  expect([...read].filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.toSorted()).toEqual(VARIABLES.toSorted());
});

/** The defaults that are values: `HOST, PORT | 127.0.0.1, 4000` has two. */
const defaultsIn = (table: readonly (readonly string[])[]): readonly (readonly [string, string])[] =>
  table.flatMap(([names, defaults = '']) =>
    namesIn(names)
      .map((name, index) => [name, defaults.split(', ')[index] ?? ''] as const)
      .filter(([, value]) => /^[\w./-]+$/.test(value) && value !== 'none'),
  );

test('a variable that is set to its default of the table changes nothing', () => {
  const defaults = defaultsIn(rows);
  expect(defaults.length).toBeGreaterThan(15);
  for (const [name, value] of defaults) expect(readConfig({ [name]: value }), name).toEqual(readConfig({}));
});

test('so do the defaults of the service over an index that runs alone, which has the same variables of the index', async () => {
  const { path, text } = await readPage('docs/your-own-chain.md');
  const [ofIndex = '', ofService = ''] = text.split('## Many gateways');
  const namesOf = (part: string) =>
    rowsOf({ path, text: part }, 'variable').flatMap(([names]) => namesIn(names));
  expect(namesOf(ofIndex)).toEqual([...INDEXED_VARIABLES]);
  expect(namesOf(ofService)).toEqual(['HOST', 'PORT', 'API_KEY', 'API_KEY_HEADER', 'SIGNATURE_SECRET']);
  const needed = { CHAINS: '31337=http://127.0.0.1:8545', API_KEY: 'key' };
  const defaults = [ofIndex, ofService].flatMap((part) =>
    defaultsIn(rowsOf({ path, text: part }, 'variable')),
  );
  expect(defaults.map(([name]) => name)).toEqual(['METADATA', 'HOST', 'PORT', 'API_KEY_HEADER']);
  for (const [name, value] of defaults)
    expect(readServiceConfig({ ...needed, [name]: value }), name).toEqual(readServiceConfig(needed));
});

test('so do the defaults of the sandbox that runs alone', async () => {
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
    'GATEWAY_1',
    'GATEWAY_2',
  ];
  const placeholders = ['YOUR_KEY', 'YOUR_WEBHOOKS_SECRET', 'AT_LEAST_16_CHARACTERS', 'THE_LAST_ID'];
  const known: readonly string[] = [...VARIABLES, ...ofOthers, ...placeholders];
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
