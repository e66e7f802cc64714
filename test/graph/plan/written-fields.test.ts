import {
  assertEnumType,
  assertObjectType,
  type GraphQLSchema,
  isObjectType,
  lexicographicSortSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { withPlannedLists } from '../../../src/graph/plan/compile.ts';
import { derivedField } from '../../../src/graph/plan/plannable.ts';
import { lookups } from '../../../src/lookups/registry.ts';
import { schema as ownSchema } from '../../../src/schema.ts';
import type { IndexedList } from '../../../src/upstream/kernel/compile-list.ts';
import { type Derived, globalId, wordOf } from '../../../src/upstream/parse/derived.ts';
import { nullable, type RecordTable, required } from '../../../src/upstream/parse/record.ts';
import { type Change, start, thingsSchema } from './support/things-schema.ts';

/** Plans write each field of an item, with the bytes of the executor, or the gateway does not start. */

const without = <Value>(entries: Readonly<Record<string, Value>>, name: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(entries).filter(([key]) => key !== name));

describe.each(lookups)('the list of $name', (list) => {
  const ofList = (schema: GraphQLSchema) =>
    Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter(({ extensions }) => extensions.plannedList === list);
  const startWith = (changed: IndexedList) => {
    const schema = lexicographicSortSchema(ownSchema);
    for (const connection of ofList(schema)) connection.extensions = withPlannedLists(changed);
    return start(schema);
  };

  test('is in the schema', () => {
    expect(ofList(ownSchema)).not.toEqual([]);
  });

  test('is written as it stands', () => {
    expect(() => startWith(list)).not.toThrow();
  });

  test.each(Object.keys(list.table.fields))('without the property %s stops the start', (property) => {
    const field = list.table.fields[property];
    const table = { ...list.table, fields: without(list.table.fields, property) };
    const names = field && 'inline' in field ? Object.keys(field.inline).join('|') : property;
    expect(() => startWith({ ...list, table })).toThrow(new RegExp(`\\w+\\.\\w+: .*(?:${names})`));
  });
});

const fieldOf = (schema: GraphQLSchema, type: string, name: string) => {
  const field = assertObjectType(schema.getType(type)).getFields()[name];
  if (field === undefined) throw new TypeError(`Expected ${type} to have a field ${name}.`);
  return field;
};

const PART = { name: 'part', fields: { v: nullable('v', 'string') } } as const satisfies RecordTable;
const THING = {
  name: 'thing',
  fields: {
    id: required('id', 'string'),
    text: nullable('text', 'string'),
    number: nullable('number', 'number'),
    recipient: required('recipient', 'addressOrEmpty'),
    topics: { from: 'topics', listOf: 'hex', item: 'topic' },
    part: { from: 'part', record: PART, mode: 'lenientObject' },
    parts: { from: 'parts', records: PART, mode: 'strict' },
    others: { from: 'others', records: PART, mode: 'lenientOrNull' },
  },
} as const satisfies RecordTable;

const COLOR = wordOf('text', { RED: 'red', BLUE: 'blue' });
const SCOPED = { pothosOptions: { authScopes: { wallets: true } } };

type Case = [what: string, fields: string, problem: string | null, change?: Change | undefined];

const assertStart = (schema: GraphQLSchema, problem: string | null): void => {
  if (problem === null) expect(() => start(schema)).not.toThrow();
  else
    expect(() => start(schema)).toThrow(
      new RegExp(`^A plan can't write ${problem}: expected .*, got .+\\.$`),
    );
};

const scoped =
  (type: string, name: string): Change =>
  (schema) => {
    const field = fieldOf(schema, type, name);
    field.extensions = { ...field.extensions, ...SCOPED };
  };
const made =
  (derived: Derived): Change =>
  (schema) => {
    fieldOf(schema, 'Thing', 'x').extensions = derivedField(derived).extensions;
  };

describe('a field of an item', () => {
  test.each<Case>([
    ['that is a property is written', 'id: ID! text: String number: Float', null],
    ['that is a list is written', 'topics: [Hex!]!', null],
    ['of records is written', 'part: Part parts: [Part!]! others: [Part!]', null],
    ['that is what the list is of is written', 'wallet: Address!', null],
    ['that is what the list is of as BigInt is refused', 'wallet: BigInt', 'Thing.wallet'],
    ['that has arguments is refused', 'text(unit: String): String', 'Thing.text'],
    [
      'with a resolver of its own is refused',
      'note: String',
      'Thing.note',
      (schema) => {
        fieldOf(schema, 'Thing', 'note').extensions = {};
      },
    ],
    ['that the table does not have is refused', 'missing: String', 'Thing.missing'],
    ['of an abstract type is refused', 'part: Named', 'Thing.part'],
    ['that needs a scope is refused', 'text: String', 'Thing.text', scoped('Thing', 'text')],
    [
      'of a type that needs a scope is refused',
      'part: Part',
      'Part',
      (schema) => {
        assertObjectType(schema.getType('Part')).extensions = SCOPED;
      },
    ],
    ['of a nested record is refused', 'part: Part', 'Part.v', scoped('Part', 'v')],
    ['that is a string as BigInt is refused', 'text: BigInt', 'Thing.text'],
    ['that is a number as Int is refused', 'number: Int', 'Thing.number'],
    ['that is an enum of any string is refused', 'text: Color', 'Thing.text'],
    ['that is a record as a leaf is refused', 'part: JSON', 'Thing.part'],
    ['that is a leaf as a record is refused', 'text: Part', 'Thing.text'],
    ['that is a list as one value is refused', 'topics: Hex!', 'Thing.topics'],
    ['that is one value as a list is refused', 'text: [String]', 'Thing.text'],
    ['that is a list as a list of lists is refused', 'topics: [[Hex]]', 'Thing.topics'],
    ['that may be null as a non-null one is refused', 'text: String!', 'Thing.text'],
    ['that may be empty as a non-null one is refused', 'recipient: Address!', 'Thing.recipient'],
    ['that is a record as a non-null one is refused', 'part: Part!', 'Thing.part'],
    ['that is a lenient list as a non-null one is refused', 'others: [Part]!', 'Thing.others'],
  ])('%s', (_what, fields, problem, change) => {
    assertStart(thingsSchema(THING, fields, change), problem);
  });
});

describe('a derived field of an item', () => {
  test.each<Case>([
    ['is written by its entry', 'x: Color', null, made(COLOR)],
    ['that may be null as a non-null one is refused', 'x: Color!', 'Thing.x', made(COLOR)],
    ['whose enum has another value is refused', 'x: Color', 'Thing.x', made(wordOf('text', { RED: 'red' }))],
    [
      'whose enum has other values inside is refused',
      'x: Color',
      'Thing.x',
      (schema) => {
        made(COLOR)(schema);
        for (const value of assertEnumType(schema.getType('Color')).getValues()) value.value = 'another';
      },
    ],
    ['of another scalar is refused', 'x: BigInt', 'Thing.x', made(globalId('Thing', 'id'))],
    ['that is null as a non-null one is refused', 'x: String!', 'Thing.x', made(wordOf('x', {}))],
    ['made of what the list is of is written', 'x: ID!', null, made(globalId('Thing', 'wallet', 'id'))],
    [
      'of a property that the table does not have is refused',
      'x: ID!',
      'Thing.x',
      made(globalId('Thing', 'missing')),
    ],
  ])('%s', (_what, fields, problem, change) => {
    assertStart(thingsSchema(THING, fields, change), problem);
  });
});

describe('a connection', () => {
  const startConnection = (change: (schema: GraphQLSchema) => void) =>
    start(thingsSchema(THING, 'text: String', change));

  test.each([
    ['ThingConnection', 'nodes'],
    ['ThingConnection', 'edges'],
    ['ThingEdge', 'cursor'],
    ['ThingEdge', 'node'],
  ])('whose %s.%s needs a scope is refused', (type, name) => {
    expect(() => startConnection(scoped(type, name))).toThrow(`A plan can't write ${type}.${name}: expected`);
  });

  test.each(['ThingConnection', 'ThingEdge', 'Thing'])('whose %s needs a scope is refused', (type) => {
    expect(() =>
      startConnection((schema) => {
        const open = assertObjectType(schema.getType(type));
        open.extensions = { ...open.extensions, ...SCOPED };
      }),
    ).toThrow(`A plan can't write ${type}: expected`);
  });

  test('whose edges have a field of their own is refused', () => {
    expect(() =>
      startConnection((schema) => {
        const fields = assertObjectType(schema.getType('ThingEdge')).getFields();
        fields.weight = fieldOf(schema, 'ThingEdge', 'cursor');
        fields.weight.name = 'weight';
      }),
    ).toThrow("A plan can't write ThingEdge.weight: expected");
  });
});
