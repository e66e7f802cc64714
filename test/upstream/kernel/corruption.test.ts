import { expect, test } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import { randomBody, usualBody } from '../../support/kernel/bodies.ts';
import { compare, newCounts } from '../../support/kernel/differential.ts';
import { createRandom, type Random } from '../../support/kernel/random.ts';
import { runs } from '../../support/runs.ts';

const SEED = Number(process.env.FC_SEED ?? 1);

/** Bytes that mean something in JSON, ends of UTF-8 characters, and nothing. */
const BYTES = Buffer.from('"\\{}[]:, 0a1\n\tx-+.eEuntf\x00\x1f\x7f\x80\xbf\xc3\xe2\xf0\xff', 'latin1');

/** Replaces, inserts, removes and repeats bytes, or cuts the body. */
const corrupt = (body: Buffer, random: Random): Buffer => {
  let bytes = Buffer.from(body);
  for (let count = random.below(3) + 1; count > 0; count -= 1) {
    const at = random.below(bytes.length);
    const byte = random.once(4) ? random.below(256) : random.pick([...BYTES]);
    const kind = random.below(16);
    if (kind === 0) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.below(8))]);
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), Buffer.of(byte), bytes.subarray(at)]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at + 20), bytes.subarray(at)]);
    else if (kind === 3 && random.once(4)) bytes = bytes.subarray(0, at);
    else bytes[at] = byte;
    if (bytes.length === 0) return bytes;
  }
  return bytes;
};

/** Lists whose items a table describes: the kernel reads no others. */
const indexed = lookups.filter(({ isWhole }) => !isWhole);

test.each(indexed)(
  'refuses whatever JSON.parse refuses, and reads the rest of corrupted pages of $name as the plain reader does',
  async (list) => {
    const counts = newCounts();
    const bodies = Array.from({ length: 400 }, (_, index) => {
      const random = createRandom(SEED + index);
      return Buffer.from(random.once(3) ? randomBody(list, random, 2) : usualBody(list, random.below(3) + 1));
    });
    for (let run = 0; run < runs(4000); run += 1) {
      const random = createRandom(SEED * 1_000_003 + run);
      await compare(list, corrupt(random.pick(bodies), random), random, counts);
    }
    expect(counts.refused).toBeGreaterThan(counts.bodies / 8);
    expect(counts.bodies - counts.refused - counts.left).toBeGreaterThan(counts.bodies / 8);
    if (process.env.FC_RUNS) process.stdout.write(`${list.name} ${JSON.stringify(counts)}\n`);
  },
);
