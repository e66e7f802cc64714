import { GraphQLError, GraphQLScalarType, type ValueNode, valueFromASTUntyped } from 'graphql';
import { builder } from './builder.ts';
import { type Codec, type Scalars, scalars } from './scalars.ts';

/** An error that says where the literal stands: graphql itself says so only of its own scalars, enums and objects. */
const readLiteral =
  ({ parseValue, parseLiteral = (node) => parseValue(valueFromASTUntyped(node)) }: Codec<unknown>) =>
  (node: ValueNode): unknown => {
    try {
      return parseLiteral(node);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      throw new GraphQLError(error.message, { nodes: node, extensions: error.extensions });
    }
  };

for (const [name, codec] of Object.entries(scalars)) {
  const { description, parseValue }: Codec<unknown> = codec;
  builder.addScalarType(
    name as Exclude<keyof Scalars, 'ID'>,
    new GraphQLScalarType<unknown>({
      name,
      description,
      parseValue,
      parseLiteral: readLiteral(codec),
      serialize: (value) => value,
    }),
  );
}
