import { GraphQLScalarType } from 'graphql';
import { builder } from './builder.ts';
import { type Codec, type Scalars, scalars } from './scalars.ts';

for (const [name, codec] of Object.entries(scalars)) {
  const coercion: Codec<unknown> = codec;
  builder.addScalarType(
    name as Exclude<keyof Scalars, 'ID'>,
    new GraphQLScalarType<unknown>({ name, ...coercion, serialize: (value) => value }),
  );
}
