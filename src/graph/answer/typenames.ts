import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import { isIncluded, type VariableValues } from '../selection.ts';
import type { Weight } from './weight.ts';

/** Of `"":"",` and a type's name. */
const BYTES_BESIDE_ITS_NAME = 22;

const NONE: Weight = { bytes: 0, values: 0 };

/** What was found before, for each operation and its fields. */
const known = new WeakMap<VariableValues, Map<FieldNode, Weight>>();

/**
 * What `__typename` adds to each object of the field that is being resolved. The executor calls no resolver for it, so
 * it is counted here. A selection for some types only counts for all.
 */
export const typenamesBelow = (info: GraphQLResolveInfo): Weight => {
  const [first] = info.fieldNodes;
  if (first === undefined) return NONE;
  let ofOperation = known.get(info.variableValues);
  if (ofOperation === undefined) {
    ofOperation = new Map();
    known.set(info.variableValues, ofOperation);
  }
  let weight = ofOperation.get(first);
  if (weight === undefined) {
    weight = find(info);
    ofOperation.set(first, weight);
  }
  return weight;
};

const find = ({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo): Weight => {
  const names = new Set<string>();
  const visited = new Set<string>();
  const spread = (name: string): void => {
    if (visited.has(name)) return;
    visited.add(name);
    look(fragments[name]?.selectionSet);
  };
  const look = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (!isIncluded(selection, variableValues)) continue;
      if (selection.kind === Kind.INLINE_FRAGMENT) look(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) spread(selection.name.value);
      else if (selection.name.value === '__typename') names.add(selection.alias?.value ?? '__typename');
    }
  };
  for (const { selectionSet } of fieldNodes) look(selectionSet);
  let bytes = 0;
  for (const name of names) bytes += name.length + BYTES_BESIDE_ITS_NAME;
  return { bytes, values: names.size };
};
