import { expect, test } from 'vitest';
import { ABLATIONS } from '../../scripts/bench/lookups/ablation.ts';
import { WORKLOADS } from '../../scripts/bench/lookups/workloads.ts';
import { readPage, rowsOf } from '../support/pages.ts';

test('docs/performance.md has every workload of the bench with its results, in its order, and no other', async () => {
  const rows = rowsOf(await readPage('docs/performance.md'), 'workload');
  expect(rows.map(([name, title]) => [name, title])).toEqual(
    WORKLOADS.map(({ name, title }) => [name, title]),
  );
  for (const [name, , ofBestPeer, ofRaw] of rows)
    expect([ofBestPeer, ofRaw], name).toEqual([
      expect.stringMatching(/^[\d.]+\/[\d.]+$/),
      expect.stringMatching(/^[\d.]+\/[\d.]+$/),
    ]);
});

test('docs/architecture.md has every way in which the bench leaves out a layer', async () => {
  expect(rowsOf(await readPage('docs/architecture.md'), 'way').map(([way]) => way)).toEqual(ABLATIONS);
});
