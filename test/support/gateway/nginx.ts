import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'vitest';
import { need } from '../available.ts';
import { findProgram, NGINX } from '../debian-program.ts';
import { folderOf } from '../folder.ts';

const found = findProgram(NGINX);

/** Skips the test where there is no real nginx, and says why; in CI it fails. */
export const needNginx = async (context: TestContext): Promise<void> => {
  const program = await found;
  need(context, typeof program !== 'string', `nginx (${program})`);
};

/** Starts nginx with the directives of its `http` block, which make it listen on `port` of 127.0.0.1. */
export const startNginx = async (port: number, http: string) => {
  const program = await found;
  if (typeof program === 'string') throw new Error(program);
  await using made = new AsyncDisposableStack();
  const folder = made.use(await folderOf({ 'temporary/empty': '', 'logs/empty': '' }));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder.path('temporary')}/${name};`)
    .join('\n');
  await folder.write(
    'nginx.conf',
    `daemon off;
master_process off;
pid ${folder.path('pid')};
error_log ${folder.path('logs/errors')};
events {}
http {
access_log off;
${temporary}
${http}
}
`,
  );
  const child = spawn(program.path, ['-p', folder.path('.'), '-c', folder.path('nginx.conf')], {
    env: program.env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exit = once(child, 'exit');
  made.defer(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  for (;;) {
    if (await accepts(port)) break;
    if (child.exitCode !== null) throw new Error('nginx did not start: it has said why');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const running = made.move();
  return { [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
