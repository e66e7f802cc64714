import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  GraphQLDeferDirective,
  type GraphQLDirective,
  type GraphQLResolveInfo,
  GraphQLStreamDirective,
  getOperationAST,
  type OperationDefinitionNode,
  separateOperations,
  visit,
} from 'graphql';
import { rememberEach } from '../../lib/remember-each.ts';
import type { Operation } from '../cost/operation-info.ts';

const DIRECTIVES = [GraphQLDeferDirective, GraphQLStreamDirective];

/** Returns the definition of `@defer` or `@stream`; undefined for any other directive. */
export const incrementalDirective = ({ name }: DirectiveNode): GraphQLDirective | undefined =>
  DIRECTIVES.find((directive) => directive.name === name.value);

/** Returns the uses of `@defer` and `@stream` in a document, or in a part of one. */
export const incrementalUses = rememberEach((node: ASTNode): readonly DirectiveNode[] => {
  const found: DirectiveNode[] = [];
  visit(node, { Directive: (directive) => void (incrementalDirective(directive) && found.push(directive)) });
  return found;
});

/** By their names, '' for one without. Each is a document of its own, with the fragments that it spreads. */
const operationsOf = rememberEach(separateOperations);

/** Returns the uses of `@defer` and `@stream` in the operation that is executed, and in the fragments that it spreads. */
export const incrementalUsesOf = ({
  document,
  operationName,
}: Pick<Operation, 'document' | 'operationName'>): readonly DirectiveNode[] => {
  const executed = operationsOf(document)[getOperationAST(document, operationName)?.name?.value ?? ''];
  return executed ? incrementalUses(executed) : [];
};

/** Returns the document without `@defer` and `@stream`: the same one for the same document. */
export const withoutParts = rememberEach(
  (document: DocumentNode): DocumentNode =>
    visit(document, { Directive: (directive) => (incrementalDirective(directive) ? null : undefined) }),
);

const operations = new WeakMap<OperationDefinitionNode, boolean>();

/** Whether the operation that is executed has `@defer` or `@stream`, in a fragment of its document at least. */
export const mayHaveParts = ({
  operation,
  fragments,
}: Pick<GraphQLResolveInfo, 'operation' | 'fragments'>): boolean => {
  const known = operations.get(operation);
  if (known !== undefined) return known;
  const found = [operation, ...Object.values(fragments)].some((node) => incrementalUses(node).length > 0);
  operations.set(operation, found);
  return found;
};
