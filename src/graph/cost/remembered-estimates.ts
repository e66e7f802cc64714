import { getOperationAST, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { textOfSet } from '../../lib/text-of-set.ts';
import type { Scope } from '../../scopes.ts';
import type { Operation } from './operation-info.ts';
import { createVariablesKey } from './variables-key.ts';

/** An estimate, and whether it is still the one that would be made. */
type Estimated<Value> = { readonly value: Value; isCurrent(): boolean };

type Scopes = ReadonlySet<Scope>;

/** What is known of an operation: a number of its own, and the keys of its variables. */
type Known = { readonly number: number; readonly keyOf: ReturnType<typeof createVariablesKey> };

const MAX_BYTES = 4 * 1024 * 1024;
/** The memory of an estimate beside its key and the texts in it. */
const ENTRY_BYTES = 512;

/** Remembers estimates of operations, by what they depend on of their variables. */
export const rememberEstimates = <Value extends object>(
  estimate: (operation: Operation, scopes: Scopes) => Estimated<Value>,
): ((operation: Operation, scopes: Scopes) => Value) => {
  const operations = new WeakMap<OperationDefinitionNode, Known>();
  const remembered = new LRUCache<string, Estimated<Value>>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ value }, key) => ENTRY_BYTES + 2 * (key.length + JSON.stringify(value).length),
  });
  let last = 0;

  const knownOf = ({ document }: Operation, node: OperationDefinitionNode): Known => {
    const known = operations.get(node);
    if (known) return known;
    last += 1;
    const added = { number: last, keyOf: createVariablesKey(document, node) };
    operations.set(node, added);
    return added;
  };

  return (operation, scopes) => {
    const node = getOperationAST(operation.document, operation.operationName);
    if (!node) return estimate(operation, scopes).value;
    const { number, keyOf } = knownOf(operation, node);
    const variables = keyOf(operation.variableValues ?? {});
    if (variables === null) return estimate(operation, scopes).value;
    const key = `${number} ${textOfSet(scopes)} ${variables}`;
    const known = remembered.get(key);
    if (known?.isCurrent()) return known.value;
    const made = estimate(operation, scopes);
    remembered.set(key, made);
    return made.value;
  };
};
