import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { folderOf } from '../support/folder.ts';
import { PROGRAM } from '../support/gateway/spawn.ts';
import { startGateway } from '../support/gateway/start.ts';

type Environment = Record<string, string | undefined>;

/** The problems of an environment, none when it is fit to start with. */
const problemsOf = (env: Environment): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

const service = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'some-key' };

const nowhere = service.UPSTREAM_URL;
const secret = 'exactly-thirty-two-bytes-long-ok';
const keySet = 'https://issuer.test/keys?policy=1';

const mistakes = {
  PORT: 'eighty',
  UPSTREAM_URL: 'not a url',
  UPSTREAM_TIMEOUT_MS: '-5',
  UPSTREAM_CONNECTIONS: 'many',
  UPSTREAM_RPS: '0',
  AUTH: 'perhaps',
  CACHE_HEAD_MS: '2s',
  CACHE_TAIL_MS: '1.5',
  CACHE_STALE_MS: 'old',
  CACHE_MAX_MB: '-1',
  CACHE_COLLECTIBLES_MS: 'rarely',
  CACHE_WATCHED_MS: 'half a minute',
  MAX_COMPUTE_UNITS: '0',
  CLIENT_COMPUTE_UNITS_PER_MINUTE: 'plenty',
  DEFAULT_CHAIN_COUNT: 'fourteen',
  EXTRA_CHAINS: 'newchain',
  LOG_LEVEL: 'loud',
  LOG_FORMAT: 'xml',
  MAX_WATCHED_WALLETS: '0',
  PUBLIC_URL: 'here',
  SANDBOX: 'perhaps',
  SANDBOX_BLOCK_MS: 'often',
  TRUSTED_PROXIES: 'haproxy',
};

test('with nothing set it starts, and what it reads cannot be changed', () => {
  expect(Object.isFrozen(readConfig({}))).toBe(true);
});

