import { readFile } from 'node:fs/promises';
import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { DEMO_WALLETS } from '../src/sandbox/wallets.ts';
import { schema } from '../src/schema.ts';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

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

test('the README has every variable that the configuration reads', () => {
  const read = new Set<string>();
  const environment = new Proxy<Record<string, string | undefined>>(
    {},
    { get: (_target, name) => void read.add(String(name)) },
  );
  readConfig(environment);
  const later = ['JWT', 'REDIS'];
  const missing = [...read].filter(
    (name) => !readme.includes(name) && !later.some((part) => name.includes(part)),
  );
  expect(missing).toEqual([]);
});
