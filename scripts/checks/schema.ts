import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../../src/schema.ts';
import { generator } from './generated.ts';

/** Prints the schema to schema.graphql. */

await generator('schema')('schema.graphql', `${printSchema(lexicographicSortSchema(schema))}\n`);
