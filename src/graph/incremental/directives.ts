import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  GraphQLDeferDirective,
  type GraphQLDirective,
  type GraphQLResolveInfo,
  GraphQLStreamDirective,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { rememberEach } from '../../lib/remember-each.ts';

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
