import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { DocumentPlans } from '../../../src/graph/plan/planned-schema.ts';
import { plannedSchema } from '../../../src/schema.ts';
import type { ListPlan } from '../../../src/upstream/parse/record.ts';

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
  ['a streamed list', `{ wallet(address: "0x0") { transactions { nodes @stream { id } } } }`, true],
  ['a deferred list', `{ wallet(address: "0x0") { ... @defer { transactions { nodes { id } } } } }`, true],
  ['fields of items that are deferred', list('hash ... @defer { id }'), false],
  [
    'fields of items that are deferred in a fragment',
    `${list('...F')} fragment F on Transaction { ... @defer { id } }`,
    false,
  ],
  ['streamed lists of items', list('logs @stream { topics }'), false],
])('%s: %s', (_what, document, isPlanned) => {
  expect(plannedSchema.canExecute(parse(document))).toBe(isPlanned);
});

test.each([
  ['one list', `{ wallet(address: "0x0") { ... @defer { transactions { nodes { id hash } } } } }`, true],
  [
    'two lists',
    `{ wallet(address: "0x0") { transactions { nodes { id } ... @defer { edges { node { hash } } } } } }`,
    true,
  ],
  [
    'two uses of a list',
    `{ wallet(address: "0x0") { transactions { nodes { id } ... @defer { nodes { hash } } } } }`,
    false,
  ],
  [
    'two uses in fragments of an interface',
    `{ node(id: "0x0") { ...A ...B @defer } }
     fragment A on Wallet { transactions { nodes { id } } }
     fragment B on Wallet { transactions { nodes { hash } } }`,
    false,
  ],
])(
  'what is deferred is written by plans if the executor merges uses of lists: %s',
  (_what, text, isPlanned) => {
    const document = parse(text);
    expect(plannedSchema.canExecute(document)).toBe(true);
    expect(plannedSchema.canExecute(document, true)).toBe(isPlanned);
  },
);

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
