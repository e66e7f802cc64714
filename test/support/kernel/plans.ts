import { encodeGlobalId } from '../../../src/graph/global-id.ts';
import type { EdgeField, ListPlan, Plan, PlanField } from '../../../src/upstream/parse/plan.ts';
import type { RecordTable } from '../../../src/upstream/parse/record.ts';
import type { Random } from './random.ts';

/** Random plans of a table, and what a plan selects of a plain value: what the executor would answer. */

type Fields = Readonly<Record<string, unknown>>;
type Derive = (record: Fields) => unknown;

export const CHAIN_IDS: ReadonlyMap<string, number> = new Map([
  ['ethereum', 1],
  ['base', 8453],
  ['é', 7],
  ['a"b', 8],
]);

const FEATURES = new Set([
  ...['TRADE_VOLUME', 'UNIQUE_BUYERS', 'UNIQUE_SELLERS', 'EXTERNALLY_FLAGGED'],
  ...['IPFS_URI_PRESENT', 'SUSPICIOUS_WORDS', 'URL_SHORTENER_IN_URI'],
]);

/** By schema coordinate, as the schemas of the features say. */
const DERIVED: Readonly<Record<string, Derive>> = {
  'Transaction.id': ({ address, chain, hash }) =>
    encodeGlobalId('Transaction', `${address}:${chain}:${hash}`),
  'Transaction.chainId': ({ chain, chainId }) => chainId ?? CHAIN_IDS.get(String(chain)) ?? null,
  'Collectible.id': ({ owner, chainId, contractAddress, tokenId }) =>
    encodeGlobalId('Collectible', `${owner}:${chainId}:${contractAddress}:${tokenId}`),
  'SpamExplanation.feature': ({ featureName }) => {
    const name = String(featureName).toUpperCase();
    return FEATURES.has(name) ? name : null;
  },
};

/** The properties of a value that its table does not have. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  Transaction: ['address', 'direction'],
  Collectible: ['owner', 'tokenStandard'],
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
  for (const name of Object.keys(DERIVED))
    if (name.startsWith(`${typeName}.`))
      fields.push({ kind: 'derived', key: `d_${name.split('.')[1]}`, name });
  const chosen = every ? fields : fields.filter(() => random.once(2));
  return { typeName, fields: random.once(3) ? chosen.toSorted(() => random.below(3) - 1) : chosen };
};

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

/** Returns the JSON of one item by a plan. */
export const writeItem = (plan: ListPlan, value: object, index: number): string => {
  if (plan.kind === 'nodes') return JSON.stringify(project(plan.node, value));
  return JSON.stringify(
    Object.fromEntries(
      plan.fields.map((field) => {
        if (field.kind === 'typename') return [field.key, plan.typeName];
        return [field.key, field.kind === 'cursor' ? cursorAt(index) : project(field.plan, value)];
      }),
    ),
  );
};

const project = ({ typeName, fields }: Plan, value: object): object =>
  Object.fromEntries(fields.map((field) => [field.key, projectField(field, typeName, value as Fields)]));

const projectField = (field: PlanField, typeName: string, value: Fields): unknown => {
  if (field.kind === 'typename') return typeName;
  if (field.kind === 'derived') return DERIVED[field.name]?.(value) ?? null;
  const { plan } = field;
  const inner = value[field.property] ?? null;
  if (plan === null || inner === null) return inner;
  return Array.isArray(inner) ? inner.map((each) => project(plan, each)) : project(plan, inner as object);
};
