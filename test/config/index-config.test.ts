import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { readServiceConfig } from '../../src/config/index-config.ts';

/** The settings of an index, which the gateway and the service that runs alone read by the same code. */

const read = (env: Record<string, string>) => readServiceConfig({ API_KEY: 'key', ...env });

const NODE = 'http://127.0.0.1:8545';

test('without CHAINS there is no index, whatever else is set', () => {
  for (const env of [{}, { CHAINS: '' }, { START_BLOCK: '0', METADATA: 'on', DATA_DIR: '/data' }])
    expect(readConfig(env).indexed).toBeNull();
});

test('an id and a URL are enough', () => {
  const indexed = {
    chains: [{ id: 31337, url: NODE, startBlock: null }],
    directory: 'data/index',
    abiDirectory: null,
    metadata: null,
    prices: null,
  };
  expect(readConfig({ CHAINS: `31337=${NODE}` }).indexed).toEqual(indexed);
  expect(read({ CHAINS: `31337=${NODE}` })).toMatchObject(indexed);
});

test('every setting is read', () => {
  const env = {
    CHAINS:
      ' 1 @ 19000000 = wss://user:pass@node.example/ws?key=a=b , 11297108109=https://other.example/v3/KEY ',
    DATA_DIR: '/data',
    ABI_DIR: './out',
    METADATA: 'on',
    IPFS_GATEWAY: 'https://ipfs.example/',
    PRICES: 'https://prices.example/now.json',
    ENS_REGISTRY: ' 11297108109 = 0x00000000000000000000000000000000000000Aa ',
  };
  expect(readConfig(env).indexed).toEqual({
    chains: [
      {
        ...{ id: 1, url: 'wss://user:pass@node.example/ws?key=a=b', startBlock: 19_000_000 },
        ensRegistry: '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e',
      },
      {
        ...{ id: 11297108109, url: 'https://other.example/v3/KEY', startBlock: null },
        native: { symbol: 'PALM', name: 'PALM', decimals: 18 },
        ensRegistry: '0x00000000000000000000000000000000000000aa',
      },
    ],
    directory: '/data/index',
    abiDirectory: './out',
    metadata: { ipfsGateway: 'https://ipfs.example' },
    prices: 'https://prices.example/now.json',
  });
});

test('EXTRA_CHAINS says what chains are called, their currency and their tags', () => {
  const named = (EXTRA_CHAINS: string) => read({ CHAINS: `31338=${NODE}`, EXTRA_CHAINS });
  expect(named('31338:mychain:POL:default:mine')).toMatchObject({
    chains: [
      {
        named: { name: 'mychain', tags: ['default', 'mine'] },
        native: { symbol: 'POL', name: 'POL', decimals: 18 },
      },
    ],
  });
  expect(named('31338:mychain:xDAI/6')).toMatchObject({
    chains: [{ named: { name: 'mychain', tags: ['default'] }, native: { symbol: 'xDAI', decimals: 6 } }],
  });
  expect(named('31338:mychain:mine')).toMatchObject({
    chains: [{ named: { name: 'mychain', tags: ['mine'] } }],
  });
  expect(named('31338:mychain:POL/6/7')).toEqual([expect.stringMatching(/^EXTRA_CHAINS: expected id:name/)]);
  const { indexed, extraChains } = readConfig({ CHAINS: `31338=${NODE}`, EXTRA_CHAINS: '31338:mychain:POL' });
  expect(indexed?.chains[0]?.native?.symbol).toBe('POL');
  expect(extraChains).toHaveLength(1);
});

test('old names: START_BLOCK is for every chain, or for some, and CHAINS comes first; INDEX_DIR stands over DATA_DIR', () => {
  const env = { CHAINS: `1=${NODE},2@7=${NODE}`, DATA_DIR: '/data', INDEX_DIR: '/index' };
  const startsOf = (START_BLOCK: string) =>
    readConfig({ ...env, START_BLOCK }).indexed?.chains.map(({ startBlock }) => startBlock);
  expect(startsOf('0')).toEqual([0, 7]);
  expect(startsOf('1=19000000,2=8')).toEqual([19_000_000, 7]);
  expect(startsOf('2=8')).toEqual([null, 7]);
  expect(readConfig(env).indexed?.directory).toBe('/index');
});

test('PRICES may be a file', () => {
  expect(read({ CHAINS: `1=${NODE}`, PRICES: './prices.json' })).toMatchObject({ prices: './prices.json' });
});

