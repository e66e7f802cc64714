import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import { root } from '../pages.ts';

const EXAMPLE = 'examples/dashboard';

/** What npm, Relay's compiler and Vite write into the example's folder. */
const WRITTEN = ['node_modules', 'dist', '__generated__'];

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
};

/** The files of a folder, on a port of their own. */
const serveFiles = async (folder: string) => {
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://files');
    const path = join(folder, pathname === '/' ? 'index.html' : pathname);
    const content = await readFile(path).catch(() => null);
    response.writeHead(content ? 200 : 404, { 'content-type': TYPES[extname(path)] ?? 'text/plain' });
    response.end(content);
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** A copy of examples/dashboard beside the gateway's schema and the client package, and the server of the files that it is built to. */
export const startDashboard = async () => {
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-dashboard-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const example = join(folder, EXAMPLE);
  await cp(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  // What its configuration of Vite names in a checkout.
  await cp(join(root, 'src/client'), join(folder, 'src/client'), { recursive: true });
  await cp(join(root, EXAMPLE), example, {
    recursive: true,
    filter: (source) => !WRITTEN.includes(basename(source)),
  });
  const server = made.use(await serveFiles(join(example, 'dist')));
  const running = made.move();

  // Vitest's NODE_ENV would build React for tests.
  const npm = (args: readonly string[], env: Record<string, string> = {}) =>
    promisify(execFile)('npm', args, { cwd: example, env: { ...process.env, NODE_ENV: undefined, ...env } });
  let installed: Promise<unknown> | null = null;
  /** What `dist` is built from. */
  let built = '';
  const install = (): Promise<unknown> => {
    installed ??= npm(['ci', '--prefer-offline']);
    return installed;
  };

  return {
    url: server.url,
    /** A file of the example. */
    path: (name: string) => join(example, name),
    install,
    /**
     * Installs and builds it, as its README says, for a gateway of another origin, unless it is built for that one already.
     * `relay` is added to Relay's configuration.
     */
    async build(gatewayUrl: string, relay: object = {}): Promise<void> {
      const wanted = JSON.stringify([gatewayUrl, relay]);
      if (wanted === built) return;
      await install();
      const config = JSON.parse(await readFile(join(root, EXAMPLE, 'relay.config.json'), 'utf8'));
      await writeFile(join(example, 'relay.config.json'), JSON.stringify({ ...config, ...relay }));
      await npm(['run', 'build'], { VITE_GATEWAY_URL: gatewayUrl });
      built = wanted;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
