import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';
import type { Types } from '@graphql-codegen/plugin-helpers';
import { scalars } from 'evm-graphql-gateway/client';

const config = {
  schema: '../../schema.graphql',
  documents: ['apollo/*.ts', 'apollo-hooks/*.tsx', 'urql/*.ts'],
  generates: {
    '__generated__/': {
      preset: 'client',
      // Both caches need __typename. Where codegen adds it, trusted documents have it as well.
      documentTransforms: [addTypenameSelectionDocumentTransform],
      presetConfig: { fragmentMasking: false, persistedDocuments: true, skipIndexFile: true },
      config: {
        scalars,
        strictScalars: true,
        enumType: 'string-literal',
        useTypeImports: true,
        importExtension: '.ts',
      },
    },
  },
} satisfies Types.Config;

export default config;
