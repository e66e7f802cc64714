import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildSchema, parse } from 'graphql';
import config from '../../examples/frontends/codegen.config.ts';
import { parseCommandLine } from '../command-line.ts';

/**
 * Writes what `graphql-codegen` writes for examples/frontends, by its configuration; with --check, fails when a file is not
 * what the documents say. The command line of graphql-codegen has 200 packages that nothing else here needs.
 */

const { values } = parseCommandLine('Usage: npm run frontends:operations -- [--check]', {
  options: { check: { type: 'boolean' } },
});

const FOLDER = fileURLToPath(new URL('../../examples/frontends/', import.meta.url));
const OUTPUT = '__generated__/';
const { presetConfig, config: output, documentTransforms: transforms } = config.generates[OUTPUT];
const documentTransforms = transforms.map((transformObject) => ({ name: 'own', transformObject }));

/** The documents in the modules: what is in a call of codegen's `graphql`. */
const documents = globSync(config.documents, { cwd: FOLDER })
  .sort()
  .flatMap((location) =>
    [...readFileSync(`${FOLDER}${location}`, 'utf8').matchAll(/\bgraphql\(`([^`]*)`\)/g)].map(
      ([, rawSDL = '']) => ({ location, rawSDL, document: parse(rawSDL) }),
    ),
  );

const schema = readFileSync(`${FOLDER}${config.schema}`, 'utf8');
const files = await preset.buildGeneratesSection({
  ...{ baseOutputDir: OUTPUT, presetConfig, config: output, documents, documentTransforms },
  ...{ schema: parse(schema), schemaAst: buildSchema(schema), plugins: [], pluginMap: {} },
});
const contents = await Promise.all(files.map((file) => codegen(file)));

mkdirSync(`${FOLDER}${OUTPUT}`, { recursive: true });
for (const [index, { filename }] of files.entries()) {
  const [path, content] = [`${FOLDER}${filename}`, contents[index] ?? ''];
  if (!values.check) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    process.stderr.write(
      `${path} is not what the documents say. Mend it with: npm run frontends:operations\n`,
    );
    process.exitCode = 1;
  }
}
