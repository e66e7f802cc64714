import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { folderOf } from '../support/folder.ts';

/** A lookup is added as docs/adding-a-lookup.md says, in a copy of the project: the badges of a wallet, like its collectibles. */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Copies the project without what git ignores. */
const copyProject = async () => {
  const folder = await folderOf({});
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  for (const path of stdout.split('\n').filter(Boolean)) await cp(join(root, path), folder.path(path));
  // While another test packs the project, its own package.json is beside that of the package.
  const own = folder.path('package.json');
  await cp(join(root, '.package.json'), own).catch(() => cp(join(root, 'package.json'), own));
  await symlink(join(root, 'node_modules'), folder.path('node_modules'));
  return folder;
};

/** The names of the collectibles and their types, as the copy has them. */
const NAMES = [
  ['collectible', 'badge'],
  ['Collectible', 'Badge'],
  ['COLLECTIBLE', 'BADGE'],
  ['TokenStandard', 'BadgeStandard'],
  ['SpamFeature', 'BadgeSpamFeature'],
  ['SpamExplanation', 'BadgeSpamExplanation'],
  // The sandbox's list of chains does not name badges.
  ["data.chains, 'badges'", "data.chains, 'collectibles'"],
  ["supportedAs: 'BADGES'", "supportedAs: 'COLLECTIBLES'"],
] as const;

const renamed = (text: string): string =>
  NAMES.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);

const SAMPLE = `  badges: {
    key: ['tokenId', 'token_id'],
    item: (number) => ({ ...collectible({ token_id: String(number) }), spam_score: number }),
  },
};

export const sampleOf`;

/** The steps of the page. Each entry is a file that is changed: what stands there, and what is put in its place. */
const EDITS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'src/lookups/registry.ts': [
    ['import { collectibles }', "import { badges } from './badges.ts';\nimport { collectibles }"],
    ['  collectibles,\n', '  collectibles,\n  badges,\n'],
  ],
  'src/backend/endpoints/registry.ts': [
    ['import { collectibles }', "import { badges } from './badges.ts';\nimport { collectibles }"],
    ['  collectibles,\n', '  collectibles,\n  badges,\n'],
  ],
  'test/support/lookups/samples.ts': [['};\n\nexport const sampleOf', SAMPLE]],
};

test('a lookup that is added by the steps of the page passes the checks, the laws of pagination and the comparisons', async () => {
  await using project = await copyProject();
  const cwd = project.path('.');
  const node = async (...args: string[]): Promise<string> => {
    const child = run(process.execPath, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
    return (await child.catch(({ stdout, stderr }) => expect.fail(`${args.join(' ')}\n${stdout}${stderr}`)))
      .stdout;
  };
  for (const file of [
    'lookups/collectibles-rest.ts',
    'lookups/collectibles.ts',
    'backend/endpoints/collectibles.ts',
  ])
    await writeFile(
      project.path(`src/${renamed(file)}`),
      renamed(await readFile(project.path(`src/${file}`), 'utf8')),
    );
  for (const [file, edits] of Object.entries(EDITS)) {
    let text = await readFile(project.path(file), 'utf8');
    for (const [before, after] of edits) {
      expect(text, file).toContain(before);
      text = text.replace(before, after);
    }
    await writeFile(project.path(file), text);
  }
  await node(
    'node_modules/@biomejs/biome/bin/biome',
    'check',
    '--write',
    'src/lookups',
    'src/backend/endpoints',
  );
  for (const written of ['schema', 'docs']) await node(`scripts/checks/${written}.ts`);
  for (const page of ['caching-and-cost', 'errors-and-limits', 'sandbox', 'configuration'])
    expect(await readFile(project.path(`docs/${page}.md`), 'utf8')).toContain('badges');

  await node('node_modules/tsc/bin/tsc', '--singleThreaded');
  await node('scripts/checks/directions.ts');
  for (const written of ['schema', 'docs']) await node(`scripts/checks/${written}.ts`, '--check');
  const tests = [
    ...[
      'graph/pagination/laws',
      'graph/plan/written-fields',
      'graph/random-documents',
      'upstream/kernel/differential',
    ],
    ...['docs/configuration', 'graph/schema/schema'],
  ].map((name) => `test/${name}.test.ts`);
  const about = ['-t', 'badges|any document over|^docs|described'];
  const options = ['--project', 'quick', '--maxWorkers=1', '--reporter', 'verbose', ...about];
  const reported = await node('node_modules/vitest/vitest.mjs', 'run', ...options, ...tests);
  for (const ran of [
    'return the same badges',
    'random pages of badges',
    'the list of badges',
    'any document over',
  ])
    expect(reported).toMatch(new RegExp(`✓.*${ran}`));
});
