import {
  type ASTVisitor,
  type DocumentNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  separateOperations,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { rememberEach } from '../lib/memo.ts';

/**
 * Returns the deprecated coordinates that an operation uses, each once: fields, arguments, input fields and values of enums,
 * also those in variables. The operation's document must be valid.
 */
export type DeprecatedUses = (
  document: DocumentNode,
  operationName: string | null | undefined,
  variableValues: Readonly<Record<string, unknown>> | null | undefined,
) => readonly string[];

/** What is known of an operation without its variables' values. */
type Uses = {
  readonly coordinates: readonly string[];
  /** The variables whose values may have deprecated fields or values of enums. */
  readonly variables: readonly (readonly [name: string, type: GraphQLInputType])[];
};

const NONE: readonly string[] = [];

/** Reads each document once. While nothing is deprecated, it reads none. */
export const createDeprecatedUses = (schema: GraphQLSchema): DeprecatedUses => {
  if (!hasDeprecated(schema)) return () => NONE;
  const usesOf = rememberEach(
    (document: DocumentNode) =>
      new Map(
        Object.entries(separateOperations(document)).map(([name, operation]) => [
          name,
          read(schema, operation),
        ]),
      ),
  );
  return (document, operationName, variableValues) => {
    const operations = usesOf(document);
    const uses = operationName ? operations.get(operationName) : operations.values().next().value;
    if (uses === undefined) return NONE;
    if (uses.variables.length === 0) return uses.coordinates;
    const found = new Set(uses.coordinates);
    for (const [name, type] of uses.variables) findInValue(type, variableValues?.[name], found);
    return [...found];
  };
};

const hasDeprecated = (schema: GraphQLSchema): boolean =>
  Object.values(schema.getTypeMap()).some((type) => {
    if (isEnumType(type)) return type.getValues().some(isDeprecated);
    if (isInputObjectType(type)) return Object.values(type.getFields()).some(isDeprecated);
    if (!isObjectType(type) && !isInterfaceType(type)) return false;
    return Object.values(type.getFields()).some(
      (field) => isDeprecated(field) || field.args.some(isDeprecated),
    );
  });

const isDeprecated = ({
  deprecationReason,
}: {
  readonly deprecationReason?: string | null | undefined;
}): boolean => deprecationReason != null;

const read = (schema: GraphQLSchema, document: DocumentNode): Uses => {
  const coordinates = new Set<string>();
  const variables: [string, GraphQLInputType][] = [];
  const info = new TypeInfo(schema);
  const visitor: ASTVisitor = {
    VariableDefinition({ variable, type: node }) {
      const type = typeFromAST(schema, node) as GraphQLInputType | undefined;
      if (type && !isScalarOnly(type)) variables.push([variable.name.value, type]);
    },
    Field() {
      const [field, parent] = [info.getFieldDef(), info.getParentType()];
      if (field && parent && isDeprecated(field)) coordinates.add(`${parent.name}.${field.name}`);
    },
    Argument() {
      const [argument, field, parent] = [info.getArgument(), info.getFieldDef(), info.getParentType()];
      if (argument && field && parent && isDeprecated(argument))
        coordinates.add(`${parent.name}.${field.name}(${argument.name}:)`);
    },
    ObjectField({ name }) {
      const parent = getNamedType(info.getParentInputType());
      const field = isInputObjectType(parent) ? parent.getFields()[name.value] : undefined;
      if (field && isDeprecated(field)) coordinates.add(`${parent?.name}.${field.name}`);
    },
    EnumValue({ value }) {
      const type = getNamedType(info.getInputType());
      if (isEnumType(type)) findInValue(type, value, coordinates);
    },
  };
  visit(document, visitWithTypeInfo(info, visitor));
  return { coordinates: [...coordinates], variables };
};

const isScalarOnly = (type: GraphQLInputType): boolean => {
  const named = getNamedType(type);
  return !isEnumType(named) && !isInputObjectType(named);
};

/** Adds what is deprecated in a value of JSON, as far as it is one of the type. */
const findInValue = (type: GraphQLInputType, value: unknown, found: Set<string>): void => {
  if (isNonNullType(type)) findInValue(type.ofType, value, found);
  else if (isListType(type))
    for (const item of Array.isArray(value) ? value : [value]) findInValue(type.ofType, item, found);
  else if (isEnumType(type)) {
    const known = typeof value === 'string' ? type.getValue(value) : undefined;
    if (known && isDeprecated(known)) found.add(`${type.name}.${known.name}`);
  } else if (isInputObjectType(type) && typeof value === 'object' && value !== null)
    findInFields(type, value, found);
};

const findInFields = (type: GraphQLInputObjectType, value: object, found: Set<string>): void => {
  const fields = type.getFields();
  for (const [name, member] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) continue;
    if (isDeprecated(field)) found.add(`${type.name}.${name}`);
    findInValue(field.type, member, found);
  }
};
