import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Report } from '../../../scripts/bench/lookups/tables.ts';
import { folderOf } from '../../support/folder.ts';
import { root } from '../../support/pages.ts';

/** The bench of lookups, in its smallest form: how fast anything is, is not for a test. */

const run = promisify(execFile);
const bench = (...args: readonly string[]) =>
  run(process.execPath, [join(root, 'scripts/bench/main.ts'), 'lookups', ...args], { cwd: root });

test('it measures the gateway and the raw proxy without installing anything', async () => {
  await using folder = await folderOf({});
  const json = folder.path('report.json');
  const short = ['--rounds', '1', '--seconds', '0.2', '--json', json];
  const { stdout } = await bench('--peers', 'raw', '--only', 'W2,W5ws,session,half', ...short);
  expect(stdout).toContain('All servers answer W1 with the same data.');

  const report: Report = JSON.parse(await readFile(json, 'utf8'));
  expect(report.workloads.map(({ name, results }) => [name, results.map(({ subject }) => subject)])).toEqual([
    ['W2', ['raw', 'raw-pages', 'cold', 'free', 'hot-128', 'hot-1']],
    ['W5ws', ['raw', 'cold']],
    ['session', ['raw', 'cold', 'free']],
    ['half', ['raw', 'cold']],
  ]);
  for (const result of report.workloads.flatMap(({ results }) => results)) {
    expect(result.failure, stdout).toBeNull();
    expect(result.rate).toBeGreaterThan(0);
    expect(result.p50Ms).toBeGreaterThan(0);
    expect(result.p99Ms).toBeGreaterThanOrEqual(result.p50Ms);
    expect(result.maxMs).toBeGreaterThanOrEqual(result.p99Ms);
    expect(stdout).toContain(`| ${result.title}`);
  }
  expect(Object.keys(report.starts)).toEqual(['raw', 'cold', 'free', 'hot']);
  expect(Object.keys(report.memory)).toEqual(['raw', 'cold', 'free', 'hot']);
});

test('it names the workloads and the peers that there are', async () => {
  await expect(bench('--only', 'W9')).rejects.toThrow(/--only: expected some of W1, W2, .*, got W9/);
  await expect(bench('--peers', 'apollo')).rejects.toThrow(
    /--peers: expected some of raw, mercurius, .*, got apollo/,
  );
});

test('its peers have exact versions, and a lock file without the host of a registry', async () => {
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));
  const { dependencies } = await read('scripts/bench/peers/package.json');
  const { packages } = await read('scripts/bench/peers/package-lock.json');
  for (const [name, version] of Object.entries(dependencies)) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    expect(packages[`node_modules/${name}`].version, name).toBe(version);
  }
  expect(Object.keys(packages).length).toBeGreaterThan(50);
  expect(Object.entries(packages).filter(([, entry]) => 'resolved' in (entry as object))).toEqual([]);
  const project = await read('package-lock.json');
  expect(project.packages['node_modules/mercurius']).toBeUndefined();
});
