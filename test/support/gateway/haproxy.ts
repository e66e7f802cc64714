import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, type TestContext, vi } from 'vitest';
import { need } from '../available.ts';
import { findProgram, HAPROXY } from '../debian-program.ts';
import { freePort } from '../free-port.ts';
import { root } from '../pages.ts';

const found = findProgram(HAPROXY);

/** Skips the test where there is no real HAProxy, and says why; in CI it fails. */
export const needHaproxy = async (context: TestContext): Promise<void> => {
  const program = await found;
  need(context, typeof program !== 'string', `haproxy (${program})`);
};

/**
 * HAProxy with the project's configuration, in front of gateways on these ports of 127.0.0.1. It goes when the test is
 * finished.
 */
export const startHaproxy = async ([first, second]: readonly [number, number]) => {
  const program = await found;
  if (typeof program === 'string') throw new Error(program);
  const folder = await mkdtemp(join(tmpdir(), 'haproxy-test-'));
  const [socket, more] = [join(folder, 'socket'), join(folder, 'more.cfg')];
  await writeFile(more, `global\n    stats socket ${socket}\n`);
  const port = await freePort();
  const child = spawn(program.path, ['-db', '-f', join(root, 'deploy/haproxy.cfg'), '-f', more], {
    env: {
      ...program.env,
      BIND: `127.0.0.1:${port}`,
      GATEWAY_1: `127.0.0.1:${first}`,
      GATEWAY_2: `127.0.0.1:${second}`,
    },
    stdio: 'ignore',
  });
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
    await rm(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(url), 60_000);

  /** Lines such as `ready,gateway-1,…,UP,…,L7OK,200,…`, of servers that were checked. */
  const checked = async (): Promise<readonly string[]> => {
    const admin = connect(socket);
    admin.end('show stat\n');
    const lines = (await text(admin)).split('\n');
    return lines.filter((line) => /^\w+,gateway-\d,/.test(line) && line.includes(',L7OK,200,'));
  };
  return {
    url,
    /** Waits until it takes this gateway, 1 or 2, for ready. */
    isReady: (gateway: number) =>
      vi.waitFor(async () => {
        const ready = (await checked()).filter((line) => line.startsWith(`ready,gateway-${gateway},`));
        expect(ready).toEqual([expect.stringContaining(',UP,')]);
      }, 60_000),
  };
};
