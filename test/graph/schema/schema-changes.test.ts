import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { folderOf } from '../../support/folder.ts';
import { root } from '../../support/pages.ts';

/** `npm run check` holds the schema against the last release, in repositories of their own. */

const run = promisify(execFile);

/** A repository with this project's schema and a changelog, all of it committed. */
const repositoryOf = async () => {
  const folder = await folderOf({ 'CHANGELOG.md': '# Changelog\n\n- Wallet.transactions is new.\n' });
  const cwd = folder.path('');
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd });
  const commit = async (message: string) => {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', message);
  };
  await cp(join(root, 'schema.graphql'), folder.path('schema.graphql'));
  await git('init', '--quiet');
  await commit('First');
  const edit = async (file: string, change: (text: string) => string) =>
    writeFile(folder.path(file), change(await readFile(folder.path(file), 'utf8')));
  return { ...folder, cwd, git, commit, edit };
};

const check = async (cwd: string, env: Record<string, string> = {}) => {
  const node = join(root, 'node_modules/.bin/node');
  const script = join(root, 'scripts/checks/schema-changes.ts');
  const options = { cwd, env: { PATH: process.env.PATH, GIT_CEILING_DIRECTORIES: join(cwd, '..'), ...env } };
  return run(node, [script], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
};

const withoutField = (schema: string): string =>
  schema.replace('  nativeToken: Token!\n', '  currency: Token!\n');

test('before the first release there is nothing to compare with, and one line says so', async () => {
  await using repository = await repositoryOf();
  await repository.edit('schema.graphql', withoutField);
  expect(await check(repository.cwd)).toEqual({
    code: 0,
    stdout: 'No version is tagged yet: there is no release to compare the schema with.\n',
    stderr: '',
  });
});

test('a breaking change needs a new line of the changelog that names its coordinate', async () => {
  await using repository = await repositoryOf();
  await repository.git('tag', 'v1.0.0');
  await repository.commit('Nothing').catch(() => {});
  expect(await check(repository.cwd)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Since v1.0.0, 0 '),
  });

  const REMOVED = /Field Chain\.nativeToken was removed.*names Chain\.nativeToken/;
  await repository.edit('schema.graphql', withoutField);
  expect(await check(repository.cwd)).toMatchObject({ code: 1, stderr: expect.stringMatching(REMOVED) });
  await repository.edit(
    'CHANGELOG.md',
    (text) => `${text}- Chain.nativeTokens, and the rest of Chain, are new.\n`,
  );
  expect((await check(repository.cwd)).code).toBe(1);
  await repository.edit(
    'CHANGELOG.md',
    (text) => `${text}- \`Chain.nativeToken\` is gone: use \`Query.token\`.\n`,
  );
  expect(await check(repository.cwd)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 breaking'),
  });
  await repository.commit('Remove a field');
  expect((await check(repository.cwd)).code).toBe(0);

  // The next release begins anew: an old line explains no new change.
  await repository.git('tag', 'v2.0.0');
  expect(await check(repository.cwd)).toMatchObject({ stdout: expect.stringContaining('Since v2.0.0, 0 ') });
});

test('a promise of @semanticNonNull that is taken back breaks clients too', async () => {
  await using repository = await repositoryOf();
  await repository.git('tag', 'v1.0.0');
  await repository.edit('schema.graphql', (text) =>
    text.replace(/\bTransactionConnection @semanticNonNull/, 'TransactionConnection'),
  );
  expect(await check(repository.cwd)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Wallet.transactions has lost @semanticNonNull'),
  });
});

test('what is added breaks nothing', async () => {
  await using repository = await repositoryOf();
  await repository.git('tag', 'v1.0.0');
  await repository.edit('schema.graphql', (text) => `${text}\ntype New {\n  field: Int\n}\n`);
  expect((await check(repository.cwd)).code).toBe(0);
});

test('a shallow clone without tags says what it lacks, and fails in CI', async () => {
  await using repository = await repositoryOf();
  await repository.git('tag', 'v1.0.0');
  await repository.edit('schema.graphql', withoutField);
  await repository.commit('Remove a field');
  await using clone = await folderOf({});
  const cwd = clone.path('clone');
  await run('git', ['clone', '--quiet', '--depth', '1', '--no-tags', `file://${repository.cwd}`, cwd]);
  const hint = { stderr: expect.stringContaining('git fetch --unshallow --tags') };
  expect(await check(cwd)).toMatchObject({ code: 0, ...hint });
  expect(await check(cwd, { CI: 'true' })).toMatchObject({ code: 1, ...hint });
  await run('git', ['fetch', '--quiet', '--unshallow', '--tags'], { cwd });
  expect(await check(cwd, { CI: 'true' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Chain.nativeToken'),
  });
});

test('outside of a repository, as in an unpacked package, there is nothing to compare with', async () => {
  await using folder = await folderOf({});
  expect(await check(folder.path(''))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('no git repository'),
  });
});
