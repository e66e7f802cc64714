import type { FieldNode } from 'graphql';

/** Whether a field of this name is selected anywhere below, outside of fragments. */
export const selects = (nodes: readonly FieldNode[], name: string): boolean =>
  nodes.some(({ selectionSet }) => {
    const fields = selectionSet?.selections.filter((selection) => selection.kind === 'Field') ?? [];
    return fields.some((field) => field.name.value === name) || selects(fields, name);
  });
