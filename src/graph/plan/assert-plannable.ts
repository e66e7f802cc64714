import {
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import type { IndexedList } from '../../upstream/kernel/compile-list.ts';
import type { DerivedEntry } from '../../upstream/parse/derived.ts';
import type { FieldKind, RecordTable, TableField } from '../../upstream/parse/record.ts';
import type { BuilderTypes } from '../builder.ts';
import { derivedOf } from './derived-field.ts';

type AnyField = GraphQLField<unknown, unknown>;

/**
 * Asserts that plans can write each field of an item, and of the records in it. Throws TypeError, with the coordinate of the
 * first field that they can't write. What passes is written as the executor would: its values are already what its scalars
 * make of them.
 */
export const assertPlannable = (
  item: GraphQLObjectType,
  { table, subject }: Pick<IndexedList, 'table' | 'subject'>,
): void => {
  const writtenOf = (type: GraphQLObjectType, field: AnyField, record: RecordTable): Written => {
    const at = `${type.name}.${field.name}`;
    const derived = derivedOf(field);
    if (derived) return writtenByEntry(at, derived.entry, record, subject);
    const property = exposedProperty(field);
    if (property === undefined)
      throw unwritable(at, 'a property (expose) or a derivedField', 'a resolver of its own');
    const tableField = record.fields[property];
    if (tableField !== undefined) return writtenByTable(tableField);
    if (property === subject) return SUBJECT;
    throw unwritable(at, `the property ${property} in the table "${record.name}"`, 'none');
  };

  const assertRecord = (type: GraphQLObjectType, record: RecordTable): void => {
    assertOpen(type.name, type);
    for (const field of Object.values(type.getFields())) {
      assertPlain(type, field);
      const written = writtenOf(type, field, record);
      if (!isWrittenAs(field.type, written))
        throw unwritable(`${type.name}.${field.name}`, shownType(written), `${field.type}`);
      const named = getNamedType(field.type);
      if (written.record && isObjectType(named)) assertRecord(named, written.record);
    }
  };

  assertRecord(item, table);
};

/** Asserts that a field has the same value for all callers, whatever the document says. Throws TypeError. */
export const assertPlain = ({ name }: GraphQLObjectType, field: AnyField): void => {
  const at = `${name}.${field.name}`;
  assertOpen(at, field);
  if (field.args.length > 0) throw unwritable(at, 'no arguments', field.args.map((arg) => arg.name).join());
};

/** Asserts that all callers may read a field, or the fields of a type. Throws TypeError. */
export const assertOpen = (at: string, { extensions }: Pick<AnyField, 'extensions'>): void => {
  const { authScopes } = (extensions.pothosOptions ?? {}) as { readonly authScopes?: unknown };
  if (authScopes !== undefined) throw unwritable(at, 'no authScopes: plans ask for none', 'some');
};

/** The error of a schema whose field at `coordinate` no plan can write. */
export const unwritable = (coordinate: string, expected: string, got: string): TypeError =>
  new TypeError(`A plan can't write ${coordinate}: expected ${expected}, got ${got}.`);

/** Returns the property that Pothos' `expose` gave the field; undefined for a field with a resolver of its own. */
export const exposedProperty = ({ extensions }: AnyField): string | undefined =>
  extensions.pothosExposedField as string | undefined;

/** What a plan writes of a field. */
type Written = {
  /** The scalars that would write the same; the values of an enum; the table of a record. Null where it is always null. */
  readonly scalars?: readonly ScalarName[];
  readonly words?: readonly string[];
  readonly record?: RecordTable;
  readonly isList: boolean;
  readonly isNullable: boolean;
};

type ScalarName = keyof BuilderTypes['Scalars'];

const TEXT = ['String', 'ID'] as const;

/** The scalars whose values a kind's are, unchanged. */
const SCALARS: { readonly [Kind in FieldKind]: readonly ScalarName[] } = {
  string: [...TEXT, 'URL'],
  address: [...TEXT, 'Address'],
  addressOrEmpty: [...TEXT, 'Address'],
  hex: [...TEXT, 'Hex'],
  integer: [...TEXT, 'BigInt', 'Decimal'],
  decimal: [...TEXT, 'Decimal'],
  number: ['Float'],
  int: ['Int', 'Float'],
  boolean: ['Boolean'],
  time: [...TEXT, 'DateTime'],
  chainId: ['ChainId'],
  json: ['JSON'],
  integerOrSide: [...TEXT, 'BigInt', 'Decimal'],
  lenientString: [...TEXT, 'URL'],
  text: TEXT,
  texts: ['JSON'],
};

/** A field of these kinds may be null though it is required. */
const NULLABLE: ReadonlySet<FieldKind> = new Set([
  'addressOrEmpty',
  'integerOrSide',
  'lenientString',
  'json',
  'texts',
]);

const writtenByTable = (field: TableField): Written => {
  if ('kind' in field) {
    const isNullable = !field.required || NULLABLE.has(field.kind);
    return { scalars: SCALARS[field.kind], isList: false, isNullable };
  }
  if ('listOf' in field) return { scalars: SCALARS[field.listOf], isList: true, isNullable: false };
  if ('record' in field) return { record: field.record, isList: false, isNullable: true };
  return { record: field.records, isList: true, isNullable: field.mode === 'lenientOrNull' };
};

/** What a list is of may be an address or another text. */
const SUBJECT: Written = { scalars: SCALARS.address, isList: false, isNullable: false };

const writtenByEntry = (
  at: string,
  entry: DerivedEntry,
  { name, fields }: RecordTable,
  subject: string,
): Written => {
  for (const property of propertiesOf(entry)) {
    const field = fields[property];
    if (property !== subject && (field === undefined || !('kind' in field)))
      throw unwritable(at, `to be made of values in the table "${name}"`, property);
  }
  switch (entry.kind) {
    case 'globalId':
      return { scalars: TEXT, isList: false, isNullable: false };
    case 'chainId':
      return { scalars: SCALARS.chainId, isList: false, isNullable: true };
    case 'word':
      return { words: entry.words, isList: false, isNullable: true };
    case 'null':
      return { isList: false, isNullable: true };
  }
};

/** Returns the properties that a derived field is made of. */
const propertiesOf = (entry: DerivedEntry): readonly string[] => {
  if (entry.kind === 'globalId') return entry.parts;
  if (entry.kind === 'chainId') return [entry.id, entry.name];
  return entry.kind === 'word' ? [entry.property] : [];
};

const isWrittenAs = (
  type: GraphQLOutputType,
  { scalars, words, record, isList, isNullable }: Written,
): boolean => {
  if (isNullable && isNonNullType(type)) return false;
  if (!scalars && !words && !record) return true;
  const whole = getNullableType(type);
  if (isListType(whole) !== isList) return false;
  const value = isListType(whole) ? getNullableType(whole.ofType) : whole;
  if (record) return isObjectType(value);
  if (words) return isEnumType(value) && isOfWords(value, words);
  return isScalarType(value) && (scalars ?? []).some((scalar) => scalar === value.name);
};

/** Whether the values of an enum are these words, inside as well. */
const isOfWords = (type: GraphQLEnumType, words: readonly string[]): boolean => {
  const values = type.getValues();
  return (
    values.length === words.length &&
    values.every(({ name, value }) => name === value && words.includes(name))
  );
};

const shownType = ({ scalars, words, record, isList, isNullable }: Written): string => {
  const value =
    scalars?.join(' or ') ?? (words ? `an enum of ${words.join()}` : record ? 'an object type' : 'any type');
  return `${isNullable ? 'a nullable type: ' : ''}${isList ? 'a list of ' : ''}${value}`;
};
