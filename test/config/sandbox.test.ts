import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { folderOf } from '../support/folder.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { startGateway } from '../support/gateway/start.ts';

/** The sandbox stands in for the service only where that is wanted, and says that it does. */

const problemsOf = (env: Record<string, string | undefined>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

const production = { NODE_ENV: 'production' };
const service = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'some-key' };

describe('in production', () => {
  test.each([{}, { UPSTREAM_URL: '' }, { SANDBOX: '' }])(
    'no service is one problem that names UPSTREAM_URL and SANDBOX=on: %o',
    (env) => {
      const problems = problemsOf({ ...production, ...env });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(/^UPSTREAM_URL: .*SANDBOX=on/);
    },
  );

  test('SANDBOX=on says that the sandbox is wanted', () => {
    expect(problemsOf({ ...production, SANDBOX: 'on' })).toEqual([]);
  });

  test('a service needs no SANDBOX', () => {
    expect(problemsOf({ ...production, ...service })).toEqual([]);
    expect(problemsOf({ ...production, ...service, SANDBOX: 'off' })).toEqual([]);
  });

  test('a url that is wrong is one problem', () => {
    expect(problemsOf({ ...production, UPSTREAM_URL: 'service.test' })).toHaveLength(1);
  });
});

describe('SANDBOX', () => {
  test.each(['true', 'ON', '1', 'yes'])('%s is one problem that names it', (SANDBOX) => {
    for (const env of [{ SANDBOX }, { SANDBOX, ...production }])
      expect(problemsOf(env).filter((problem) => problem.startsWith('SANDBOX: '))).toHaveLength(1);
  });

  test('on beside a service is one problem, which tells nothing of its url', () => {
    const problems = problemsOf({ ...service, SANDBOX: 'on' });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^SANDBOX: .*UPSTREAM_URL/);
    expect(problems[0]).not.toContain(service.UPSTREAM_URL);
  });

  test('off asks for a service, in development too', () => {
    const problems = problemsOf({ SANDBOX: 'off' });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('UPSTREAM_URL');
  });
});

test('the process as it is shipped refuses to start in production without a service', async () => {
  await using folder = await folderOf({});
  await expect(spawnGateway({ ...production, DATA_DIR: folder.path('data') })).rejects.toThrow(
    /exited with 1: .*UPSTREAM_URL: .*SANDBOX=on/s,
  );
});

const sandboxLines = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'sandbox started');

test.each([{}, { ...production, SANDBOX: 'on' }])(
  'one log line says that all data is simulated: %o',
  async (env) => {
    await using gateway = await startGateway(env);
    const lines = sandboxLines(gateway.logLines);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      url: expect.stringMatching(/^http:/),
      data: expect.stringContaining('simulated'),
    });
  },
);

test('none says so over a service', async () => {
  await using gateway = await startGateway(service);
  expect(sandboxLines(gateway.logLines)).toEqual([]);
});

const titleAt = async (url: string) => {
  const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
  return /<title>(.*?)<\/title>/.exec(await page.text())?.[1];
};

test("GraphiQL's title says that it is over the sandbox, and only there", async () => {
  await using sandboxed = await startGateway();
  await using real = await startGateway(service);
  expect(await titleAt(sandboxed.url)).toMatch(/sandbox/i);
  expect(await titleAt(real.url)).not.toMatch(/sandbox/i);
});
