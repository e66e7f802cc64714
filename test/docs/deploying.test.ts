import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { readServiceConfig } from '../../src/config/index-config.ts';
import { NAMES } from '../../src/config/table.ts';
import { NAMES_OF_SERVICE } from '../../src/config/unknown-variables.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { readPage, root, rowsOf } from '../support/pages.ts';

/** The files of deploy/ agree with the project and with one another. What they do, the test of a rolling deploy tries. */

const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const page = await readPage('docs/deploying.md');
const compose = await read('deploy/compose.yaml');
const indexCompose = await read('deploy/compose.index.yaml');
const dockerfile = await read('deploy/Dockerfile');
const unit = await read('deploy/systemd/gateway@.service');
const { scripts, dependencies } = JSON.parse(await read('package.json'));

/** `NAME=value` lines. */
const settingsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );

/** `NAME: value` lines below a block's name, which are indented deeper. */
const environmentsIn = (yaml: string): Record<string, string>[] =>
  [...yaml.matchAll(/^( *)environment:\n((?:\1 +.*\n)+)/gm)].map(([, , lines = '']) =>
    Object.fromEntries(
      [...lines.matchAll(/^ *([A-Z_0-9]+): "?([^"\n]*)"?$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    ),
  );

test('the settings of the example start a gateway, alone and in a container', async () => {
  const settings = settingsIn(await read('deploy/gateway.env.example'));
  const [container = {}] = environmentsIn(compose);
  const names = [...Object.keys(settings), ...Object.keys(container)];
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) expect(NAMES).toContain(name);
  expect(readConfig({ ...settings, PORT: '4001' }).redis).toMatchObject({
    urls: ['redis://127.0.0.1:6379'],
    cacheUrls: ['redis://127.0.0.1:6380'],
  });
  expect(readConfig({ ...settings, ...container })).toMatchObject({
    host: '0.0.0.0',
    port: 4000,
    redis: {
      urls: ['redis://redis-log:6379'],
      cacheUrls: ['redis://redis-pages:6380'],
      durability: 'strict',
    },
  });
});

test('the settings of the index start the service, alone and in a container, and the gateways find it there', async () => {
  const settings = settingsIn(await read('deploy/index.env.example'));
  const [container = {}] = environmentsIn(indexCompose);
  for (const name of [...Object.keys(settings), ...Object.keys(container)])
    expect(NAMES_OF_SERVICE).toContain(name);
  expect(readServiceConfig(settings)).toMatchObject({ port: 4100, host: '127.0.0.1', chains: [{ id: 1 }] });
  expect(readServiceConfig({ ...settings, ...container })).toMatchObject({ port: 4100, host: '0.0.0.0' });
  const named = (await read('deploy/index.env.example')).match(/http:\/\/\S+?:\d+/g);
  expect(named).toEqual(['http://index:4100', 'http://127.0.0.1:4100']);
  expect(indexCompose).toContain('\n  index:\n');
  const [, image = ''] = /image: (\S+)\n/.exec(compose) ?? [];
  expect(indexCompose).toContain(`image: ${image}\n`);
  expect(scripts.service).toBe('exec node src/main.ts service');
  expect(indexCompose).toContain('command: ["node", "--enable-source-maps", "dist/main.js", "service"]');
  expect(await read('deploy/systemd/gateway-index.service')).toMatch(
    /^ExecStart=\/opt\/gateway\/bin\/evm-graphql-gateway service$/m,
  );
});

test('docker build is given a file and a context that the folder of the commands has', () => {
  const [, file = '', context = ''] = /^\$ docker build -f (\S+) .*?(\S+)$/m.exec(page.text) ?? [];
  expect(join('deploy', file)).toBe('deploy/Dockerfile');
  expect(join(root, 'deploy', context)).toBe(root);
});

test('containers and units start what npm start starts', () => {
  const [, settings = '', flags = ''] = /^(.*) exec node (.*)$/.exec(scripts.start) ?? [];
  // The bundle is compiled in a quarter of the time, and has no folder to keep that in.
  expect(dockerfile).toContain(`ENV ${settings.replace(/^NODE_COMPILE_CACHE=\S+ /, '')}\n`);
  const bundled = flags.replace('src/main.ts', '--enable-source-maps dist/main.js').split(' ');
  expect(dockerfile).toContain(`CMD ${JSON.stringify(['node', ...bundled]).replaceAll(',', ', ')}\n`);
  // The package's program has the same: see test/cli/package.test.ts.
  expect(unit).toMatch(/^ExecStart=\/opt\/gateway\/bin\/evm-graphql-gateway$/m);
  expect(unit).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
});

test('gateway.env holds keys, so each command that makes one makes it for its owner alone', () => {
  const commands = [...page.text.matchAll(/^.*\S+ (?:\/etc\/)?gateway\.env$/gm)].map(([line]) => line);
  expect(commands).toHaveLength(2);
  for (const command of commands) expect(command).toContain('install -m 600 ');
  // No copy of the folder takes it along.
  expect(page.text).not.toContain('cp -r');
});

test('every image has a version, and the one of Node is that of the project', () => {
  const pulled = [...compose.matchAll(/^ +image: (\S+:\S+)$/gm), ...dockerfile.matchAll(/^FROM (\S+)/gm)];
  expect(pulled.length).toBe(5);
  for (const [, image = ''] of pulled) expect(image).toMatch(/^[a-z]+:\d+\.\d+\.\d+(-[a-z-]+)?$/);
  for (const [, tag = ''] of dockerfile.matchAll(/^FROM node:([\d.]+)/gm))
    expect(tag).toBe(dependencies.node);
});

test('hosts, ports and files that compose.yaml names are there', async () => {
  const services = [...compose.matchAll(/^ {2}([a-z0-9-]+):/gm)].map(([, name]) => name);
  const [, proxy = {}] = environmentsIn(compose);
  const hosts = [
    ...compose.matchAll(/redis:\/\/([a-z-]+):(\d+)/g),
    ...Object.values(proxy).map((at) => /(.+):(\d+)/.exec(at)),
  ];
  expect(hosts).toHaveLength(4);
  for (const [, host = ''] of hosts.map((match) => match ?? [])) expect(services).toContain(host);
  for (const [, name = '', port = ''] of compose.matchAll(/redis:\/\/(redis-[a-z]+):(\d+)/g))
    expect(await read(`deploy/redis/${name}.conf`)).toContain(`\nport ${port}\n`);
  const mounted = [...compose.matchAll(/- \.\/(\S+?):/g)].map(([, path = '']) => path);
  expect(mounted).toHaveLength(3);
  for (const path of mounted) expect(await read(`deploy/${path}`)).not.toBe('');
  const haproxy = await read('deploy/haproxy.cfg');
  for (const name of Object.keys(proxy)) expect(haproxy).toContain(`presetenv ${name} `);
});

test('what docs/deploying.md watches is measured', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { families } = await scrape(gateway.url);
  const expressions = rowsOf(page, 'question').map(([, expression = '']) => expression);
  const named = expressions.flatMap((text) => [...text.matchAll(/gateway_\w+/g)].map(([name]) => name));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !families.has(name.replace(/_bucket$/, '')))).toEqual([]);
});
