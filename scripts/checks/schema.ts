import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../../src/schema.ts';
import { parseCommandLine } from '../command-line.ts';

/** Prints the schema to schema.graphql; with --check, fails when the file is not what the code says. */

const { values } = parseCommandLine('Usage: npm run schema -- [--check]', {
  options: { check: { type: 'boolean' } },
});

const FILE = new URL('../../schema.graphql', import.meta.url);

const printed = `${printSchema(lexicographicSortSchema(schema))}\n`;

if (values.check) {
  const committed = await readFile(FILE, 'utf8').catch(() => '');
  if (committed !== printed) {
    process.stderr.write('schema.graphql is not what the code says. Mend it with: npm run schema\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, printed);
}
