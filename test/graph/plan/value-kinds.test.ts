import { executeSync, GraphQLInt, GraphQLObjectType, GraphQLSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { parseExactJson } from '../../../src/lib/json/exact-json.ts';
import { createPageKernel } from '../../../src/upstream/kernel/page-kernel.ts';
import { type FieldKind, MalformedFieldError } from '../../../src/upstream/parse/fields.ts';
import type { ListPlan } from '../../../src/upstream/parse/record.ts';
import { nullable, type RecordTable, readRecord, required } from '../../../src/upstream/parse/record.ts';
import { writeJson } from '../../support/kernel/hand-written-json.ts';
import { VALUES } from '../../support/kernel/values.ts';
import { listOf, SCALARS, start, thingsSchema } from './support/things-schema.ts';

/** Plans write values of each kind with the bytes of the executor. */

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
  webUrl: true,
  tokenDecimals: true,
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
    const given = { subject: '', chains: { idsByName: new Map(), facts: new Map() }, cursorOf: String };
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
    expect(accepted.some(({ name }) => name === 'Int')).toBe(kind === 'int' || kind === 'tokenDecimals');
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
