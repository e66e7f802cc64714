import {
  assertEnumType,
  assertObjectType,
  buildSchema,
  executeSync,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLSchema,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { derivedField } from '../../src/graph/plan/derived-field.ts';
import { createPlannedSchema } from '../../src/graph/plan/planned-schema.ts';
import { withPlannedLists } from '../../src/graph/plan/planned-types.ts';
import { parseExactJson } from '../../src/lib/json/exact-json.ts';
import { lookups } from '../../src/lookups/registry.ts';
import { schema as ownSchema } from '../../src/schema.ts';
import type { IndexedList } from '../../src/upstream/kernel/compile-list.ts';
import { createPageKernel } from '../../src/upstream/kernel/page-kernel.ts';
import { type Derived, globalId, unlistedWord, wordOf } from '../../src/upstream/parse/derived.ts';
import { type FieldKind, MalformedFieldError } from '../../src/upstream/parse/fields.ts';
import { UNORDERED } from '../../src/upstream/parse/list-order.ts';
import type { ListPlan } from '../../src/upstream/parse/record.ts';
import { nullable, type RecordTable, readRecord, required } from '../../src/upstream/parse/record.ts';
import { writeJson } from '../support/kernel/hand-written-json.ts';
import { VALUES } from '../support/kernel/values.ts';

/** Plans write each field of an item, with the bytes of the executor, or the gateway does not start. */

/** Makes a planned schema, as a start does. The schema that is given stays as it is. */
const start = (schema: GraphQLSchema) => {
  const [planned, open] = [lexicographicSortSchema(schema), lexicographicSortSchema(schema)];
  return createPlannedSchema(planned, open);
};

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
    const table = { ...list.table, fields: without(list.table.fields, property) };
    expect(() => startWith({ ...list, table })).toThrow(new RegExp(`\\w+\\.\\w+: .*${property}`));
  });
});

const SCALARS = Object.values(ownSchema.getTypeMap()).filter(isScalarType);

type Change = (schema: GraphQLSchema) => void;

const unchanged: Change = () => {};

const listOf = (table: RecordTable): IndexedList => ({
  itemsField: 'things',
  identity: ['id'],
  order: UNORDERED,
  subject: 'wallet',
  table,
});

/** A schema with one planned list, of things with these fields. They are properties unless `change` changes them. */
const thingsSchema = (table: RecordTable, fields: string, change = unchanged): GraphQLSchema => {
  const declared = SCALARS.filter((scalar) => !isSpecifiedScalarType(scalar)).map(
    ({ name }) => `scalar ${name}`,
  );
  const schema = buildSchema(`
    ${declared.join('\n')}
    enum Color { RED BLUE }
    interface Named { v: String }
    type Part implements Named { v: String }
    type Thing { ${fields} }
    type ThingEdge { cursor: String! node: Thing }
    type ThingConnection { nodes: [Thing]! edges: [ThingEdge]! }
    type Query { things: ThingConnection }
  `);
  const connection = assertObjectType(schema.getType('ThingConnection'));
  connection.extensions = withPlannedLists(listOf(table));
  for (const name of ['Thing', 'Part'])
    for (const field of Object.values(assertObjectType(schema.getType(name)).getFields()))
      field.extensions = { pothosExposedField: field.name };
  change(schema);
  return schema;
};

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
    ['that is null as a non-null one is refused', 'x: String!', 'Thing.x', made(unlistedWord('x', {}))],
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

const KINDS: Readonly<Record<FieldKind, true>> = {
  string: true,
  address: true,
  addressOrEmpty: true,
  addressOrNative: true,
  hex: true,
  integer: true,
  decimal: true,
  number: true,
  int: true,
  boolean: true,
  time: true,
  chainId: true,
  json: true,
  integerOrSide: true,
  lenientString: true,
  text: true,
  texts: true,
};
const isKind = (name: string): name is FieldKind => Object.hasOwn(KINDS, name);

const NUMBERS = ['1', '-1', '1.0', '1e3', '1E+2', '2147483647', '2147483648', '-2147483648', '-2147483649']
  .concat(['999999999', '1000000000', '-99999999', '-999999999', '4294967296', '1e400', '-1e400', '1e-400'])
  .flatMap((number) => [number, `"${number}"`]);
