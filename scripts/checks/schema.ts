import {
  type GraphQLSchema,
  isObjectType,
  lexicographicSortSchema,
  parse,
  printSchema,
  visit,
} from 'graphql';
import { SemanticNonNullDirective, semanticNonNullLevels } from '../../src/graph/semantic-non-null.ts';
import { schema } from '../../src/schema.ts';
import { generator } from './generated.ts';

/** Prints the schema to schema.graphql. */

/** Of the uses of directives, graphql itself prints those of its own alone. */
const printWithDirectives = (printed: GraphQLSchema): string => {
  const text = printSchema(printed);
  let written = '';
  let at = 0;
  visit(parse(text), {
    ObjectTypeDefinition(node) {
      const type = printed.getType(node.name.value);
      if (!isObjectType(type)) return;
      for (const { name, type: typeOfField } of node.fields ?? []) {
        const field = type.getFields()[name.value];
        const levels = field ? semanticNonNullLevels(field) : [];
        const end = typeOfField.loc?.end;
        if (levels.length === 0 || end === undefined) continue;
        written += `${text.slice(at, end)} @${SemanticNonNullDirective.name}${levels.join() === '0' ? '' : `(levels: [${levels}])`}`;
        at = end;
      }
    },
  });
  return written + text.slice(at);
};

await generator('schema')('schema.graphql', `${printWithDirectives(lexicographicSortSchema(schema))}\n`);
