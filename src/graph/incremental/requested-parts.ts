import {
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from 'graphql';
import { collectFields, type Operation, readOperation } from '../cost/operation-info.ts';
import { badUserInput } from '../errors.ts';
import { isStreamed } from '../selection.ts';
import { incrementalDirective, incrementalUsesOf, mayHaveParts } from './directives.ts';

/**
 * Whether an operation asks for later parts: the `if` of one `@defer` or `@stream` at least is true. Throws BAD_USER_INPUT
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
