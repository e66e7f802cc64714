import type { GraphQLField } from 'graphql';
import type { Context } from '../../context.ts';

/** Computes the value of a field from its record alone, and from what an operation knows of chains. */
export type Derive = (record: never, context: Pick<Context, 'chains'>) => unknown;

/**
 * Returns the resolver of a field that is a function of its record. A plan calls the same function where it writes the
 * field without the executor.
 */
export const derivedField = <Value, Output>(
  derive: (record: Value, context: Pick<Context, 'chains'>) => Output,
) => ({
  extensions: { derive },
  resolve: (record: Value, _args: unknown, context: Context): Output => derive(record, context),
});

/** Returns the function of a field that `derivedField` made; undefined for any other field. */
export const deriveOf = ({ extensions }: GraphQLField<unknown, unknown>): Derive | undefined =>
  extensions.derive as Derive | undefined;
