import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  GraphQLDeferDirective,
  type GraphQLDirective,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLStreamDirective,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  isObjectType,
  type OperationDefinitionNode,
  separateOperations,
  visit,
} from 'graphql';
import { rememberEach } from '../lib/memo.ts';
import { collectFields, isStreamed, type Operation, readOperation } from './cost/operation-info.ts';
import { badUserInput } from './errors.ts';

const DIRECTIVES = [GraphQLDeferDirective, GraphQLStreamDirective];

/** Returns the definition of `@defer` or `@stream`; undefined for any other directive. */
const incrementalDirective = ({ name }: DirectiveNode): GraphQLDirective | undefined =>
  DIRECTIVES.find((directive) => directive.name === name.value);

/** Returns the uses of `@defer` and `@stream` in a document, or in a part of one. */
export const incrementalUses = rememberEach((node: ASTNode): readonly DirectiveNode[] => {
  const found: DirectiveNode[] = [];
  visit(node, { Directive: (directive) => void (incrementalDirective(directive) && found.push(directive)) });
  return found;
});

/** By name, '' for an anonymous one. Each is a document of its own, with the fragments that it spreads. */
const operationsOf = rememberEach(separateOperations);

/** Returns the uses of `@defer` and `@stream` in the operation that is executed, and in the fragments that it spreads. */
const incrementalUsesOf = ({
  document,
  operationName,
}: Pick<Operation, 'document' | 'operationName'>): readonly DirectiveNode[] => {
  const executed = operationsOf(document)[getOperationAST(document, operationName)?.name?.value ?? ''];
  return executed ? incrementalUses(executed) : [];
};

/** Returns the document without `@defer` and `@stream`; always the same one for the same document. */
export const withoutParts = rememberEach(
  (document: DocumentNode): DocumentNode =>
    visit(document, { Directive: (directive) => (incrementalDirective(directive) ? null : undefined) }),
);

const operations = new WeakMap<OperationDefinitionNode, boolean>();

/** Whether the executed operation has `@defer` or `@stream`, possibly in a fragment of its document. */
const mayHaveParts = ({
  operation,
  fragments,
}: Pick<GraphQLResolveInfo, 'operation' | 'fragments'>): boolean => {
  const known = operations.get(operation);
  if (known !== undefined) return known;
  const found = [operation, ...Object.values(fragments)].some((node) => incrementalUses(node).length > 0);
  operations.set(operation, found);
  return found;
};

/**
 * Whether an operation asks for later parts: the `if` of at least one `@defer` or `@stream` is true. Throws BAD_USER_INPUT
 * for a negative `initialCount`.
 */
export const asksForParts = (schema: GraphQLSchema, operation: Operation): boolean => {
  // Invalid variables are left to the executor, which reports them.
  const info = readOperation(schema, operation, new Set())?.info;
  if (!info) return false;
  let isActive = false;
  for (const node of incrementalUsesOf(operation)) {
    const directive = incrementalDirective(node);
    if (!directive) continue;
    const { if: isOn, initialCount } = getArgumentValues(directive, node, info.variableValues);
    if (isOn !== true) continue;
    if (typeof initialCount === 'number' && initialCount < 0)
      throw badUserInput(`Expected @stream to have an initialCount of at least 0, got ${initialCount}.`);
    isActive = true;
  }
  return isActive;
};

/** Whether the operation streams a list of the object that is being resolved: the edges or the nodes of a connection. */
export const streamsLists = (info: GraphQLResolveInfo): boolean => {
  const type = getNamedType(info.returnType);
  if (!mayHaveParts(info) || !isObjectType(type)) return false;
  const { schema, variableValues, fieldNodes } = info;
  const fragments = new Map(Object.entries(info.fragments));
  const sets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  return collectFields({ schema, fragments, variableValues }, type, sets)
    .values()
    .some((nodes) => nodes.some((node) => isStreamed(node, variableValues)));
};
