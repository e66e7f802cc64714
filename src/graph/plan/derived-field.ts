import type { GraphQLField } from 'graphql';
import type { Context } from '../../context.ts';
import type { Derived } from '../../upstream/parse/derived.ts';

/** Returns what makes a field one that is made of its record: for the executor by a function, for plans by the kernel's entry. */
export const derivedField = <Output>(derived: Derived<Output>) => ({
  extensions: { derived },
  resolve: (record: object, _args: unknown, context: Context): Output => derived.derive(record, context),
});

/** Returns what `derivedField` said of a field; undefined for any other field. */
export const derivedOf = ({ extensions }: GraphQLField<unknown, unknown>): Derived | undefined =>
  extensions.derived as Derived | undefined;
