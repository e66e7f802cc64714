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
import type { Context } from '../../context.ts';
import type { IndexedList } from '../../upstream/kernel/compile-list.ts';
import type { ChainFact, Derived, DerivedEntry } from '../../upstream/parse/derived.ts';
import type { FieldKind } from '../../upstream/parse/fields.ts';
import {
  type Condition,
  partsOf,
  type RecordTable,
  type TableField,
  type View,
  viewOf,
} from '../../upstream/parse/record.ts';
import type { BuilderTypes } from '../builder.ts';
import { semanticNonNullLevels } from '../semantic-non-null.ts';

/** Returns what makes a field one that is made of its record: for the executor by a function, for plans by the kernel's entry. */
export const derivedField = <Output>(derived: Derived<Output>) => ({
  extensions: { derived },
  resolve: (record: object, _args: unknown, context: Context): Output => derived.derive(record, context),
});

/** Returns what `derivedField` said of a field; undefined for any other field. */
export const derivedOf = ({ extensions }: GraphQLField<unknown, unknown>): Derived | undefined =>
  extensions.derived as Derived | undefined;

/**
 * Returns what makes a field an object of properties of its record: `properties` says which of them each property of the
 * object is. The object has no others, so that it never causes a request. It is null unless one of `presentIf` holds, which
 * by default it always does, and where one of `absentIf` does.
 */
export const viewField = <Source, Target>(
  properties: { readonly [Property in keyof Target]?: keyof Source & string },
  presentIf?: readonly Condition<keyof Source & string>[],
  absentIf?: readonly Condition<keyof Source & string>[],
) => {
  const view: View = {
    properties: properties as View['properties'],
    ...(presentIf && { presentIf }),
    ...(absentIf && { absentIf }),
  };
  // Whether the view is ever null, the type of the field says.
  return { extensions: { view }, resolve: (record: Source & object) => viewOf(view, record) as never };
};

/** The `extensions` of a field with arguments, made of a property of the item: plans leave the lists that select it to the executor. */
export const executedField = (property: string) => ({ executedFrom: property });

/** Returns what `viewField` said of a field; undefined for any other field. */
export const viewedBy = ({ extensions }: GraphQLField<unknown, unknown>): View | undefined =>
  extensions.view as View | undefined;

type AnyField = GraphQLField<unknown, unknown>;

/**
 * Returns the fields of an item that plans can write: all of its own, those of the records in it, and of its views those
 * that need no request. Throws TypeError, with the coordinate of the first field of an item or a record that they can't
 * write. What passes is written as the executor would: its values are already what its scalars make of them.
 */
export const assertPlannable = (
  item: GraphQLObjectType,
  { table, subject }: Pick<IndexedList, 'table' | 'subject'>,
): ReadonlySet<AnyField> => {
  const writable = new Set<AnyField>();

  const writtenOf = (type: GraphQLObjectType, field: AnyField, scope: Scope): Written => {
    const at = `${type.name}.${field.name}`;
    assertPlain(type, field);
    const derived = derivedOf(field);
    if (derived) return writtenByEntry(at, derived.entry, scope);
    const view = viewedBy(field);
    if (view) return { view: viewScope(at, view, scope), isList: false, isNullable: isEverNull(view) };
    const property = exposedProperty(field);
    if (property === undefined)
      throw unwritable(at, 'a property (expose), a derivedField or a viewField', 'a resolver of its own');
    const written = scope.find(property);
    if (written !== null) return written;
    throw unwritable(at, `the property ${property} in ${scope.name}`, 'none');
  };

  const assertField = (type: GraphQLObjectType, field: AnyField, scope: Scope): void => {
    const written = writtenOf(type, field, scope);
    if (!isWrittenAs(field.type, written))
      throw unwritable(`${type.name}.${field.name}`, shownType(written), `${field.type}`);
    if (written.isNullable && semanticNonNullLevels(field).includes(0))
      throw unwritable(
        `${type.name}.${field.name}`,
        'what is never null, as it is marked',
        'a nullable value',
      );
    writable.add(field);
    const named = getNamedType(field.type);
    if (!isObjectType(named)) return;
    if (written.record) assertRecord(named, scopeOf(written.record, subject));
    if (written.view) addViewed(named, written.view);
  };

  const assertRecord = (type: GraphQLObjectType, scope: Scope): void => {
    assertOpen(type.name, type);
    for (const field of Object.values(type.getFields())) {
      const { executedFrom } = field.extensions;
      if (typeof executedFrom !== 'string') assertField(type, field, scope);
      else if (scope.find(executedFrom) === null)
        throw unwritable(
          `${type.name}.${field.name}`,
          `the property ${executedFrom} in ${scope.name}`,
          'none',
        );
    }
  };

  /** A type that is viewed has fields of its own, which the executor resolves. */
  const addViewed = (type: GraphQLObjectType, scope: Scope): void => {
    for (const field of Object.values(type.getFields())) {
      const isMade = derivedOf(field) ?? viewedBy(field) ?? exposedProperty(field);
      if (isMade !== undefined) assertField(type, field, scope);
    }
  };

  assertRecord(item, scopeOf(table, subject));
  return writable;
};

/** The properties of a record, or of a view of one. */
type Scope = {
  readonly name: string;
  /** Returns what is written of a property; null where there is no such property. */
  find(property: string): Written | null;
};

