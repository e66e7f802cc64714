import {
  assertObjectType,
  buildSchema,
  type GraphQLSchema,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
} from 'graphql';
import { withPlannedLists } from '../../../../src/graph/plan/compile.ts';
import { createPlannedSchema } from '../../../../src/graph/plan/planned-schema.ts';
import { schema as ownSchema } from '../../../../src/schema.ts';
import type { IndexedList } from '../../../../src/upstream/kernel/compile-list.ts';
import { UNORDERED } from '../../../../src/upstream/parse/list-order.ts';
import type { RecordTable } from '../../../../src/upstream/parse/record.ts';

export const SCALARS = Object.values(ownSchema.getTypeMap()).filter(isScalarType);

export type Change = (schema: GraphQLSchema) => void;

const unchanged: Change = () => {};

export const listOf = (table: RecordTable): IndexedList => ({
  itemsField: 'things',
  identity: ['id'],
  order: UNORDERED,
  subject: 'wallet',
  table,
});

/** A schema with one planned list, of things with these fields. They are properties unless `change` changes them. */
export const thingsSchema = (table: RecordTable, fields: string, change = unchanged): GraphQLSchema => {
  const declared = SCALARS.filter((scalar) => !isSpecifiedScalarType(scalar)).map(
    ({ name }) => `scalar ${name}`,
  );
  const schema = buildSchema(`
    ${declared.join('\n')}
    enum Color { RED BLUE }
    interface Named { v: String }
    type Part implements Named { v: String }
    type Thing { ${fields} }
    type ThingEdge { cursor: String! node: Thing }
    type ThingConnection { nodes: [Thing]! edges: [ThingEdge]! }
    type Query { things: ThingConnection }
  `);
  const connection = assertObjectType(schema.getType('ThingConnection'));
  connection.extensions = withPlannedLists(listOf(table));
  for (const name of ['Thing', 'Part'])
    for (const field of Object.values(assertObjectType(schema.getType(name)).getFields()))
      field.extensions = { pothosExposedField: field.name };
  change(schema);
  return schema;
};

/** Makes a planned schema, as a start does. The schema that is given stays as it is. */
export const start = (schema: GraphQLSchema) => {
  const [planned, open] = [lexicographicSortSchema(schema), lexicographicSortSchema(schema)];
  return createPlannedSchema(planned, open);
};
