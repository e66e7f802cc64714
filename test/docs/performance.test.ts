import { expect, test } from 'vitest';
import { ABLATIONS } from '../../scripts/bench/lookups/subjects.ts';
import { WORKLOADS } from '../../scripts/bench/lookups/workloads.ts';
import { readPage, rowsOf } from '../support/pages.ts';

const page = await readPage('docs/performance.md');

test('docs/performance.md has every workload of the bench, in its order, and no other', () => {
  expect(rowsOf(page, 'workload')).toEqual(WORKLOADS.map(({ name, title }) => [name, title]));
});

test('docs/performance.md has a result of every workload', () => {
  const measured = rowsOf(page, 'measured').map(([workload]) => workload);
  expect([...new Set(measured)]).toEqual(WORKLOADS.map(({ name }) => name));
});

test('docs/performance.md has every way in which the bench leaves out a layer', () => {
  expect(rowsOf(page, 'way').map(([way]) => way)).toEqual(ABLATIONS);
});