describe('what is no setting is one problem, which names its variable', () => {
  const SECRET = 'https://node.example/v3/SECRET';
  test.each<[what: string, env: Record<string, string>, problem: RegExp]>([
    ['a URL alone', { CHAINS: SECRET }, /^CHAINS: .* entry 1, got no id/],
    ['an empty entry', { CHAINS: `1=${SECRET},` }, /^CHAINS: .* entry 2, got no id/],
    ['a name for an id', { CHAINS: `anvil=${SECRET}` }, /^CHAINS: .* entry 1, got no id/],
    ['the id 0', { CHAINS: `0=${SECRET}` }, /^CHAINS: .* entry 1, got no id/],
    ['an id beyond 2^53', { CHAINS: `9007199254740993=${SECRET}` }, /^CHAINS: .* entry 1, got no id/],
    [
      'an id twice',
      { CHAINS: `7=${SECRET},7=${NODE}` },
      /^CHAINS: expected each id once, got 7 again as entry 2/,
    ],
    ['no URL', { CHAINS: '7=' }, /^CHAINS: expected an http, https, ws or wss URL for chain 7/],
    ['a URL of another scheme', { CHAINS: '7=ftp://SECRET@node.example' }, /^CHAINS: .* for chain 7/],
    [
      'a word for the first block',
      { CHAINS: `7@latest=${SECRET}` },
      /^CHAINS: .* 7@19000000=url, as entry 1/,
    ],
    ['no first block', { CHAINS: `7@=${SECRET}` }, /^CHAINS: .* as entry 1/],
    ['a host alone', { CHAINS: '7=SECRET:8545' }, /^CHAINS: .* for chain 7/],
    [
      'a word for a block',
      { CHAINS: `7=${SECRET}`, START_BLOCK: 'latest' },
      /^START_BLOCK: .* got "latest"$/,
    ],
    ['a negative block', { CHAINS: `7=${SECRET}`, START_BLOCK: '-1' }, /^START_BLOCK: .* got "-1"$/],
    ['a block of no chain', { CHAINS: `7=${SECRET}`, START_BLOCK: '8=1' }, /^START_BLOCK: .* got "8=1"$/],
    ['a block twice', { CHAINS: `7=${SECRET}`, START_BLOCK: '7=1,7=2' }, /^START_BLOCK: .* got "7=2"$/],
    [
      'another switch',
      { CHAINS: `7=${SECRET}`, METADATA: 'yes' },
      /^METADATA: expected on or off, got "yes"$/,
    ],
    [
      'a registry that is no address',
      { CHAINS: `7=${SECRET}`, ENS_REGISTRY: '7=0x12' },
      /^ENS_REGISTRY: .* got "7=0x12"$/,
    ],
    [
      'a registry of no chain',
      { CHAINS: `7=${SECRET}`, ENS_REGISTRY: `8=0x${'0'.repeat(39)}1` },
      /^ENS_REGISTRY: expected the ids of chains in CHAINS, got "8=0x0/,
    ],
    ['a gateway that is no URL', { CHAINS: `7=${SECRET}`, IPFS_GATEWAY: 'ipfs.io' }, /^IPFS_GATEWAY: /],
    ['prices by another scheme', { CHAINS: `7=${SECRET}`, PRICES: 'ftp://SECRET@host' }, /^PRICES: /],
  ])('%s', (_what, env, problem) => {
    expect(read(env)).toEqual([expect.stringMatching(problem)]);
    expect(JSON.stringify(read(env))).not.toContain('SECRET');
    expect(() => readConfig(env)).toThrow(expect.objectContaining({ problems: read(env) }));
  });
});

describe('the service that runs alone', () => {
  test('needs chains and a key', () => {
    expect(readServiceConfig({})).toEqual([
      'CHAINS: expected at least one chain, as id=url, or BLOCKSCOUT, got none',
      'API_KEY: expected printable characters without spaces, got none',
    ]);
    expect(readServiceConfig({ CHAINS: `7=${NODE}`, API_KEY: 'key' })).toMatchObject({
      host: '127.0.0.1',
      port: 4100,
      apiKey: 'key',
      keyHeader: 'X-Service-Api-Key',
      signatureSecret: null,
    });
  });

  test('reports all problems at once, and no key', () => {
    const env = { CHAINS: '7=x', PORT: '70000', API_KEY: 'a secret', API_KEY_HEADER: 'no header' };
    const problems = readServiceConfig(env);
    expect(problems).toHaveLength(4);
    expect(JSON.stringify(problems)).not.toContain('a secret');
  });
});
