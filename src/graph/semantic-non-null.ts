import { DirectiveLocation, GraphQLDirective, type GraphQLField, GraphQLInt, GraphQLList } from 'graphql';

/**
 * A field may be null for two reasons: there is no value, or it failed. Where only the second is possible, `@semanticNonNull`
 * tells clients that handle errors by themselves, such as Relay with `@throwOnFieldError`, that they never see the null.
 */

/** Introspection shows its definition, and schema.graphql its uses. */
export const SemanticNonNullDirective = new GraphQLDirective({
  name: 'semanticNonNull',
  description:
    'The field is null only together with an error at the path of that null. `levels` says what may be null: 0 is the field itself, 1 the items of its list.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLList(GraphQLInt),
      defaultValue: [0],
      description: 'The levels of the type that are null only with an error.',
    },
  },
});

/** The field itself, or the items of its list. */
type Level = 0 | 1;

/** Returns the `extensions` of a nullable field that is null only with an error. Default: the field itself is. */
export const semanticNonNull = (
  ...levels: readonly Level[]
): { readonly semanticNonNull: readonly Level[] } => ({
  semanticNonNull: levels.length > 0 ? levels : [0],
});

/** Returns the levels of a field that are null only with an error. */
export const semanticNonNullLevels = ({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'extensions'>): readonly Level[] =>
  (extensions.semanticNonNull as readonly Level[] | undefined) ?? [];
