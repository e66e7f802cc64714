import {
  type ConstValueNode,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromASTUntyped,
} from 'graphql';
import type { JsonSchema } from '../../graph/scalars.ts';

/** The description of each variable that its operation does not describe. */
type Descriptions = ReadonlyMap<string, string>;

/** The JSON schema of an object. */
export type ObjectSchema = JsonSchema & { readonly type: 'object' };

/**
 * Returns the JSON schema of an operation's variables, as the arguments of a tool. It describes what to send: GraphQL also
 * accepts null for what is nullable, and one value for a list of one. The gateway checks arguments by their GraphQL types.
 */
export const inputSchemaOf = (
  operation: OperationDefinitionNode,
  descriptions: Descriptions,
  schema: GraphQLSchema,
): ObjectSchema => {
  const variables = operation.variableDefinitions ?? [];
  const nameOf = ({ variable }: VariableDefinitionNode): string => variable.name.value;
  return objectSchema(
    variables.map((variable) => {
      const name = nameOf(variable);
      const own = variable.description?.value ?? descriptions.get(name);
      return [name, variableSchema(variable, own, schema)];
    }),
    variables.filter((variable) => isRequired(variable)).map(nameOf),
  );
};

const objectSchema = (
  properties: readonly (readonly [name: string, schema: JsonSchema])[],
  required: readonly string[],
): ObjectSchema => ({
  type: 'object',
  properties: Object.fromEntries(properties),
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});

const isRequired = ({ type, defaultValue }: VariableDefinitionNode): boolean =>
  type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined;

const variableSchema = (
  { type, defaultValue }: VariableDefinitionNode,
  description: string | undefined,
  schema: GraphQLSchema,
): JsonSchema => {
  const inputType = typeFromAST(schema, type) as GraphQLInputType | undefined;
  if (inputType === undefined) throw new TypeError('Expected a valid document, got one of an unknown type.');
  const values = schemaOf(inputType, []);
  return {
    ...described(values, description),
    ...(defaultValue && { default: jsonOf(defaultValue, values) }),
  };
};

/** Returns the schema of a type's values. `outer` are the input objects that it is within. */
const schemaOf = (type: GraphQLInputType, outer: readonly GraphQLInputObjectType[]): JsonSchema => {
  if (isNonNullType(type)) return schemaOf(type.ofType, outer);
  if (isListType(type)) return { type: 'array', items: schemaOf(getNullableType(type.ofType), outer) };
  if (isInputObjectType(type)) return inputObjectSchema(type, outer);
  return isEnumType(type) ? enumSchema(type) : scalarSchema(type);
};

/** An input object within one of its own type is not described any further. */
const inputObjectSchema = (
  type: GraphQLInputObjectType,
  outer: readonly GraphQLInputObjectType[],
): JsonSchema => {
  if (outer.includes(type)) return described({ type: 'object' }, type.description);
  const fields = Object.values(type.getFields());
  const object = objectSchema(
    fields.map((field) => [field.name, described(schemaOf(field.type, [...outer, type]), field.description)]),
    fields.filter(isRequiredInputField).map(({ name }) => name),
  );
  return described(
    type.isOneOf ? { ...object, minProperties: 1, maxProperties: 1 } : object,
    type.description,
  );
};

const enumSchema = (type: GraphQLEnumType): JsonSchema => {
  const values = type.getValues();
  const lines = values.map(({ name, description }) => (description ? `${name}: ${description}` : name));
  return described(
    { type: 'string', enum: values.map(({ name }) => name) },
    [type.description, ...lines].filter(Boolean).join('\n'),
  );
};

const SPECIFIED: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  Float: { type: 'number' },
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  ID: { type: 'string' },
};

const scalarSchema = ({ name, description, extensions }: GraphQLScalarType): JsonSchema =>
  SPECIFIED[name] ?? described(extensions.jsonSchema as JsonSchema, description);

/** Puts the description of a value before that of its type. */
const described = (schema: JsonSchema, description: string | null | undefined): JsonSchema => {
  const text = [description, schema.description].filter(Boolean).join(' ');
  return text === '' ? schema : { ...schema, description: text };
};

/**
 * Returns the JSON of a default, as its schema has it: a number may stand for a string of its digits, a value for a list of one.
 */
const jsonOf = (node: ConstValueNode, schema: JsonSchema): unknown => {
  const { type, items, properties = {} } = schema as Shape;
  if (type === 'array' && items && node.kind !== Kind.NULL)
    return (node.kind === Kind.LIST ? node.values : [node]).map((item) => jsonOf(item, items));
  if (node.kind === Kind.OBJECT)
    return Object.fromEntries(
      node.fields.map(({ name, value }) => [name.value, jsonOf(value, properties[name.value] ?? {})]),
    );
  const isNumber = node.kind === Kind.INT || node.kind === Kind.FLOAT;
  return isNumber && type === 'string' ? node.value : valueFromASTUntyped(node);
};

type Shape = {
  readonly type?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
};
