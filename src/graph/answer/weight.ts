import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import { isIncluded, type VariableValues } from '../selection.ts';

/** What a part of an answer adds to its JSON text, in bytes, and how many values that part has. */
export type Weight = { readonly bytes: number; readonly values: number };

const NONE: Weight = { bytes: 0, values: 0 };

const QUOTES = 2;
/** The size of `null`, `true` and `false`, and of most numbers. */
const WORD = 5;
/** The size of `"":"",` and of a type's name. */
const TYPENAME_BYTES = 22;

/** Returns the bytes of a leaf as JSON. A string counts one byte a character, and nothing for its escapes. */
export const weightOfLeaf = (value: unknown): number =>
  typeof value === 'string' ? value.length + QUOTES : WORD;

/** Returns the weight of any JSON value; its leaves count as in `weightOfLeaf`. */
export const weightOfJson = (value: unknown): Weight => {
  const pending: unknown[] = [value];
  let bytes = 0;
  let values = 0;
  while (pending.length > 0) {
    const next = pending.pop();
    values += 1;
    bytes += 1;
    if (typeof next !== 'object' || next === null) bytes += weightOfLeaf(next);
    else if (Array.isArray(next)) for (const item of next) pending.push(item);
    else
      for (const [key, inner] of Object.entries(next)) {
        bytes += key.length + QUOTES;
        pending.push(inner);
      }
  }
  return { bytes, values };
};

/** The weights found by `weightOfTypenames` of fields whose selections no variable decides. */
const constantWeights = new WeakMap<FieldNode, Weight>();
/** Those of other fields, by operation. */
const weightsOfOperation = new WeakMap<VariableValues, Map<FieldNode, Weight>>();

/**
 * Returns what `__typename` adds to each object of the field that is being resolved. The executor calls no resolver for
 * `__typename`, so it is counted here. A selection on some types only counts for all types.
 */
export const weightOfTypenames = (info: GraphQLResolveInfo): Weight => {
  const { fieldNodes, variableValues } = info;
  const [first] = fieldNodes;
  if (first === undefined) return NONE;
  const isAlone = fieldNodes.length === 1;
  const known = (isAlone && constantWeights.get(first)) || weightsOfOperation.get(variableValues)?.get(first);
  if (known) return known;
  const { weight, isConstant } = countTypenames(info);
  if (isConstant && isAlone) constantWeights.set(first, weight);
  else {
    const ofOperation = weightsOfOperation.get(variableValues) ?? new Map<FieldNode, Weight>();
    weightsOfOperation.set(variableValues, ofOperation.set(first, weight));
  }
  return weight;
};

const countTypenames = ({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo) => {
  let isConstant = true;
  const names = new Set<string>();
  const visited = new Set<string>();
  const visitFragment = (name: string): void => {
    if (visited.has(name)) return;
    visited.add(name);
    visit(fragments[name]?.selectionSet);
  };
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.directives?.length) isConstant = false;
      if (!isIncluded(selection, variableValues)) continue;
      if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) visitFragment(selection.name.value);
      else if (selection.name.value === '__typename') names.add(selection.alias?.value ?? '__typename');
    }
  };
  for (const { selectionSet } of fieldNodes) visit(selectionSet);
  let bytes = 0;
  for (const name of names) bytes += name.length + TYPENAME_BYTES;
  return { weight: { bytes, values: names.size }, isConstant };
};