test.each(Object.entries(mistakes))('%s=%s is one problem that names the variable', (name, value) => {
  const problems = problemsOf({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(name);
});

test('all problems are reported at once, each by its variable', () => {
  const problems = problemsOf(mistakes);
  for (const name of Object.keys(mistakes))
    expect(problems.filter((problem) => problem.includes(name))).not.toEqual([]);
});

test.each(['0', '1', '65535'])('PORT=%s is a port', (port) => {
  expect(problemsOf({ PORT: port })).toEqual([]);
});

test.each(['-1', '65536', '80.5', '0x50'])('PORT=%s is not a port', (port) => {
  expect(problemsOf({ PORT: port })).toHaveLength(1);
});

test.each(['ftp://service.test', 'file:///etc/passwd', 'service.test'])(
  'UPSTREAM_URL=%s is refused',
  (url) => {
    expect(problemsOf({ ...service, UPSTREAM_URL: url }).join()).toContain('UPSTREAM_URL');
  },
);

test.each(['127.0.0.1', '10.0.0.0/8, ::1,2001:db8::/32', '0.0.0.0/0', '::ffff:10.0.0.1/104'])(
  'TRUSTED_PROXIES=%s names proxies',
  (text) => {
    expect(problemsOf({ TRUSTED_PROXIES: text })).toEqual([]);
  },
);

test.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0/8', '10.0.0.1/8/8', 'fe80::1%eth0', '127.0.0.1:80'])(
  'TRUSTED_PROXIES=%s is refused',
  (text) => {
    expect(problemsOf({ TRUSTED_PROXIES: text })).toEqual([
      `TRUSTED_PROXIES: expected IP addresses or networks (10.0.0.0/8), comma-separated, got "${text}"`,
    ]);
  },
);

describe('clients that are admitted without a key', () => {
  test.each(['127.0.0.1', 'localhost', '::1', '127.0.0.2'])('on %s everyone, without a word', (host) => {
    expect(problemsOf({ HOST: host })).toEqual([]);
  });

  test.each(['0.0.0.0', '::', '192.0.2.1', 'gateway.test'])(
    'on %s only when AUTH=open is explicit',
    (host) => {
      expect(problemsOf({ HOST: host }).join()).toContain('AUTH');
      expect(problemsOf({ HOST: host, ...service }).join()).toContain('AUTH');
      expect(problemsOf({ HOST: host, AUTH: 'open' })).toEqual([]);
      expect(problemsOf({ HOST: host, AUTH: 'open', ...service })).toEqual([]);
    },
  );

  test('nobody, on any host, when clients bring their own keys', () => {
    expect(problemsOf({ HOST: '0.0.0.0', AUTH: 'key', UPSTREAM_URL: service.UPSTREAM_URL })).toEqual([]);
  });

  test('nobody, when there is a service and no key for it: then AUTH is key', () => {
    expect(problemsOf({ HOST: '0.0.0.0', UPSTREAM_URL: service.UPSTREAM_URL })).toEqual([]);
  });

  test('AUTH=open with a service and no key for it does not start', () => {
    const problems = problemsOf({ AUTH: 'open', UPSTREAM_URL: service.UPSTREAM_URL });
    expect(problems.join()).toContain('UPSTREAM_API_KEY');
  });

  test('who has a token, on any host, when AUTH=jwt', () => {
    expect(problemsOf({ HOST: '0.0.0.0', AUTH: 'jwt', JWT_SECRET: secret, ...service })).toEqual([]);
    expect(problemsOf({ HOST: '0.0.0.0', AUTH: 'jwt', JWT_JWKS_URL: keySet })).toEqual([]);
  });

  test.each([
    ['no way to check a token', { AUTH: 'jwt' }, ['JWT_SECRET', 'JWT_JWKS_URL']],
    ['two ways', { AUTH: 'jwt', JWT_SECRET: secret, JWT_JWKS_URL: keySet }, ['JWT_SECRET', 'JWT_JWKS_URL']],
    ['a short secret', { AUTH: 'jwt', JWT_SECRET: secret.slice(1) }, ['JWT_SECRET']],
    ['a key set in the clear', { AUTH: 'jwt', JWT_JWKS_URL: 'http://issuer.test/keys' }, ['JWT_JWKS_URL']],
    ['a password', { AUTH: 'jwt', JWT_JWKS_URL: 'https://me:pass@issuer.test/' }, ['JWT_JWKS_URL']],
    [
      'a service without a key',
      { AUTH: 'jwt', JWT_SECRET: secret, UPSTREAM_URL: nowhere },
      ['UPSTREAM_API_KEY'],
    ],
    ['a secret that nobody uses', { JWT_SECRET: secret }, ['JWT_SECRET', 'AUTH=jwt']],
    [
      'a secret that AUTH=open does not use',
      { AUTH: 'open', JWT_SECRET: secret },
      ['JWT_SECRET', 'AUTH=jwt'],
    ],
    ['a key set that nobody uses', { AUTH: '', JWT_JWKS_URL: keySet }, ['JWT_JWKS_URL', 'AUTH=jwt']],
    [
      'a scope that no gateway has',
      { AUTH: 'jwt', JWT_SECRET: secret, JWT_SCOPES: 'admin=x' },
      ['JWT_SCOPES'],
    ],
    ['a scope without a name', { AUTH: 'jwt', JWT_SECRET: secret, JWT_SCOPES: 'wallets=' }, ['JWT_SCOPES']],
    [
      'a claim of two words',
      { AUTH: 'jwt', JWT_SECRET: secret, JWT_TENANT_CLAIM: 'org id' },
      ['JWT_TENANT_CLAIM'],
    ],
    ['claims that nobody reads', { JWT_SCOPES_CLAIM: 'scp' }, ['JWT_SCOPES_CLAIM', 'AUTH=jwt']],
    ['an issuer that nobody checks', { JWT_ISSUER: 'x' }, ['JWT_ISSUER', 'AUTH=jwt']],
    ['an audience that nobody checks', { AUTH: 'key', JWT_AUDIENCE: 'x' }, ['JWT_AUDIENCE', 'AUTH=jwt']],
  ])('nobody, with %s: one problem that names it and tells no secret', (_what, env, names) => {
    const problems = problemsOf(env);
    expect(problems).toHaveLength(1);
    for (const name of names) expect(problems[0]).toContain(name);
    expect(problems[0]).not.toContain(secret.slice(1));
    expect(problems[0]).not.toContain('pass');
  });

  test('each variable of tokens is a problem of its own, beside the others', () => {
    expect(problemsOf({ JWT_SECRET: secret, JWT_ISSUER: 'x', PORT: 'x' })).toHaveLength(3);
  });
});

test('a header for signatures without a secret that they are checked with is one problem', () => {
  const problems = problemsOf({ DELIVERY_SIGNATURE_HEADER: 'x-signature' });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('DELIVERY_SIGNATURE_SECRET');
  expect(problemsOf({ DELIVERY_SIGNATURE_HEADER: 'x-signature', DELIVERY_SIGNATURE_SECRET: 's' })).toEqual(
    [],
  );
});

describe('MCP', () => {
  const trusted = { TRUSTED_DOCUMENTS: 'documents.json' };
  test('needs trusted documents, and names its tools only when it is on', () => {
    expect(problemsOf({ MCP: 'on' })).toEqual([expect.stringMatching(/^MCP: expected TRUSTED_DOCUMENTS /)]);
    expect(problemsOf({ ...trusted, MCP_TOOLS: 'Wallet' })).toEqual([
      expect.stringMatching(/^MCP_TOOLS: expected MCP=on /),
    ]);
    expect(problemsOf({ ...trusted, MCP: 'a tool' })).toHaveLength(1);
    expect(problemsOf({ ...trusted, MCP: 'on', MCP_TOOLS: 'a tool' })).toHaveLength(1);
    for (const env of [{ MCP: 'Wallet, _2' }, { MCP: 'on', MCP_TOOLS: 'Wallet, _2' }])
      expect(readConfig({ ...trusted, ...env }).mcp?.tools).toEqual(['Wallet', '_2']);
    expect(readConfig({ ...trusted, MCP: 'on' }).mcp?.tools).toBeNull();
    expect(readConfig({ ...trusted, MCP: 'off' }).mcp).toBeNull();
  });
});

describe('how long the newest page of a lookup is fresh', () => {
  const newestMs = (env: Environment) => readConfig({ CACHE_HEAD_MS: '1000', ...env }).cache.newestMs;
  const defaults = {
    ...{ collectibles: 15_000, balances: 5000, holders: 60_000 },
    ...{ defiPositions: 15_000, market: 15_000, search: 300_000 },
  };

  test('follows from CACHE_HEAD_MS, unless CACHE_NEWEST_MS or an old name says it', () => {
    expect(newestMs({})).toMatchObject(defaults);
    expect(newestMs({ CACHE_NEWEST_MS: ' holders=7 , defiPositions = 0' })).toMatchObject({
      ...defaults,
      ...{ holders: 7, defiPositions: 0 },
    });
    expect(
      newestMs({ CACHE_NEWEST_MS: 'holders=7', CACHE_HOLDERS_MS: '8', CACHE_DEFI_POSITIONS_MS: '9' }),
    ).toMatchObject({
      ...defaults,
      ...{ holders: 7, defiPositions: 9 },
    });
  });

  test.each([
    '30000',
    'holders',
    'holder=1',
    'holders=-1',
    'holders=1.5',
    'holders=86400001',
    'holders=1,holders=2',
  ])('CACHE_NEWEST_MS=%s is one problem, which names the lookups', (CACHE_NEWEST_MS) => {
    expect(problemsOf({ CACHE_NEWEST_MS })).toEqual([
      expect.stringMatching(/^CACHE_NEWEST_MS: expected lookup=milliseconds, .*collectibles, balances/),
    ]);
  });
});

describe('the process as it is shipped', () => {
  const root = join(import.meta.dirname, '../..');

  /** Runs the gateway until it exits by itself. */
  const run = (env: Environment) =>
    new Promise<{ code: number | string | null | undefined; output: string }>((resolve) => {
      const node = join(root, 'node_modules/.bin/node');
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const options = { cwd: root, env: { PATH, NODE_COMPILE_CACHE, PORT: '0', ...env }, timeout: 120_000 };
      execFile(node, [PROGRAM], options, (error, stdout, stderr) => {
        resolve({ code: error ? error.code : 0, output: stdout + stderr });
      });
    });

  test('exits with 1 and prints every problem', async () => {
    const { code, output } = await run(mistakes);
    expect(code).toBe(1);
    for (const name of Object.keys(mistakes)) expect(output).toContain(name);
  });

  test('names what may be there under a misspelled name, without its value', async () => {
    const { code, output } = await run({
      ...service,
      UPSTREAM_API_KEY: undefined,
      UPSTREAM_APIKEY: secret,
      AUTH: 'open',
    });
    expect(code).toBe(1);
    expect(JSON.parse(output)).toMatchObject({
      problems: [expect.stringContaining('UPSTREAM_API_KEY')],
      unknown: [{ name: 'UPSTREAM_APIKEY', meant: 'UPSTREAM_API_KEY' }],
    });
    expect(output).not.toContain(secret);
  });

  test('names DATA_DIR when it cannot be made', async () => {
    await using folder = await folderOf({ file: '' });
    const { code, output } = await run({ DATA_DIR: folder.path('file/data') });
    expect(code).toBe(1);
    expect(output).toContain('DATA_DIR');
  });

  // Node's own recursive mkdir never comes back from there.
  test.each([
    ['/proc/x', undefined],
    ['/proc/x/y', undefined],
    ['/proc/x', secret],
    ['/proc/x/y', secret],
  ])('names DATA_DIR=%s with DELIVERY_SECRET=%s, where no folder can be made', async (dataDir, given) => {
    await expect(startGateway({ DATA_DIR: dataDir, DELIVERY_SECRET: given })).rejects.toMatchObject({
      problems: [expect.stringContaining(`DATA_DIR: ${dataDir}`)],
    });
  });
});
