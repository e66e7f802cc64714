import {
  DirectiveLocation,
  defaultFieldResolver,
  GraphQLDirective,
  type GraphQLField,
  GraphQLInt,
  GraphQLList,
  type GraphQLSchema,
  isIntrospectionType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { clientError } from './errors.ts';

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

/**
 * Says of an exposed field that every service says its value: it is null only where one breaks its contract, with an error
 * that `withErrorsOfNulls` adds. In a list of a lookup the whole item is null then.
 */
export const knownOrError = (description: string) =>
  ({
    nullable: true,
    description: `${description} Null, with an error, when the service omits it.`,
    extensions: semanticNonNull(),
  }) as const;

/**
 * Changes a schema so that marked fields whose value is a leaf are never null without an error, whatever their source says.
 * Returns the schema.
 */
export const withErrorsOfNulls = (schema: GraphQLSchema): GraphQLSchema => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!semanticNonNullLevels(field).includes(0) || !isLeafType(field.type)) continue;
      const { resolve = defaultFieldResolver } = field;
      const orError = (value: unknown): unknown => {
        if (value !== null && value !== undefined) return value;
        throw clientError(
          'UPSTREAM_INVALID_RESPONSE',
          `Expected ${field.name} of ${type.name} from the service, got none.`,
        );
      };
      field.resolve = (...given) => {
        const value = resolve(...given);
        return value instanceof Promise ? value.then(orError) : orError(value);
      };
    }
  }
  return schema;
};

/** Returns the levels of a field that are null only with an error. */
export const semanticNonNullLevels = ({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'extensions'>): readonly Level[] =>
  (extensions.semanticNonNull as readonly Level[] | undefined) ?? [];
