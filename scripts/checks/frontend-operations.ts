import { globSync, readFileSync } from 'node:fs';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildSchema, parse } from 'graphql';
import config from '../../examples/frontends/codegen.config.ts';
import { generator, ROOT } from './generated.ts';

/**
 * Writes what `graphql-codegen` writes for examples/frontends, by its configuration. The command line of graphql-codegen has
 * 200 packages that nothing else here needs.
 */

const save = generator('frontends:operations');
const PATH = 'examples/frontends/';
const FOLDER = `${ROOT}${PATH}`;
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
for (const file of files) await save(`${PATH}${file.filename}`, await codegen(file));
