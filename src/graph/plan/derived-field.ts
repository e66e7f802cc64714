import type { GraphQLField } from 'graphql';
import type { Context } from '../../context.ts';
import type { Derived } from '../../upstream/parse/derived.ts';
import { type Condition, type View, viewOf } from '../../upstream/parse/record.ts';

/** Returns what makes a field one that is made of its record: for the executor by a function, for plans by the kernel's entry. */
export const derivedField = <Output>(derived: Derived<Output>) => ({
  extensions: { derived },
  resolve: (record: object, _args: unknown, context: Context): Output => derived.derive(record, context),
});

/** Returns what `derivedField` said of a field; undefined for any other field. */
export const derivedOf = ({ extensions }: GraphQLField<unknown, unknown>): Derived | undefined =>
  extensions.derived as Derived | undefined;

/**
 * Returns what makes a field an object of properties of its record: `properties` says which of them each property of the
 * object is. The object has no others, so that it never causes a request. It is null unless one of `presentIf` holds, which
 * by default it always does, and where one of `absentIf` does.
 */
export const viewField = <Source, Target>(
  properties: { readonly [Property in keyof Target]?: keyof Source & string },
  presentIf?: readonly Condition<keyof Source & string>[],
  absentIf?: readonly Condition<keyof Source & string>[],
) => {
  const view: View = {
    properties: properties as View['properties'],
    ...(presentIf && { presentIf }),
    ...(absentIf && { absentIf }),
  };
  // Whether the view is ever null, the type of the field says.
  return { extensions: { view }, resolve: (record: Source & object) => viewOf(view, record) as never };
};

/** Returns what `viewField` said of a field; undefined for any other field. */
export const viewedBy = ({ extensions }: GraphQLField<unknown, unknown>): View | undefined =>
  extensions.view as View | undefined;
