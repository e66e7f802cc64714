import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { DEMO_WALLETS } from '../../src/sandbox/demo-wallets.ts';
import { schema } from '../../src/schema.ts';
import { folderOf } from '../support/folder.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

test('the README lists every wallet of the sandbox, with what it shows', () => {
  const rows = DEMO_WALLETS.map(({ name, address, shows }) => `| ${name} | \`${address}\` | ${shows} |`);
  expect(rows.filter((row) => !readme.includes(row))).toEqual([]);
  expect(DEMO_WALLETS.length).toBeGreaterThanOrEqual(20);
});

test('the documents of the README are of this schema', () => {
  const documents = [...readme.matchAll(/```graphql\n([\s\S]*?)```/g)].map(([, document]) => document ?? '');
  expect(documents.length).toBeGreaterThan(2);
  expect(documents.flatMap((document) => validate(schema, parse(document)))).toEqual([]);
});

test('a token that the README makes opens a gateway that is started as it says', async () => {
  const [, secret = ''] = /export JWT_SECRET=(\S+)/.exec(readme) ?? [];
  const [command = ''] = /node --input-type=module -e "[^"]+"/.exec(readme) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, JWT_SECRET: secret },
  });
  await using gateway = await startGateway({ AUTH: 'jwt', JWT_SECRET: secret });
  const reply = await gateway.query(
    '{ deliveries { head } deliveryUrl wallets(addresses: []) { address } }',
    {},
    { authorization: `Bearer ${stdout.trim()}` },
  );
  expect(reply.errors).toBeUndefined();
  expect(reply.data).toMatchObject({ deliveryUrl: expect.stringContaining('/deliveries/demo/') });
});

test("the README's line makes trusted documents of its sample, and they run", async () => {
  const [, line = ''] = /^ +(npm run trust .*)$/m.exec(readme) ?? [];
  await using folder = await folderOf({});
  const path = folder.path('documents.json');
  await promisify(execFile)('sh', ['-c', line.replace('documents.json', path)], {
    cwd: new URL('../..', import.meta.url),
  });
  const documents: Record<string, string> = JSON.parse(await readFile(path, 'utf8'));
  await using gateway = await startGateway({ TRUSTED_DOCUMENTS: path });
  const variables = { address: DEMO_WALLETS[0]?.address };
  const queries = Object.entries(documents).filter(([, text]) => text.startsWith('query'));
  expect(queries).toHaveLength(2);
  expect(Object.keys(documents)).toHaveLength(3);
  for (const [documentId] of queries) {
    const reply = await gateway.post(JSON.stringify({ documentId, variables }));
    expect(reply.errors).toBeUndefined();
  }
});

test('the README has every variable that the configuration reads', () => {
  const read = new Set<string>();
  const environment = new Proxy<Record<string, string | undefined>>(
    {},
    { get: (_target, name) => void read.add(String(name)) },
  );
  readConfig(environment);
  const later = ['REDIS'];
  const missing = [...read].filter(
    (name) => !readme.includes(name) && !later.some((part) => name.includes(part)),
  );
  expect(missing).toEqual([]);
});

test('the README has every metric of the gateway, with its type and what it means, and no other', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { families } = await scrape(gateway.url);
  const own = [...families.values()].filter(({ name }) => name.startsWith('gateway_'));
  const rows = own.map(({ name, type, help }) => `| ${name} | ${type} | ${help} |`);
  expect(readme.match(/^\| gateway_.*$/gm)).toEqual(rows);
});

test('what the README alerts on is measured', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { families } = await scrape(gateway.url);
  const alerts = /\*\*Alert on\*\*([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';
  const named = [...alerts.matchAll(/(?:gateway|nodejs|process)_\w+/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !families.has(name.replace(/_bucket$/, '')))).toEqual([]);
});
