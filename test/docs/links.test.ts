import { access, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { readPages, root, rowsOf } from '../support/pages.ts';

const pages = await readPages();

/** As GitHub makes them of headings, and those that a page sets itself. */
const anchorsOf = (text: string): readonly string[] => [
  ...[...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  ),
  ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id),
];

const exists = (path: string): Promise<boolean> =>
  access(join(root, path)).then(
    () => true,
    () => false,
  );

const missing = async (paths: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(paths.map(exists));
  return paths.filter((_path, index) => !found[index]);
};

/** README.md for a page of docs/; for a page of a folder of docs/, the page of that name. */
const parentOf = (path: string): string => {
  const folder = dirname(path);
  return folder === 'docs' ? 'README.md' : `${folder}.md`;
};

test('each page of docs/ is linked from the page above it', () => {
  const [, ...others] = pages;
  expect(others.length).toBeGreaterThan(11);
  const orphans = others.filter(({ path }) => {
    const parent = pages.find((page) => page.path === parentOf(path));
    return !parent?.text.includes(`](${relative(dirname(parent.path), path)})`);
  });
  expect(orphans).toEqual([]);
});

test('every relative link leads to a file, and every anchor to a heading', async () => {
  const links = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([link, target = '', anchor]) => ({
      name: `${path}: ${link}`,
      target: target === '' ? path : join(dirname(path), target),
      anchor,
    })),
  );
  expect(links.length).toBeGreaterThan(25);
  expect(await missing(links.map(({ target }) => target))).toEqual([]);
  const broken = links.filter(({ target, anchor }) => {
    const text = pages.find(({ path }) => path === target)?.text ?? '';
    return anchor !== undefined && !anchorsOf(text).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test('every path of the project that a page names exists', async () => {
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/(?<![\w./-])(?:src|test|scripts|examples|docs|deploy)\/[\w./@-]*\w\/?/g)].map(
      ([path]) => path,
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(await missing([...new Set(named)])).toEqual([]);
});

test('docs/architecture.md names every folder of src/, two levels deep', async () => {
  const entries = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true });
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => `${relative(root, join(parentPath, name))}/`)
    // The sandbox is a service of its own.
    .filter((path) => path.split('/').length <= 4 && !path.startsWith('src/backend/'));
  const [architecture] = pages.filter(({ path }) => path === 'docs/architecture.md');
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((path) => !architecture?.text.includes(`\`${path}`))).toEqual([]);
});

test('the glossary gives each term a file', () => {
  const [architecture] = pages.filter(({ path }) => path === 'docs/architecture.md');
  const rows = architecture ? rowsOf(architecture, 'term') : [];
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter(([, , file = '']) => !/^`src\/[^`]+\.ts`/.test(file))).toEqual([]);
});
