import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readSandboxConfig } from '../../src/backend/sandbox/sandbox.ts';
import { openSandbox } from '../backend/support/sandbox.ts';

const MAIN = fileURLToPath(new URL('../../src/backend/sandbox/main.ts', import.meta.url));

const start = (env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env.PATH ?? '', ...env } });
  return { child, lines: createInterface(child.stderr), exit: once(child, 'exit') };
};

test('the sandbox logs where it listens, and SIGTERM stops it', async () => {
  const { child, lines, exit } = start({ PORT: '0', SANDBOX_API_KEY: 'mine' });
  const [line] = await once(lines, 'line');
  const { msg, url } = JSON.parse(line);
  expect(msg).toBe('listening');
  const response = await fetch(`${url}/sandbox/stats`, { headers: { 'x-service-api-key': 'mine' } });
  expect(response.status).toBe(200);
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});

test.each([{}, { SANDBOX_API_KEY: "it's$mine" }])(
  'the curl that it prints works as pasted: %o',
  async (env) => {
    const { child, lines, exit } = start({ PORT: '0', ...env });
    const said: string[] = [];
    lines.on('line', (line) => said.push(line));
    const command = () => said.find((line) => line.trim().startsWith('curl '));
    await expect.poll(command).toBeDefined();
    const { stdout } = await promisify(execFile)('sh', ['-c', command() ?? ''], {
      env: { PATH: process.env.PATH },
    });
    expect(JSON.parse(stdout).transactions).toHaveLength(3);
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  },
);

test('all problems of its environment are reported at once, by name', async () => {
  const { lines, exit } = start({ PORT: 'http', SANDBOX_BLOCK_MS: '1', SANDBOX_FAULTS: 'yes' });
  const said: string[] = [];
  lines.on('line', (line) => said.push(line));
  expect(await exit).toEqual([1, null]);
  expect(said.map((line) => line.split(':')[0]).sort()).toEqual([
    'PORT',
    'SANDBOX_BLOCK_MS',
    'SANDBOX_FAULTS',
  ]);
});

test('a port that is taken is a problem, not a crash', async () => {
  await using sandbox = await openSandbox();
  const { lines, exit } = start({ PORT: new URL(sandbox.url).port });
  const [line] = await once(lines, 'line');
  expect(line).toContain('EADDRINUSE');
  expect(await exit).toEqual([1, null]);
});

test('defaults are those of a sandbox on this machine', () => {
  expect(readSandboxConfig({ PORT: '' })).toEqual({
    host: '127.0.0.1',
    port: 4_100,
    apiKey: 'sandbox',
    blockMs: 2_000,
    seed: 'sandbox',
    faults: false,
  });
});

test('the demo webhooks deliver from the first block on', async () => {
  await using sandbox = await openSandbox({ blockMs: 20 });
  const delivered: Record<string, unknown>[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      delivered.push(JSON.parse(body));
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  const port = typeof address === 'object' ? address?.port : 0;
  sandbox.start(`http://127.0.0.1:${port}/`);
  const kinds = () => new Set(delivered.flatMap((body) => Object.keys(body)));
  await expect
    .poll(() => [...kinds()].sort())
    .toEqual(['activities', 'balance_changes', 'delivery_id', 'transactions']);
  await sandbox.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});
