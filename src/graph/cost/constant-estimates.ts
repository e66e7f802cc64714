import { getOperationAST, type OperationDefinitionNode } from 'graphql';
import type { Scope } from '../../scopes.ts';
import type { Operation } from './operation-info.ts';

/** An estimate, and whether it is the same for the same operation and scopes at any time. */
type Estimated<Value> = { readonly value: Value; readonly isConstant: boolean };

type Scopes = ReadonlySet<Scope>;

/** Remembers the constant estimates of operations without variables, for as long as their documents are in memory. */
export const rememberConstants = <Value>(
  estimate: (operation: Operation, scopes: Scopes) => Estimated<Value>,
): ((operation: Operation, scopes: Scopes) => Value) => {
  const remembered = new WeakMap<OperationDefinitionNode, WeakMap<Scopes, Value>>();
  return (operation, scopes) => {
    const node = getOperationAST(operation.document, operation.operationName);
    if (!node || node.variableDefinitions?.length) return estimate(operation, scopes).value;
    const known = remembered.get(node)?.get(scopes);
    if (known !== undefined) return known;
    const { value, isConstant } = estimate(operation, scopes);
    if (!isConstant) return value;
    const ofNode = remembered.get(node) ?? new WeakMap<Scopes, Value>();
    remembered.set(node, ofNode.set(scopes, value));
    return value;
  };
};
