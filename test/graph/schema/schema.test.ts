import { readdirSync, readFileSync } from 'node:fs';
import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../../src/schema.ts';

const describeType = (
  type: GraphQLNamedType,
): [coordinate: string, description: string | null | undefined][] => {
  const own: [string, string | null | undefined] = [type.name, type.description];
  if (isEnumType(type))
    return [
      own,
      ...type.getValues().map(({ name, description }) => pair(`${type.name}.${name}`, description)),
    ];
  if (isInputObjectType(type))
    return [
      own,
      ...Object.values(type.getFields()).map((field) =>
        pair(`${type.name}.${field.name}`, field.description),
      ),
    ];
  if (!isObjectType(type) && !isInterfaceType(type)) return [own];
  const fields = Object.values(type.getFields()).flatMap(({ name, description, args }) => [
    pair(`${type.name}.${name}`, description),
    ...args.map((arg) => pair(`${type.name}.${name}(${arg.name}:)`, arg.description)),
  ]);
  return [own, ...fields];
};

const pair = (
  coordinate: string,
  description: string | null | undefined,
): [string, string | null | undefined] => [coordinate, description];

/** The coordinates of the schema with their descriptions. */
const coordinates = Object.values(schema.getTypeMap())
  .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
  .flatMap(describeType);

describe('every coordinate of the schema', () => {
  test('is described', () => {
    expect(coordinates.length).toBeGreaterThan(150);
    expect(coordinates.filter(([, description]) => !description).map(([coordinate]) => coordinate)).toEqual(
      [],
    );
  });

  test('has a description that is a sentence', () => {
    const fragments = coordinates.filter(([, text]) => text && !/^[A-Z0-9"`].*[.…)]$/s.test(text));
    expect(fragments).toEqual([]);
  });

  test('says what it is before it says when it is null', () => {
    expect(
      coordinates.filter(([, text]) => text?.startsWith('Null')).map(([coordinate]) => coordinate),
    ).toEqual([]);
  });

  test('says when it is null, if it is nullable', () => {
    const silent = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !isIntrospectionType(type))
      .flatMap((type) =>
        isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : [],
      )
      .filter(({ field }) => !String(field.type).endsWith('!') && !/null/i.test(field.description ?? ''))
      .filter(({ type }) => type.name !== 'PageInfo')
      .map(({ type, field }) => `${type.name}.${field.name}`);
    expect(silent).toEqual([]);
  });
});

describe('connections', () => {
  const connections = Object.keys(schema.getTypeMap()).filter((name) => name.endsWith('Connection'));

  test.each(connections)('%s has the shape that Relay requires', (name) => {
    const type = schema.getType(name);
    if (!isObjectType(type)) throw new Error(`expected ${name} to be an object type`);
    const { edges, pageInfo } = type.getFields();
    expect(String(pageInfo?.type)).toBe('PageInfo!');
    expect(String(edges?.type)).toBe(`[${name.replace(/Connection$/, 'Edge')}]!`);
  });
});

test('the kernel in src/graph/ names no feature', () => {
  const files = readdirSync('src/graph', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  expect(files.length).toBeGreaterThan(20);
  const naming = files.filter((file) =>
    /wallet|transaction|collectible|webhook|deliver/i.test(readFileSync(`src/graph/${file}`, 'utf8')),
  );
  expect(naming).toEqual([]);
});
