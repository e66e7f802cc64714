import {
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import type { Operation } from './operation-info.ts';

/** Returns a text that is equal for values of an operation's variables whose estimates are equal. */
type VariablesKey = (values: NonNullable<Operation['variableValues']>) => string | null;

/** As a caller may write one. Another spelling of an address is rare, and has no key. */
const ADDRESS = /^0x[0-9a-f]{40}$/;
/** A longer key is not worth its memory. */
const MAX_CHARACTERS = 512;

/**
 * Returns the key of variables for an operation. It is null for values that are rare or too long.
 *
 * Of addresses an estimate depends on which ones are equal, and on nothing else: one that an operation names twice counts
 * once. So the key has a number for each address, which makes it the same for all of them. An operation that names
 * objects by other means, as literals or by ids, has the addresses themselves in its keys.
 */
export const createVariablesKey = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
): VariablesKey => {
  const variables = operation.variableDefinitions ?? [];
  const numbers = variables.every(({ type }) => nameOf(type) !== 'ID') && !hasStrings(document);
  const readers = variables.map((variable) => {
    const isAddress = numbers && nameOf(variable.type) === 'Address';
    return { name: variable.variable.name.value, isAddress, isList: isListOfType(variable) };
  });
  return (values) => {
    const addresses: unknown[] = [];
    let key = '';
    for (const { name, isAddress, isList } of readers) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      const part = isAddress ? numberAddresses(value, isList, addresses) : JSON.stringify(value);
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

const isListOfType = ({ type }: VariableDefinitionNode): boolean =>
  (type.kind === Kind.NON_NULL_TYPE ? type.type : type).kind === Kind.LIST_TYPE;

const nameOf = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);

/** Returns the places of addresses among those of the operation, to which it adds new ones; null for other values. */
const numberAddresses = (value: unknown, isList: boolean, addresses: unknown[]): string | null => {
  if (value === null || value === undefined) return String(value);
  const given = isList ? value : [value];
  if (!Array.isArray(given) || given.length > MAX_CHARACTERS / 4) return null;
  let text = '';
  for (const address of given) {
    if (typeof address !== 'string' || !ADDRESS.test(address)) return null;
    const known = addresses.indexOf(address);
    text += `${known === -1 ? addresses.push(address) - 1 : known} `;
  }
  return text;
};
