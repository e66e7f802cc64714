import {
  buildSchema,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { createEstimate } from '../../../src/graph/cost/estimate.ts';
import { billableTypes, costOf, withCost } from '../../../src/graph/cost/field-cost.ts';
import { schema } from '../../../src/schema.ts';
import { ALL_SCOPES } from '../../../src/scopes.ts';
import { createChainPricing } from '../../../src/upstream/client/request.ts';

/** A billed field without a declared cost would be free in the estimate: every field of the schema declares it. */

const fieldsOf = (of: GraphQLSchema) =>
  Object.values(of.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields()).map((field) => ({
            coordinate: `${type.name}.${field.name}`,
            parent: type.name,
            field,
          }))
        : [],
    );

test('each connection of a wallet declares its upstream requests, but the one that is read from the log', () => {
  const connections = fieldsOf(schema).filter(
    ({ parent, field }) => parent === 'Wallet' && getNamedType(field.type).name.endsWith('Connection'),
  );
  expect(connections.length).toBeGreaterThan(1);
  expect(
    connections.filter(({ field }) => !costOf(field)?.lookup).map(({ coordinate }) => coordinate),
  ).toEqual(['Wallet.deliveries']);
});

test('each list that leads to a billed field declares which objects it returns, or how many', () => {
  const costly = billableTypes(schema);
  // Its field declares the length of what a connection has, and of what a search has found.
  const isListed = (type: string) => type.endsWith('Connection') || type === 'TokenSearch';
  const lists = fieldsOf(schema).filter(({ parent, field }) => {
    const type = getNamedType(field.type);
    const isMany = isListType(getNullableType(field.type)) ? !isListed(parent) : isListed(type.name);
    return isMany && costly.has(type);
  });
  expect(lists.map(({ coordinate }) => coordinate)).toContain('Query.wallets');
  const silent = lists.filter(
    ({ field }) => !costOf(field)?.returns && !costOf(field)?.count && !costOf(field)?.most,
  );
  expect(silent.map(({ coordinate }) => coordinate)).toEqual([]);
});

describe('where the objects of a list are not known yet', () => {
  const estimate = (selection: string) => {
    const lists = buildSchema(`
      interface Owner { holdings: Int }
      type Person implements Owner { holdings: Int friends(first: Int!): [Owner!]! }
      type Company implements Owner { holdings: Int }
      type Query { people(first: Int!): [Person!]! }
    `);
    const many = withCost<{ first: number }>({ count: ({ first }) => first });
    const billed = withCost({ lookup: () => ({ list: [], computeUnits: 2 }) });
    for (const { coordinate, field } of fieldsOf(lists))
      field.extensions = coordinate.endsWith('.holdings') ? billed : many;
    return createEstimate(lists, createChainPricing(14))({ document: parse(selection) }, ALL_SCOPES)
      .computeUnits;
  };

  test('each of them counts', () => expect(estimate('{ people(first: 7) { holdings } }')).toBe(14));

  test('lists in lists multiply', () =>
    expect(estimate('{ people(first: 7) { friends(first: 10) { ... on Person { holdings } } } }')).toBe(140));

  test('lists with other arguments count each, a list under two aliases counts once', () =>
    expect(
      estimate(`{
        a: people(first: 7) { holdings }
        b: people(first: 7) { holdings }
        c: people(first: 3) { holdings }
      }`),
    ).toBe(20));

  test('an operation without billed fields costs nothing, however long its lists', () =>
    expect(estimate('{ people(first: 1000000) { __typename } }')).toBe(0));
});

describe('two resources that bill by chain', () => {
  const lists = buildSchema('type Query { collectibles(chains: String): Int  tokens(chains: String): Int }');
  for (const { field } of fieldsOf(lists))
    field.extensions = withCost<{ chains?: string }>({
      lookup: ({ chains = null }, pricing) => ({
        list: [chains],
        computeUnits: pricing.priceOf(field.name, chains),
      }),
    });
  const pricing = createChainPricing(14);
  const remembering = createEstimate(lists, pricing);
  const estimate = (query: string) => remembering({ document: parse(query) }, ALL_SCOPES).computeUnits;

  test('have prices of their own for the same filter, also in a remembered estimate', () => {
    const both = '{ collectibles tokens }';
    expect(estimate(both)).toBe(28);
    pricing.record('collectibles', null, 51);
    expect(estimate(both)).toBe(65);
    pricing.record('tokens', null, 3);
    expect(estimate(both)).toBe(54);
    pricing.record('tokens', 'mainnet', 5);
    const tagged = '{ collectibles(chains: "mainnet") tokens(chains: "mainnet") }';
    expect(estimate(tagged)).toBe(19);
    expect(estimate('{ collectibles(chains: "1,10") tokens(chains: "1,10") }')).toBe(4);
  });
});
