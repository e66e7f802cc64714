/**
 * What a selection of one record writes, in order. Equal response keys are merged as GraphQL merges them. It names the
 * properties of a RecordTable's values, so that a list can be written as JSON by whatever holds its items.
 */
export type Plan = { readonly typeName: string; readonly fields: readonly PlanField[] };

export type PlanField =
  | { readonly kind: 'typename'; readonly key: string }
  | {
      readonly kind: 'property';
      readonly key: string;
      readonly property: string;
      /** What is written of a nested record, or of each record of a nested list; null for any other value. */
      readonly plan: Plan | null;
    }
  | {
      readonly kind: 'derived';
      readonly key: string;
      /** The schema coordinate of a field that is a function of its record: `Transaction.id`. */
      readonly name: string;
    };

/** What a list of items writes: of each item its node, or an edge with cursor and node. */
export type ListPlan =
  | { readonly kind: 'nodes'; readonly node: Plan }
  | { readonly kind: 'edges'; readonly typeName: string; readonly fields: readonly EdgeField[] };

export type EdgeField =
  | { readonly kind: 'typename'; readonly key: string }
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'node'; readonly key: string; readonly plan: Plan };
