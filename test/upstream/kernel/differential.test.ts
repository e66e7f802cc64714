import { expect, test } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import { everyBody, randomBody } from '../../support/kernel/bodies.ts';
import { compare, newCounts } from '../../support/kernel/differential.ts';
import { createRandom } from '../../support/kernel/random.ts';
import { runs } from '../../support/runs.ts';

/** FC_RUNS bodies of each list, of FC_SEED. */
const SEED = Number(process.env.FC_SEED ?? 1);

/** Lists whose items a table describes: the kernel reads no others. */
const indexed = lookups.filter(({ isWhole }) => !isWhole);

test.each(indexed)('reads and writes random pages of $name as the plain reader does', async (list) => {
  const counts = newCounts();
  for (let run = 0; run < runs(1500, 300); run += 1) {
    const random = createRandom(SEED * 1_000_003 + run);
    await compare(list, Buffer.from(randomBody(list, random)), random, counts);
  }
  // Most items take the fast path, and each kind of page is among them.
  expect(counts.items - counts.odd).toBeGreaterThan(counts.items / 3);
  expect(Math.min(counts.refused, counts.left, counts.malformed)).toBeGreaterThan(0);
  if (process.env.FC_RUNS) process.stdout.write(`${list.name} ${JSON.stringify(counts)}\n`);
});

test.each(indexed)(
  'reads and writes every value in the place of every part of an item of $name as the plain reader does',
  async (list) => {
    const counts = newCounts();
    const random = createRandom(SEED);
    for (const body of everyBody(list, 40)) await compare(list, Buffer.from(body), random, counts, true);
    expect(counts.items).toBeGreaterThan(1000);
    expect(counts.left).toBe(0);
    // What is odd without being malformed has one of few rare forms.
    expect(counts.odd - counts.malformed).toBeLessThan(counts.items / 10);
    if (process.env.FC_RUNS) process.stdout.write(`${list.name} ${JSON.stringify(counts)}\n`);
  },
);