const JSONS = [
  ...VALUES.map((value) => writeJson(value ?? null, '')),
  ...NUMBERS,
  '"12"',
  '" 12 "',
  '"0x1f"',
  '"NaN"',
];

/** Reads a value; undefined stands for one that is malformed. */
const readAs = (table: RecordTable, json: string): unknown => {
  try {
    return readRecord(table)({ id: '', v: parseExactJson(json) }).v;
  } catch (error) {
    if (error instanceof MalformedFieldError) return undefined;
    throw error;
  }
};

describe.each(Object.keys(KINDS).filter(isKind))('a value of the kind %s', (kind) => {
  const fields = { id: required('id', 'string'), v: nullable('v', kind) };
  const table = { name: 'thing', fields } as const satisfies RecordTable;
  const values = JSONS.map((json) => ({ json, value: readAs(table, json) }));
  const kernel = createPageKernel();
  const list = listOf(table);
  const plan: ListPlan = {
    kind: 'nodes',
    node: { typeName: 'Thing', fields: [{ kind: 'property', key: 'v', property: 'v', plan: null }] },
  };

  /** What the kernel writes of each value; null for one that it leaves to the plain reader. */
  const written = (() => {
    const items = values.map(({ json }, index) => `{"id":"${index}","v":${json}}`);
    const page = kernel.index([Buffer.from(`{"things":[${items.join()}]}`)], list, 1000);
    const compiled = kernel.compile(plan, list);
    if (page === null || compiled === null) throw new TypeError('Expected a page and a plan.');
    const given = { subject: '', chainIds: new Map(), cursorOf: String };
    return values.map((_, index) => {
      const { bytes, isOdd } = kernel.write(compiled, page, index, index + 1, given);
      return isOdd ? null : Buffer.from(bytes).toString();
    });
  })();

  const accepted = SCALARS.filter(({ name }) => {
    try {
      start(thingsSchema(table, `v: ${name}`));
      return true;
    } catch (error) {
      expect(error).toHaveProperty(
        'message',
        expect.stringContaining("A plan can't write Thing.v: expected"),
      );
      return false;
    }
  });

  test('has a scalar', () => {
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.some(({ name }) => name === 'Int')).toBe(kind === 'int');
  });

  test.each(accepted)('is as %s what the executor makes of it', (scalar) => {
    const thing = new GraphQLObjectType({ name: 'Thing', fields: { v: { type: scalar } } });
    const query = new GraphQLObjectType({ name: 'Query', fields: { thing: { type: thing } } });
    const schema = new GraphQLSchema({ query });
    let seen = 0;
    for (const [index, { json, value }] of values.entries()) {
      if (value === undefined) {
        expect({ json, written: written[index] }).toEqual({ json, written: null });
        continue;
      }
      const executed = executeSync({
        schema,
        document: parse('{ thing { v } }'),
        rootValue: { thing: { v: value } },
      });
      const expected = JSON.stringify({ data: { thing: { v: value } } });
      expect({ json, answer: JSON.stringify(executed) }).toEqual({ json, answer: expected });
      if (written[index] !== null) expect(`{"data":{"thing":${written[index]}}}`).toBe(expected);
      seen += written[index] === null || value === null ? 0 : 1;
    }
    expect(seen).toBeGreaterThan(0);
  });
});

test('an integer is read from the numbers and strings that Int is made of, and from nothing else', () => {
  const table = { name: 'thing', fields: { v: nullable('v', 'int') } } as const satisfies RecordTable;
  const ofExecutor = (value: unknown): unknown => {
    try {
      return GraphQLInt.coerceOutputValue(value);
    } catch {
      return undefined;
    }
  };
  const expected = JSONS.map((json) => {
    const value = parseExactJson(json);
    const isNumeric = typeof value === 'number' || typeof value === 'string';
    return [json, value === null ? null : isNumeric ? ofExecutor(value) : undefined];
  });
  expect(JSONS.map((json) => [json, readAs(table, json)])).toEqual(expected);
  expect(() => readRecord(table)({ v: 1.5 })).toThrow(
    'v: expected an integer from -2^31 to 2^31 - 1, got 1.5',
  );
});
