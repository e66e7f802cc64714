import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { readServiceConfig } from '../../src/config/index-config.ts';

/** BLOCKSCOUT makes the gateway its own service over explorers. */

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

test('a chain is of the hosted API, below its URL, or of an explorer of its own', () => {
  const { indexed, upstream, cost } = readConfig({
    BLOCKSCOUT: '1, 8453,100=https://gnosis.example/,31337=http://127.0.0.1:4000',
    BLOCKSCOUT_API_KEY: 'proapi_key',
    BLOCKSCOUT_URL: 'https://hosted.example/',
    NODE_ENV: 'production',
    EXTRA_CHAINS: '31337:mine:POL:default',
    RECEIPTS: '1=wss://node.example/key, 100=http://10.0.0.1:8545',
  });
  expect(indexed?.explorers).toEqual({
    apiKey: 'proapi_key',
    chains: [
      {
        ...{ id: 1, baseUrl: 'https://hosted.example/1/api/v2', isHosted: true },
        receipts: 'wss://node.example/key',
      },
      { id: 8453, baseUrl: 'https://hosted.example/8453/api/v2', isHosted: true },
      {
        ...{ id: 100, baseUrl: 'https://gnosis.example/api/v2', isHosted: false },
        receipts: 'http://10.0.0.1:8545',
        native: { symbol: 'XDAI', name: 'xDAI', decimals: 18 },
      },
      {
        ...{ id: 31337, baseUrl: 'http://127.0.0.1:4000/api/v2', isHosted: false },
        named: { name: 'mine', tags: ['default'] },
        native: { symbol: 'POL', name: 'POL', decimals: 18 },
      },
    ],
  });
  expect([indexed?.chains, upstream.url, cost.defaultChainCount]).toEqual([[], null, 4]);
});

test('nothing is asked for of watched addresses unless it is turned on', () => {
  const live = (env: Record<string, string>) =>
    readConfig({ BLOCKSCOUT: '100=https://gnosis.example', ...env }).indexed?.explorers?.live;
  expect(live({})).toBeUndefined();
  expect(live({ BLOCKSCOUT_LIVE: 'on' })).toEqual({ confirmations: 12, creditsPerDay: 72_000 });
  const set = { BLOCKSCOUT_LIVE_CONFIRMATIONS: '3', BLOCKSCOUT_LIVE_CREDITS: '500' };
  expect(live({ BLOCKSCOUT_LIVE: 'on', ...set })).toEqual({ confirmations: 3, creditsPerDay: 500 });
});

test('it stands beside CHAINS', () => {
  const { indexed, cost } = readConfig({ CHAINS: '31337=http://127.0.0.1:8545', BLOCKSCOUT: '1' });
  expect([indexed?.chains.length, indexed?.explorers?.chains.length, cost.defaultChainCount]).toEqual([
    1, 1, 2,
  ]);
});

test.each<[what: string, env: Record<string, string>, problem: RegExp]>([
  ['an entry that is no chain', { BLOCKSCOUT: '1,HIDDEN' }, /^BLOCKSCOUT: .* entry 2/],
  ['a chain twice', { BLOCKSCOUT: '1,1=https://HIDDEN.example' }, /^BLOCKSCOUT: expected each id once/],
  [
    'an explorer without TLS',
    { BLOCKSCOUT: '1=http://HIDDEN.example' },
    /^BLOCKSCOUT: expected an https URL/,
  ],
  [
    'a hosted API without TLS',
    { BLOCKSCOUT: '1', BLOCKSCOUT_URL: 'http://far.example' },
    /^BLOCKSCOUT_URL: /,
  ],
  [
    'a service as well',
    { BLOCKSCOUT: '1', UPSTREAM_URL: 'http://HIDDEN.example', UPSTREAM_API_KEY: 'key' },
    /^BLOCKSCOUT: expected no UPSTREAM_URL/,
  ],
  [
    'a chain with two sources',
    { BLOCKSCOUT: '1,5', CHAINS: '5=http://127.0.0.1:8545' },
    /^BLOCKSCOUT: .* CHAINS, got 5/,
  ],
  [
    'a node for receipts of another chain',
    { BLOCKSCOUT: '1', RECEIPTS: '1=https://a.example,5=https://HIDDEN.example' },
    /^RECEIPTS: expected chains that are in BLOCKSCOUT, got 5$/,
  ],
  ['a node that is none', { BLOCKSCOUT: '1', RECEIPTS: '1=HIDDEN' }, /^RECEIPTS: expected an http, https/],
  ['the sandbox as well', { BLOCKSCOUT: '1', SANDBOX: 'on' }, /^SANDBOX: expected no BLOCKSCOUT/],
  [
    'an index for each of many gateways',
    { BLOCKSCOUT: '1', CHAINS: '5=http://127.0.0.1:8545', REDIS_URL: 'redis://HIDDEN' },
    /^REDIS_URL: .*npm run service.* got CHAINS/,
  ],
  [
    'deliveries of each of many gateways',
    { BLOCKSCOUT: '1', BLOCKSCOUT_LIVE: 'on', REDIS_URL: 'redis://HIDDEN' },
    /^REDIS_URL: .*npm run service.* got BLOCKSCOUT_LIVE/,
  ],
  [
    'keys of clients, when none can know the key',
    { BLOCKSCOUT: '1', AUTH: 'key' },
    /^AUTH: expected UPSTREAM_API_KEY/,
  ],
])('%s is one problem, which names its variable', (_what, env, problem) => {
  const problems = problemsOf(env);
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(problems.join()).not.toContain('HIDDEN');
});

test('the service that runs alone reads it too', () => {
  expect(readServiceConfig({ API_KEY: 'key', BLOCKSCOUT: '1' })).toMatchObject({
    chains: [],
    explorers: { chains: [{ id: 1, isHosted: true }] },
  });
  expect(readServiceConfig({ API_KEY: 'key' })).toEqual([expect.stringMatching(/^CHAINS: .*BLOCKSCOUT/)]);
});
