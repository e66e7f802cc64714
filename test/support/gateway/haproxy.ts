import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished, type TestContext, vi } from 'vitest';
import { need } from '../available.ts';
import { findProgram, HAPROXY } from '../debian-program.ts';
import { root } from '../pages.ts';
import { freePort } from '../redis/server.ts';

const found = findProgram(HAPROXY);

/** Skips the test where there is no real HAProxy, and says why; in CI it fails. */
export const needHaproxy = async (context: TestContext): Promise<void> => {
  const program = await found;
  need(context, typeof program !== 'string', `haproxy (${program})`);
};

/** HAProxy with the project's configuration, in front of gateways on these ports of 127.0.0.1. It goes when the test is finished. */
export const startHaproxy = async ([first, second]: readonly [number, number]) => {
  const program = await found;
  if (typeof program === 'string') throw new Error(program);
  const port = await freePort();
  const child = spawn(program.path, ['-db', '-f', join(root, 'deploy/haproxy.cfg')], {
    env: {
      ...program.env,
      BIND: `127.0.0.1:${port}`,
      GATEWAY_1: `127.0.0.1:${first}`,
      GATEWAY_2: `127.0.0.1:${second}`,
    },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  // Before its first checks it takes all gateways for ready.
  await vi.waitFor(() => fetch(url), 60_000);
  return { url };
};
