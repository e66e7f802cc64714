import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { folderOf } from '../../support/folder.ts';

const PROJECT = new URL('../../..', import.meta.url).pathname;

const CONFIG = `
import { SummaryReporter } from '${PROJECT}test/support/summary-reporter.ts';
export default {
  test: {
    isolate: false,
    maxWorkers: 1,
    reporters: [new SummaryReporter()],
    setupFiles: '${PROJECT}test/support/measure-file.ts',
  },
};
`;

/** A test file, of which `body` can say what happens the first time only. */
const testFile = (body: string) => `
import { existsSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
const first = (name) => {
  if (existsSync(name)) return false;
  writeFileSync(name, '');
  return true;
};
${body}
`;

/** Runs test files as CI does: the lines that the run ends with, and its exit code. */
const runInCi = async (files: Record<string, string>, env: NodeJS.ProcessEnv = { CI: 'true' }) => {
  await using folder = await folderOf({ ...files, 'vitest.config.js': CONFIG });
  await mkdir(folder.path('node_modules'));
  await symlink(`${PROJECT}node_modules/vitest`, folder.path('node_modules/vitest'));
  const { CI: _, ...others } = process.env;
  const run = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], {
    cwd: folder.path(''),
    env: { ...others, ...env },
  });
  const [output, [code]] = await Promise.all([text(run.stdout), once(run, 'close')]);
  return { code, output, ending: output.trimEnd().split('\n') };
};

test('a failed test runs once more in CI, and is reported as flaky if it passes then', async () => {
  const { code, ending } = await runInCi({
    'test.test.js': testFile(`
      describe('a (group)', () => {
        test('fails once: [a] + b?', () => expect(first('test')).toBe(false));
        test('passes', () => {});
      });
      test.skip('skipped', () => {});
    `),
    'hook.test.js': testFile(`
      describe('with a hook', () => {
        beforeAll(() => expect(first('hook')).toBe(false));
        test('needs the hook', () => {});
      });
    `),
  });
  expect(ending.slice(-3)).toEqual([
    'flaky:  hook.test.js',
    'flaky:  test.test.js > a (group) > fails once: [a] + b?',
    '3 passed, 0 failed, 1 skipped',
  ]);
  expect(code).toBe(0);
});

test('a run ends with what it took, and with the ten files that took most', async () => {
  const work = (ms: number) =>
    testFile(`
      test('works', { timeout: 300_000 }, () => {
        const before = process.cpuUsage();
        while (process.cpuUsage(before).user < ${ms * 1000});
      });
    `);
  const { ending } = await runInCi({
    'costly.test.js': work(1_500),
    ...Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`cheap-${index}.test.js`, work(0)])),
  });
  expect(ending.at(-1)).toBe('11 passed, 0 failed');
  const [total = '', costliest = '', ...others] = ending.slice(-12, -1);
  expect(total).toMatch(/^\d+ CPU seconds, most of them in$/);
  expect(costliest).toMatch(/^ +\d+\.\d {2,}costly\.test\.js$/);
  expect(others.every((line) => /^ +\d+\.\d {2,}cheap-\d\.test\.js$/.test(line))).toBe(true);
  expect(Number.parseFloat(costliest)).toBeGreaterThanOrEqual(1.4);
  expect(Number.parseFloat(total)).toBeGreaterThanOrEqual(Math.floor(Number.parseFloat(costliest)));
});

test('what fails again fails', async () => {
  const { code, ending } = await runInCi({
    'test.test.js': testFile(`
      test('fails once', () => expect(first('test')).toBe(false));
      test('fails each time', () => expect(1).toBe(2));
    `),
    'unloadable.test.js': `import './nowhere.js'`,
  });
  expect(ending.slice(-2)).toEqual(['flaky:  test.test.js > fails once', '1 passed, 2 failed']);
  expect(code).toBe(1);
});
