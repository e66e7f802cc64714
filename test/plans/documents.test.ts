import {
  assertEnumType,
  assertObjectType,
  buildSchema,
  type GraphQLSchema,
  isObjectType,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { DocumentPlans } from '../../src/graph/plan/document-plans.ts';
import { createPlannedSchema } from '../../src/graph/plan/planned-schema.ts';
import { withPlannedLists } from '../../src/graph/plan/planned-types.ts';
import { plannedSchema } from '../../src/schema.ts';
import type { ListPlan } from '../../src/upstream/parse/plan.ts';

/** Plans write what they know in full. A document with anything else is left to the executor. */

const list = (selection: string) =>
  `query ($yes: Boolean!) { wallet(address: "0x0") { transactions { nodes { ${selection} } } } }`;

test.each([
  ['a list of nodes', list('hash'), true],
  ['a list in fragments', `${list('...F')} fragment F on Transaction { logs { topics } }`, true],
  ['directives with variables', list('hash @skip(if: $yes) id @include(if: $yes)'), true],
  ['edges', '{ wallet(address: "0x0") { collectibles { edges { cursor node { id } } } } }', true],
  ['no list', '{ wallet(address: "0x0") { address } }', false],
  ['a list of another kind', '{ webhooks { nodes { id } } }', false],
  ['introspection', `${list('hash')} query Q { __schema { types { name } } }`, false],
  ['introspection of a type', `${list('hash')} query Q { __type(name: "Wallet") { name } }`, false],
  ['another directive', list('hash @defer'), false],
  [
    'another directive on the list',
    `{ wallet(address: "0x0") { transactions { nodes @stream { id } } } }`,
    false,
  ],
])('%s: %s', (_what, document, isPlanned) => {
  expect(plannedSchema.canExecute(parse(document))).toBe(isPlanned);
});

/** A schema with one planned list, of things with fields of all kinds. */
const thingsSchema = (): GraphQLSchema => {
  const schema = buildSchema(`
    enum Renamed { A }
    interface Named { name: String }
    type Part implements Named { name: String secret: String }
    type Thing { name: String size(unit: String): Int note: String kind: Renamed part: Part named: Named closed: String }
    type ThingEdge { cursor: String node: Thing weight: Int }
    type ThingConnection { nodes: [Thing] edges: [ThingEdge] count: Int }
    type Query { things: ThingConnection }
  `);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    if (type.name === 'ThingConnection') type.extensions = withPlannedLists();
    for (const field of Object.values(type.getFields()))
      if (field.name !== 'note') field.extensions = { pothosExposedField: field.name };
  }
  const { closed } = assertObjectType(schema.getType('Thing')).getFields();
  if (closed) closed.extensions = { ...closed.extensions, pothosOptions: { authScopes: { wallets: true } } };
  for (const value of assertEnumType(schema.getType('Renamed')).getValues()) value.value = 'another';
  return schema;
};

describe('a field of an item', () => {
  const planned = createPlannedSchema(thingsSchema(), thingsSchema());
  test.each([
    ['that is a property is written', 'nodes { name part { name } }', true],
    ['that has arguments', 'nodes { name size }', false],
    ['with a resolver of its own', 'nodes { note }', false],
    ['whose enum has other values inside', 'nodes { kind }', false],
    ['of an abstract type', 'nodes { named { name } }', false],
    ['that needs a scope', 'nodes { closed }', false],
    ['that is no cursor and no node of an edge', 'edges { weight node { name } }', false],
  ])('%s', (_what, selection, isPlanned) => {
    const direct = parse(`{ things { ${selection} } }`);
    const inFragment = parse(`{ things { ...F } } fragment F on ThingConnection { ${selection} }`);
    expect(planned.canExecute(direct)).toBe(isPlanned);
    expect(planned.canExecute(inFragment)).toBe(isPlanned);
  });
});

describe('the plans of a document', () => {
  const names = Array.from({ length: 12 }, (_, index) => `v${index}`);
  const document = parse(list('hash'));
  const plan: ListPlan = {
    kind: 'nodes',
    node: {
      typeName: 'Transaction',
      fields: Array.from({ length: 25 }, (_, index) => ({ kind: 'typename', key: `k${index}` })),
    },
  };
  const variablesOf = (number: number) => ({
    sources: {},
    coerced: Object.fromEntries(names.map((name, bit) => [name, ((number >> bit) & 1) === 1])),
  });

  test('are compiled once for each combination of conditions, and the oldest are dropped', () => {
    const plans = new DocumentPlans<number>(plannedSchema.schema, document, names);
    let compiled = 0;
    const find = (number: number) =>
      plans.find(
        [],
        variablesOf(number),
        () => plan,
        () => {
          compiled += 1;
          return compiled;
        },
      );
    for (let number = 0; number < 4000; number += 1) find(number);
    expect(compiled).toBe(4000);
    // The last forty have 1000 fields together.
    for (let number = 3960; number < 4000; number += 1) expect(find(number)).toBe(number + 1);
    expect(compiled).toBe(4000);
    find(3959);
    expect(compiled).toBe(4001);
  });
});