const scopeOf = ({ name, fields }: RecordTable, subject: string): Scope => {
  const inline = Object.values(fields).map((field) => ('inline' in field ? field.inline : {}));
  const all: RecordTable['fields'] = Object.assign({}, ...inline, fields);
  return {
    name: `the table "${name}"`,
    find(property) {
      const field = all[property];
      if (field && !('inline' in field)) return writtenByTable(field);
      return property === subject ? SUBJECT : null;
    },
  };
};

/** What a view does not have is null. */
const viewScope = (at: string, { properties, presentIf = [], absentIf = [] }: View, scope: Scope): Scope => {
  const conditions = [...presentIf, ...absentIf].map((condition) => partsOf(condition).property);
  const unknown = [...Object.values(properties), ...conditions].find(
    (property) => scope.find(property) === null,
  );
  if (unknown !== undefined) throw unwritable(at, `properties of ${scope.name}`, unknown);
  const own = new Map(Object.entries(properties));
  return {
    name: `a view of ${scope.name}`,
    find: (property) => {
      const of = own.get(property);
      return of === undefined ? ABSENT : scope.find(of);
    },
  };
};

const isEverNull = ({ presentIf, absentIf }: View): boolean =>
  presentIf !== undefined || absentIf !== undefined;

const ABSENT: Written = { isList: false, isNullable: true };

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
  /** Of an object that is made of its record: what its properties are. */
  readonly view?: Scope;
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
  addressOrNative: [...TEXT, 'Address'],
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
  lenientString: TEXT,
  webUrl: [...TEXT, 'URL'],
  tokenDecimals: ['Int', 'Float'],
  text: TEXT,
  texts: ['JSON'],
};

/** A field of these kinds may be null though it is required. */
const NULLABLE: ReadonlySet<FieldKind> = new Set([
  'addressOrEmpty',
  'addressOrNative',
  'integerOrSide',
  'lenientString',
  'webUrl',
  'tokenDecimals',
  'json',
  'texts',
]);

const writtenByTable = (field: WrittenField): Written => {
  if ('kind' in field) {
    const isNullable = !field.required || NULLABLE.has(field.kind);
    return { scalars: SCALARS[field.kind], isList: false, isNullable };
  }
  if ('listOf' in field) return { scalars: SCALARS[field.listOf], isList: true, isNullable: false };
  if ('record' in field) return { record: field.record, isList: false, isNullable: true };
  return { record: field.records, isList: true, isNullable: field.mode === 'lenientOrNull' };
};

/** A field that has a value of its own. */
type WrittenField = Exclude<TableField, { readonly inline: unknown }>;

/** The subject of a list may be an address or another text. */
const SUBJECT: Written = { scalars: SCALARS.address, isList: false, isNullable: false };

const writtenByEntry = (at: string, entry: DerivedEntry, scope: Scope): Written => {
  for (const property of propertiesOf(entry)) {
    const made = scope.find(property);
    if (made === null || made.record || made.view || made.isList)
      throw unwritable(at, `to be made of values in ${scope.name}`, property);
  }
  switch (entry.kind) {
    case 'globalId':
      return { scalars: TEXT, isList: false, isNullable: false };
    case 'chainId':
      return { scalars: SCALARS.chainId, isList: false, isNullable: true };
    case 'chainFact':
      return { scalars: FACT_SCALARS[entry.fact], isList: false, isNullable: true };
    case 'word':
      return { words: entry.words, isList: false, isNullable: true };
    case 'isNull':
      return { scalars: SCALARS.boolean, isList: false, isNullable: false };
    case 'lowLiquidity':
      return { scalars: SCALARS.boolean, isList: false, isNullable: true };
    case 'value':
      if (entry.words) return { words: entry.words, isList: false, isNullable: entry.isNullable };
      return { scalars: SCALARS[entry.as], isList: entry.isList ?? false, isNullable: entry.isNullable };
  }
};

const FACT_SCALARS: { readonly [Fact in ChainFact]: readonly ScalarName[] } = {
  chain: TEXT,
  symbol: TEXT,
  name: TEXT,
  decimals: SCALARS.tokenDecimals,
  logo: SCALARS.webUrl,
};

/** Returns the properties that a derived field is made of. */
const propertiesOf = (entry: DerivedEntry): readonly string[] => {
  if (entry.kind === 'globalId') return entry.parts;
  if (entry.kind === 'chainId') return [entry.id, entry.name];
  if (entry.kind === 'chainFact')
    return [entry.own, entry.chainId, entry.address].filter((property) => property !== null);
  if (entry.kind === 'lowLiquidity') return [entry.stated, entry.poolSize, entry.address];
  if (entry.kind === 'value') return entry.properties;
  return [entry.property];
};

const isWrittenAs = (
  type: GraphQLOutputType,
  { scalars, words, record, view, isList, isNullable }: Written,
): boolean => {
  if (isNullable && isNonNullType(type)) return false;
  if (!scalars && !words && !record && !view) return true;
  const whole = getNullableType(type);
  if (isListType(whole) !== isList) return false;
  const value = isListType(whole) ? getNullableType(whole.ofType) : whole;
  if (record ?? view) return isObjectType(value);
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

const shownType = ({ scalars, words, record, view, isList, isNullable }: Written): string => {
  const value =
    scalars?.join(' or ') ??
    (words ? `an enum of ${words.join()}` : (record ?? view) ? 'an object type' : 'any type');
  return `${isNullable ? 'a nullable type: ' : ''}${isList ? 'a list of ' : ''}${value}`;
};
