import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { plannedFields } from '../../../src/graph/plan/compile.ts';
import { derivedOf, exposedProperty, viewedBy } from '../../../src/graph/plan/plannable.ts';
import { createProjection } from '../../../src/graph/plan/projection.ts';
import { createChains } from '../../../src/lookups/chains/chains.ts';
import { KNOWN_CHAINS } from '../../../src/lookups/chains/known-chains.ts';
import { schema } from '../../../src/schema.ts';
import type { IndexedList } from '../../../src/upstream/kernel/compile-list.ts';
import type { ChainTable } from '../../../src/upstream/parse/derived.ts';
import type {
  EdgeField,
  ListPlan,
  Plan,
  PlanField,
  RecordTable,
  TableField,
} from '../../../src/upstream/parse/record.ts';
import type { Random } from './random.ts';

/** Random plans of a table, and what the object writer makes of them. */

const chains = createChains(
  KNOWN_CHAINS,
  ['é', 'a"b'].map((name, index) => ({ name, chainId: 7_000_000 + index, tags: [] })),
);

/** What the kernel knows of chains. */
export const CHAINS: ChainTable = chains;

/** The type of a list's items; null for a list that the schema does not have. */
const itemTypeOf = (list: IndexedList): GraphQLObjectType | null => {
  for (const { kind, item, list: planned } of plannedFields(schema).values())
    if (kind === 'nodes' && planned === list) return item;
  return null;
};

/** The type of the records in a property. */
const typeIn = (type: GraphQLObjectType | null, property: string): GraphQLObjectType | null => {
  const fields = Object.values(type?.getFields() ?? {});
  const field = fields.find((each) => exposedProperty(each) === property);
  const named = field && getNamedType(field.type);
  return isObjectType(named) ? named : null;
};

const recordPlan = (
  type: GraphQLObjectType | null,
  table: RecordTable,
  random: Random,
  every: boolean,
  more: readonly string[] = [],
): Plan => {
  const fields: PlanField[] = [{ kind: 'typename', key: '__typename' }];
  const own = Object.entries(table.fields).flatMap(([property, field]): [string, TableField][] =>
    'inline' in field ? Object.entries(field.inline) : [[property, field]],
  );
  for (const [property, field] of own) {
    const inner = 'record' in field ? field.record : 'records' in field ? field.records : null;
    const plan = inner && recordPlan(typeIn(type, property), inner, random, every);
    fields.push({ kind: 'property', key: `p_${property}`, property, plan });
    if (random.once(6)) fields.push({ kind: 'property', key: `again_${property}`, property, plan });
  }
  for (const property of more) fields.push({ kind: 'property', key: property, property, plan: null });
  fields.push(...madeFields(type));
  const chosen = every ? fields : fields.filter(() => random.once(2));
  return {
    typeName: type?.name ?? `A_${table.name}`,
    fields: random.once(3) ? chosen.toSorted(() => random.below(3) - 1) : chosen,
  };
};

/** The fields of an item that are made of it, and that the kernel writes. */
const madeFields = (type: GraphQLObjectType | null): PlanField[] =>
  Object.values(type?.getFields() ?? {}).flatMap((field): PlanField[] => {
    const derived = derivedOf(field);
    if (derived)
      return derived.entry.kind === 'value'
        ? []
        : [{ kind: 'derived', key: `d_${field.name}`, field: derived }];
    const view = viewedBy(field);
    const named = getNamedType(field.type);
    if (!view || !isObjectType(named)) return [];
    const exposed = Object.values(named.getFields()).flatMap((each): PlanField[] => {
      const property = exposedProperty(each);
      return property === undefined ? [] : [{ kind: 'property', key: each.name, property, plan: null }];
    });
    return [
      {
        kind: 'view',
        key: `v_${field.name}`,
        view,
        plan: { typeName: named.name, fields: [...exposed, ...madeFields(named)] },
      },
    ];
  });

const itemPlan = (list: IndexedList, random: Random, every: boolean): Plan =>
  recordPlan(itemTypeOf(list), list.table, random, every, [list.subject]);

/** Returns a plan of all fields. */
export const wholePlan = (list: IndexedList, random: Random): ListPlan => ({
  kind: 'nodes',
  node: itemPlan(list, random, true),
});

/** Returns a plan of many fields, or of some. */
export const randomPlan = (list: IndexedList, random: Random): ListPlan => {
  const node = itemPlan(list, random, random.once(3));
  if (random.once(2)) return { kind: 'nodes', node };
  const fields: EdgeField[] = [
    { kind: 'cursor', key: 'cursor' },
    { kind: 'node', key: 'node', plan: node },
    { kind: 'typename', key: 't' },
    { kind: 'node', key: 'other', plan: itemPlan(list, random, false) },
  ];
  return { kind: 'edges', typeName: 'Edge', fields: fields.filter(() => !random.once(3)) };
};

export const cursorAt = (index: number): string => `cursor-${index}_${'x'.repeat(index)}`;

/** Returns the function that writes one item as the object writer does. */
export const createItemWriter = (plan: ListPlan): ((node: object, index: number) => string) => {
  const project = createProjection(plan);
  return (node, index) => JSON.stringify(project({ node, cursor: cursorAt(index) }, { chains }));
};
