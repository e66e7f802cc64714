import {
  type DocumentNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { textOfSet } from '../../lib/memo.ts';
import type { Scope } from '../../scopes.ts';
import type { ChainPricing } from '../../upstream/client/request.ts';
import type { Operation } from './operation-info.ts';

/** The prices of upstream requests. */
export type Prices = Pick<ChainPricing, 'priceOf' | 'pageWith'>;

/** The prices that an estimate has read: they may change later. */
class ReadPrices implements Prices {
  readonly #pricing: Prices;
  readonly #read: { readonly again: () => number | null; readonly value: number | null }[] = [];

  constructor(pricing: Prices) {
    this.#pricing = pricing;
  }

  priceOf(...asked: Parameters<Prices['priceOf']>): number {
    return this.#noted(() => this.#pricing.priceOf(...asked));
  }

  pageWith(detail: string): number | null {
    return this.#noted(() => this.#pricing.pageWith(detail));
  }

  #noted<Value extends number | null>(again: () => Value): Value {
    const value = again();
    this.#read.push({ again, value });
    return value;
  }

  readonly areCurrent = (): boolean => this.#read.every(({ again, value }) => again() === value);
}

/** An estimate, and whether it is still the one that would be made. */
type Estimated<Value> = { readonly value: Value; isCurrent(): boolean };

type Scopes = ReadonlySet<Scope>;

/** What is known of an operation: a number of its own, and the keys of its variables. */
type Known = { readonly number: number; readonly keyOf: VariablesKey };

const MAX_BYTES = 4 * 1024 * 1024;
/** The memory of an estimate beside its key and the texts in it. */
const ENTRY_BYTES = 512;

/** Remembers estimates of operations, by what they depend on of their variables. */
export const rememberEstimates = <Value extends object>(
  pricing: ChainPricing,
  make: (operation: Operation, scopes: Scopes, prices: Prices) => Value,
): ((operation: Operation, scopes: Scopes) => Value) => {
  const estimate = (operation: Operation, scopes: Scopes): Estimated<Value> => {
    const prices = new ReadPrices(pricing);
    return { value: make(operation, scopes, prices), isCurrent: prices.areCurrent };
  };
  const operations = new WeakMap<OperationDefinitionNode, Known>();
  const remembered = new LRUCache<string, Estimated<Value>>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ value }, key) => ENTRY_BYTES + 2 * (key.length + JSON.stringify(value).length),
  });
  let lastNumber = 0;

  const knownOf = ({ document }: Operation, node: OperationDefinitionNode): Known => {
    const known = operations.get(node);
    if (known) return known;
    lastNumber += 1;
    const added = { number: lastNumber, keyOf: createVariablesKey(document, node) };
    operations.set(node, added);
    return added;
  };

  return (operation, scopes) => {
    const node = getOperationAST(operation.document, operation.operationName);
    if (!node) return estimate(operation, scopes).value;
    const known = knownOf(operation, node);
    const variables = known.keyOf(operation.variableValues ?? {});
    if (variables === null) return estimate(operation, scopes).value;
    const key = `${known.number} ${textOfSet(scopes)} ${variables}`;
    const found = remembered.get(key);
    const estimated = found?.isCurrent() ? found : estimate(operation, scopes);
    if (estimated !== found) remembered.set(key, estimated);
    return estimated.value;
  };
};

/** Returns a text that is equal for values of an operation's variables whose estimates are equal. */
type VariablesKey = (values: NonNullable<Operation['variableValues']>) => string | null;

/** As a caller may write one. Another spelling of an address is rare, and has no key. */
const ADDRESS = /^0x[0-9a-f]{40}$/;
/** A longer key is not worth its memory. */
const MAX_CHARACTERS = 512;

/** The part of a key that one variable's value has; null when the values have no key. */
type ReadPart = (value: unknown, named: Named) => string | null;

/** The addresses and cursors of one operation, each in the order of its first use. */
type Named = { readonly addresses: unknown[]; readonly cursors: unknown[] };

/**
 * Returns the key of variables for an operation. It is null for values that are rare or too long.
 *
 * Of addresses and cursors an estimate depends on which ones are equal, and on nothing else: a list that an operation names
 * twice counts once. So the key has a number for each, which makes it the same for all of them. An operation that names
 * objects by other means, as literals or by ids, has the addresses themselves in its keys.
 */
const createVariablesKey = (document: DocumentNode, operation: OperationDefinitionNode): VariablesKey => {
  const variables = operation.variableDefinitions ?? [];
  const numbers = variables.every(({ type }) => nameOf(type) !== 'ID') && !hasStrings(document);
  const otherUses = numbers ? usesBesideCursors(document) : new Set<string>();
  const readerOf = (variable: VariableDefinitionNode): ReadPart => {
    const type = numbers ? nameOf(variable.type) : '';
    const isList = isListOfType(variable);
    if (type === 'Address')
      return (value, { addresses }) => numberEach(value, isList, addresses, (each) => ADDRESS.test(each));
    if (type === 'String' && !isList && !otherUses.has(variable.variable.name.value))
      return (value, { cursors }) => numberEach(value, false, cursors, () => true);
    return (value) => JSON.stringify(value);
  };
  const readers = variables.map((variable) => ({
    name: variable.variable.name.value,
    read: readerOf(variable),
  }));
  return (values) => {
    const named: Named = { addresses: [], cursors: [] };
    let key = '';
    for (const { name, read } of readers) {
      const part = read(Object.hasOwn(values, name) ? values[name] : undefined, named);
      if (part === null || key.length > MAX_CHARACTERS) return null;
      key += `${part},`;
    }
    return key.length > MAX_CHARACTERS ? null : key;
  };
};

const hasStrings = (document: DocumentNode): boolean => {
  let found = false;
  visit(document, {
    StringValue() {
      found = true;
    },
  });
  return found;
};

/** The names of the variables that the document uses elsewhere than as the cursor of a connection. */
const usesBesideCursors = (document: DocumentNode): ReadonlySet<string> => {
  const names = new Set<string>();
  visit(document, {
    VariableDefinition: () => false,
    Argument: ({ name, value }) =>
      (name.value === 'after' || name.value === 'before') && value.kind === Kind.VARIABLE ? false : undefined,
    Variable: ({ name }) => void names.add(name.value),
  });
  return names;
};

const isListOfType = ({ type }: VariableDefinitionNode): boolean =>
  (type.kind === Kind.NON_NULL_TYPE ? type.type : type).kind === Kind.LIST_TYPE;

const nameOf = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);

/** Returns the places of texts among those of the operation, to which it adds new ones; null for other values. */
const numberEach = (
  value: unknown,
  isList: boolean,
  known: unknown[],
  isOne: (text: string) => boolean,
): string | null => {
  if (value === null || value === undefined) return String(value);
  const given = isList ? value : [value];
  if (!Array.isArray(given) || given.length > MAX_CHARACTERS / 4) return null;
  let text = '';
  for (const each of given) {
    if (typeof each !== 'string' || !isOne(each)) return null;
    const place = known.indexOf(each);
    text += `${place === -1 ? known.push(each) - 1 : place} `;
  }
  return text;
};
