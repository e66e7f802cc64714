import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isScalarType, isSpecifiedScalarType } from 'graphql';
import { expect, test } from 'vitest';
import codegen from '../../examples/frontends/codegen.config.ts';
import { ERROR_CODES } from '../../src/graph/errors.ts';
import { schema } from '../../src/schema.ts';
import { blocksOf, readPage, readPages, root, rowsOf } from '../support/pages.ts';

/** docs/frontends.md and the pages below it: the modules that they show are run by test/clients. */

const pages = (await readPages()).filter(({ path }) => path.startsWith('docs/frontends'));

/** The files of an example, without what codegen, npm and Vite write. */
const modulesOf = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !/__generated__|node_modules|dist\//.test(path));
  return Promise.all(paths.map((path) => readFile(path, 'utf8')));
};

const snippetsOf = (languages: readonly string[]): readonly string[] =>
  pages.flatMap((page) => languages.flatMap((language) => blocksOf(page, language)));

test('the pages of frontends show no code but what tests run, and each module of examples/frontends', async () => {
  expect(pages).toHaveLength(5);
  // What a page includes is written out: nothing replaces a marker.
  expect(pages.flatMap(({ text }) => text.match(/^<<.*/gm) ?? [])).toEqual([]);
  const [frontends, dashboard] = [
    await modulesOf('examples/frontends'),
    await modulesOf('examples/dashboard'),
  ];
  const snippets = snippetsOf(['ts', 'tsx', 'json']);
  expect(snippets.length).toBeGreaterThan(15);
  const strange = snippets.filter(
    (code) => ![...frontends, ...dashboard].some((module) => module.includes(code)),
  );
  // The dashboard's test builds it with this one.
  expect(strange).toEqual([expect.stringContaining('persistConfig')]);
  expect(frontends.filter((module) => !snippets.some((code) => module.includes(code)))).toEqual([]);
});

/** The package of a module: `@apollo/client` of `@apollo/client/link/error`. */
const packageOf = (module: string): string =>
  module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/');

test('each page of a client installs all packages that its snippets import', async () => {
  const clients = [
    ...pages.filter(({ path }) => path !== 'docs/frontends.md'),
    await readPage('docs/resuming-clients.md'),
  ];
  for (const page of clients) {
    const installed = blocksOf(page, 'sh').join('\n').split(/\s+/);
    const imported = ['ts', 'tsx']
      .flatMap((language) => blocksOf(page, language))
      .flatMap((code) =>
        [...code.matchAll(/ from '([^'.][^']*)'/g)].map(([, module = '']) => packageOf(module)),
      );
    // The types of a configuration come with what it configures. On the page of all clients, each has its own packages.
    const given = [
      '@graphql-codegen/plugin-helpers',
      // docs/client.md says how it is installed.
      'evm-graphql-gateway',
      ...(page.path.includes('resuming') ? ['@apollo/client', '@urql/core', 'relay-runtime'] : []),
    ];
    expect(imported.length, page.path).toBeGreaterThan(0);
    expect(
      imported.filter((name) => ![...installed, ...given].includes(name)),
      page.path,
    ).toEqual([]);
  }
});

test('docs/frontends.md says what a page does about each error code', async () => {
  const rows = rowsOf(await readPage('docs/frontends.md'), 'code');
  expect(rows.flatMap(([codes = '']) => codes.split(', '))).toEqual(ERROR_CODES);
});

test('docs/frontends.md has each scalar, with the type that codegen and Relay give it', async () => {
  const rows = rowsOf(await readPage('docs/frontends.md'), 'scalar');
  const shown = Object.fromEntries(rows.map(([name = '', , type = '']) => [name, type.replaceAll('`', '')]));
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  );
  expect(Object.keys(shown)).toEqual(scalars.map(({ name }) => name).toSorted());
  expect(codegen.generates['__generated__/'].config.scalars).toEqual(shown);
  const relay = await readFile(join(root, 'examples/dashboard/relay.config.json'), 'utf8');
  expect(JSON.parse(relay).customScalarTypes).toEqual(shown);
});
