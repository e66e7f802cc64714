import type { GraphQLObjectType } from 'graphql';
import { type Derive, deriveOf } from '../../../src/graph/plan/derived-field.ts';
import { createProjection } from '../../../src/graph/plan/list-writer.ts';
import { createChains } from '../../../src/lookups/chains.ts';
import { schema } from '../../../src/schema.ts';
import type {
  EdgeField,
  ListPlan,
  Plan,
  PlanField,
  RecordTable,
} from '../../../src/upstream/parse/record.ts';
import type { Random } from './random.ts';

/** Random plans of a table, and what the object writer makes of them. */

const chains = createChains(
  ['é', 'a"b'].map((name, index) => ({ name, chainId: 7_000_000 + index, tags: [] })),
);

export const CHAIN_IDS: ReadonlyMap<string, number> = new Map(
  chains.all.map(({ name, chainId }) => [name, chainId]),
);

/** The schema coordinates of all fields that are functions of their record. */
const DERIVED = ['Transaction.id', 'Transaction.chainId', 'Collectible.id', 'SpamExplanation.feature'];

const findDerive = (coordinate: string): Derive => {
  const [type = '', field = ''] = coordinate.split('.');
  const found = (schema.getType(type) as GraphQLObjectType | undefined)?.getFields()[field];
  const derive = found && deriveOf(found);
  if (!derive) throw new Error(`Expected ${coordinate} to be a derived field.`);
  return derive;
};

/** The properties of a value that its table does not have. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  Transaction: ['address', 'direction'],
  Collectible: ['tokenStandard'],
};

const TYPE_NAMES: Readonly<Record<string, string>> = {
  transaction: 'Transaction',
  collectible: 'Collectible',
  explanation: 'SpamExplanation',
};

const recordPlan = (table: RecordTable, random: Random, every: boolean): Plan => {
  const typeName = TYPE_NAMES[table.name] ?? `A_${table.name}`;
  const fields: PlanField[] = [{ kind: 'typename', key: '__typename' }];
  for (const [property, field] of Object.entries(table.fields)) {
    const inner = 'record' in field ? field.record : 'records' in field ? field.records : null;
    const plan = inner === null ? null : recordPlan(inner, random, every);
    fields.push({ kind: 'property', key: `p_${property}`, property, plan });
    if (random.once(6)) fields.push({ kind: 'property', key: `again_${property}`, property, plan });
  }
  for (const property of ADDED[typeName] ?? [])
    fields.push({ kind: 'property', key: property, property, plan: null });
  for (const name of DERIVED)
    if (name.startsWith(`${typeName}.`))
      fields.push({ kind: 'derived', key: `d_${name.split('.')[1]}`, name });
  const chosen = every ? fields : fields.filter(() => random.once(2));
  return { typeName, fields: random.once(3) ? chosen.toSorted(() => random.below(3) - 1) : chosen };
};

/** Returns a plan of all fields. */
export const wholePlan = (table: RecordTable, random: Random): ListPlan => ({
  kind: 'nodes',
  node: recordPlan(table, random, true),
});

/** Returns a plan of many fields, or of some. */
export const randomPlan = (table: RecordTable, random: Random): ListPlan => {
  const node = recordPlan(table, random, random.once(3));
  if (random.once(2)) return { kind: 'nodes', node };
  const fields: EdgeField[] = [
    { kind: 'cursor', key: 'cursor' },
    { kind: 'node', key: 'node', plan: node },
    { kind: 'typename', key: 't' },
    { kind: 'node', key: 'other', plan: recordPlan(table, random, false) },
  ];
  return { kind: 'edges', typeName: 'Edge', fields: fields.filter(() => !random.once(3)) };
};

export const cursorAt = (index: number): string => `cursor-${index}_${'x'.repeat(index)}`;

/** Returns the function that writes one item as the object writer does. */
export const createItemWriter = (plan: ListPlan): ((node: object, index: number) => string) => {
  const project = createProjection(plan, findDerive);
  return (node, index) => JSON.stringify(project({ node, cursor: cursorAt(index) }, { chains }));
};
