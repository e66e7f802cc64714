import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

/** CHAINS makes the gateway its own service. test/backend/indexer/config.test.ts has what each of its variables accepts. */

const CHAINS = '31337=http://127.0.0.1:8545';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

test.each([{}, { NODE_ENV: 'production' }, { SANDBOX: 'off' }])(
  'chains of its own take the place of a service, in production too: %o',
  (env) => {
    expect(problemsOf({ ...env, CHAINS })).toEqual([]);
    expect(readConfig({ ...env, CHAINS })).toMatchObject({
      upstream: { url: null },
      indexed: { chains: [{ id: 31337 }] },
      auth: { mode: 'open' },
      cost: { defaultChainCount: 1 },
    });
  },
);

describe('one problem, which names its variable', () => {
  test.each<[what: string, env: Record<string, string>, problem: RegExp]>([
    ['an entry that is no chain', { CHAINS: 'http://127.0.0.1:8545/HIDDEN' }, /^CHAINS: .* entry 1/],
    [
      'a service as well',
      { CHAINS, UPSTREAM_URL: 'http://HIDDEN.example', UPSTREAM_API_KEY: 'key' },
      /^CHAINS: expected no UPSTREAM_URL/,
    ],
    ['the sandbox as well', { CHAINS, SANDBOX: 'on' }, /^SANDBOX: expected no CHAINS/],
    [
      'an index for each of many gateways',
      { CHAINS, REDIS_URL: 'redis://HIDDEN' },
      /^REDIS_URL: .*npm run service/,
    ],
    [
      'keys of clients, when none can know the key',
      { CHAINS, AUTH: 'key' },
      /^AUTH: expected UPSTREAM_API_KEY/,
    ],
    [
      'another header for signatures',
      { CHAINS, DELIVERY_SIGNATURE_SECRET: 'HIDDEN', DELIVERY_SIGNATURE_HEADER: 'X-Mine' },
      /^DELIVERY_SIGNATURE_HEADER: expected none beside CHAINS/,
    ],
    ['anyone beyond this machine', { CHAINS, HOST: '0.0.0.0' }, /^HOST: .*AUTH=open/],
  ])('%s', (_what, env, problem) => {
    const problems = problemsOf(env);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems.join()).not.toContain('HIDDEN');
  });
});

test('without CHAINS its variables are checked as well', () => {
  expect(problemsOf({ METADATA: 'maybe' })).toEqual([expect.stringMatching(/^METADATA: /)]);
});
