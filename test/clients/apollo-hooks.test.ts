import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startDashboard } from '../support/clients/built-dashboard.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { folderOf } from '../support/folder.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { root } from '../support/pages.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The modules of docs/frontends/apollo-hooks.md, with the React of examples/dashboard, in a real browser. */

const MAIN = `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
const { gateway, address } = Object.fromEntries(new URLSearchParams(location.search)) as Record<string, string>;
createRoot(document.querySelector('#root')!).render(<StrictMode><App url={gateway!} address={address!} /></StrictMode>);
`;

const TSCONFIG = {
  extends: join(root, 'tsconfig.json'),
  compilerOptions: {
    ...{ module: 'esnext', moduleResolution: 'bundler', jsx: 'react-jsx' },
    ...{ lib: ['es2024', 'dom', 'dom.iterable'], types: [], preserveSymlinks: true },
    ...{ noPropertyAccessFromIndexSignature: true, noImplicitReturns: true },
  },
  include: ['*.tsx'],
  exclude: [],
};

type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

/** Links all packages of the project and those of the dashboard into one folder, so that both find each other. */
const linkPackages = async (dashboard: Dashboard, to: string): Promise<void> => {
  await mkdir(join(to, '@types'), { recursive: true });
  for (const from of [dashboard.path('node_modules'), join(root, 'node_modules')])
    for (const name of [
      ...(await readdir(from)),
      ...(await readdir(join(from, '@types'))).map((type) => `@types/${type}`),
    ])
      if (name !== '@types') await symlink(join(from, name), join(to, name)).catch(() => {});
};

/** Checks the types of the page's modules, and bundles them into what the dashboard's server serves. */
const buildHooks = async (dashboard: Dashboard): Promise<void> => {
  await dashboard.install();
  const examples = dashboard.path('..');
  await cp(join(root, 'examples/frontends'), join(examples, 'frontends'), { recursive: true });
  await linkPackages(dashboard, join(examples, 'node_modules'));
  await symlink(root, join(examples, 'node_modules/evm-graphql-gateway'));
  const folder = join(examples, 'frontends/apollo-hooks');
  await writeFile(join(folder, 'main.tsx'), MAIN);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await promisify(execFile)(dashboard.path('node_modules/.bin/tsc'), ['--project', folder]);
  await mkdir(dashboard.path('dist'));
  await build({
    input: join(folder, 'main.tsx'),
    resolve: { symlinks: false },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    output: { file: dashboard.path('dist/main.js'), format: 'esm' },
    logLevel: 'silent',
  });
  const page =
    '<!doctype html><title>Hooks</title><div id="root"></div><script type="module" src="main.js"></script>';
  await writeFile(dashboard.path('dist/index.html'), page);
};

test('Apollo’s hooks page a wallet, and follow its events over a restart of the gateway, under React’s StrictMode', async (context) => {
  needBrowser(context);
  await using dashboard = await startDashboard();
  await buildHooks(dashboard);
  await using fake = await startFakeWallets();
  await using data = await folderOf({});
  const address = freshAddress();
  const hashes = history(30).map(({ hash }) => hash);
  fake.transactions.set(address, servingTransactions(history(30)));
  const env = {
    ...{ UPSTREAM_URL: fake.url, UPSTREAM_API_KEY: 'unused', DATA_DIR: data.path('data') },
    ALLOWED_ORIGINS: dashboard.url,
    AUTH: 'open',
  };
  await using first = await spawnGateway(env);
  const { deliveryUrl } = await deliveriesOf(first.url);
  const deliverOne = async (number: number, to = address) =>
    expect(await deliver(deliveryUrl, { type: 'activities', body: activity(number, to) })).toBe(200);
  await deliverOne(1);

  await using opened = await openPage(
    `${dashboard.url}/?${new URLSearchParams({ gateway: first.url, address })}`,
  );
  const { page } = opened;
  const shown = () =>
    page.locator('[data-hash]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-hash')));
  await expect.poll(shown).toEqual(hashes.slice(0, 20));
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect.poll(shown).toEqual(hashes);

  const events = page.locator('[data-delivery]');
  const status = page.getByRole('status');
  await expect.poll(() => status.innerText()).toBe('connected');
  await deliverOne(2);
  await deliverOne(3, freshAddress());
  await expect.poll(() => events.count()).toBe(2);
  await first.end('SIGKILL');
  await expect.poll(() => status.innerText()).toBe('closed');
  await using second = await spawnGateway({ ...env, PORT: new URL(first.url).port });
  expect(second.url).toBe(first.url);
  await deliverOne(4);
  await expect.poll(() => events.count()).toBe(3);
  await expect.poll(() => status.innerText()).toBe('connected');
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(opened.faults).toEqual([]);
});
