import { codegen } from '@graphql-codegen/core';
import * as operationTypes from '@graphql-codegen/typescript-operations';
import { buildSchema, type DocumentNode, parse } from 'graphql';
import { scalars } from '../../src/client/scalars.ts';

type Source = { readonly location: string; readonly document: DocumentNode };

/** The TypeScript types of the operations in these documents, and of their variables. `options` are the plugin's. */
export const operationTypesOf = (
  filename: string,
  schema: string,
  documents: readonly Source[],
  options: operationTypes.TypeScriptDocumentsPluginConfig = {},
): Promise<string> =>
  codegen({
    filename,
    schema: parse(schema),
    schemaAst: buildSchema(schema),
    documents: [...documents],
    config: { enumType: 'string-literal', immutableTypes: true, scalars, ...options },
    plugins: [{ types: {} }],
    pluginMap: { types: operationTypes },
  });
