import { isObject, type RawObject } from '../../lib/json/exact-json.ts';
import type { Derived } from './derived.ts';
import {
  malformed,
  oneOf,
  type Reader,
  readAddress,
  readBoolean,
  readChainId,
  readDecimal,
  readHex,
  readInt,
  readInteger,
  readJson,
  readList,
  readNumber,
  readString,
  readTime,
  TRANSACTION_SIDES,
} from './fields.ts';

/**
 * Tables of the records that upstream sends: what each property is called on the wire, and how its value is read. All
 * readers of a record follow its table, so that they can't differ. The order of the fields is the order in which they are
 * read: the first malformed one is the record's error.
 */

/** How one value of upstream's JSON is read. */
export type FieldKind =
  | 'string'
  /** A 20-byte address in lower case. */
  | 'address'
  /** As `address`; "" counts as null. */
  | 'addressOrEmpty'
  /** 0x-prefixed hex in lower case. */
  | 'hex'
  /** An integer as a decimal string. */
  | 'integer'
  /** A decimal number as a string. */
  | 'decimal'
  | 'number'
  /** A number that is an integer of 32 bits with a sign. */
  | 'int'
  | 'boolean'
  /** ISO 8601 in UTC with milliseconds. */
  | 'time'
  | 'chainId'
  /** Any JSON of at most 200 levels. */
  | 'json'
  /** As `integer`; null where a delivery names a side, SENDER or RECEIVER in any case. */
  | 'integerOrSide'
  /** Null for anything but a string. */
  | 'lenientString'
  /** A string as it is, any other JSON as its JSON text. */
  | 'text'
  /** Any JSON. Numbers and booleans become strings, even in lists of lists; objects stay unchanged. */
  | 'texts';

/** One value. Unless it is required, an absent field and null are null. */
type ScalarField = {
  /** The field's name on the wire. */
  readonly from: string;
  readonly kind: FieldKind;
  readonly required: boolean;
};

/** A list of values. A missing field or null counts as empty. */
type ListField = {
  readonly from: string;
  readonly listOf: 'hex';
  /** The name that the error of a malformed item has. */
  readonly item: string;
};

/** A record; null for anything but an object. */
type RecordField = {
  readonly from: string;
  readonly record: RecordTable;
  readonly mode: 'lenientObject';
};

/** A list of records. */
type RecordsField = {
  readonly from: string;
  readonly records: RecordTable;
  /**
   * - `strict`: absent and null count as empty. Any other value, and an item that is not an object, is malformed.
   * - `skipOthers`: as `strict`, but items that are not objects are left out.
   * - `lenient`: anything but a list counts as empty. Items that are not objects are left out.
   * - `lenientOrNull`: as `lenient`, but anything but a list is null.
   */
  readonly mode: 'strict' | 'skipOthers' | 'lenient' | 'lenientOrNull';
};

export type TableField = ScalarField | ListField | RecordField | RecordsField;

export type RecordTable = {
  /** Names the record, in one word. */
  readonly name: string;
  readonly fields: { readonly [property: string]: TableField };
  /** As the value of a field, a record without any of these names on the wire is null. A name with null counts. */
  readonly presentIf?: readonly string[];
};

/** The value of a record, by its table. */
export type RecordValue<Table extends RecordTable> = {
  readonly [Property in keyof Table['fields']]: FieldValue<Table['fields'][Property]>;
};

type FieldValue<Field extends TableField> = Field extends ScalarField
  ? ScalarValue<Field>
  : Field extends ListField
    ? readonly string[]
    : Field extends RecordField
      ? RecordValue<Field['record']> | null
      : Field extends RecordsField
        ? readonly RecordValue<Field['records']>[] | (Field['mode'] extends 'lenientOrNull' ? null : never)
        : never;

type ScalarValue<Field extends ScalarField> =
  | KindValue<Field['kind']>
  | (Field['required'] extends true ? never : null);

type KindValue<Kind extends FieldKind> = Kind extends 'number' | 'int' | 'chainId'
  ? number
  : Kind extends 'boolean'
    ? boolean
    : Kind extends 'json' | 'texts'
      ? unknown
      : string;

/** The value of a record of a list, which also says what the list is of. */
export type ListedRecord<Table extends RecordTable, Subject extends string> = RecordValue<Table> & {
  readonly [Property in Subject]: string;
};

/** A field that each record has. */
export const required = <const From extends string, const Kind extends FieldKind>(
  from: From,
  kind: Kind,
) => ({
  from,
  kind,
  required: true as const,
});

/** A field that may be absent or null. */
export const nullable = <const From extends string, const Kind extends FieldKind>(
  from: From,
  kind: Kind,
) => ({
  from,
  kind,
  required: false as const,
});

/**
 * What a selection of one record writes, in order. Equal response keys are merged as GraphQL merges them. It names the
 * properties of a RecordTable's values, so that a list can be written as JSON by whatever holds its items.
 */
export type Plan = { readonly typeName: string; readonly fields: readonly PlanField[] };

export type PlanField =
  | { readonly kind: 'typename'; readonly key: string }
  | {
      readonly kind: 'property';
      readonly key: string;
      readonly property: string;
      /** What is written of a nested record, or of each record of a nested list; null for any other value. */
      readonly plan: Plan | null;
    }
  | { readonly kind: 'derived'; readonly key: string; readonly field: Derived };

/** What a list of items writes: of each item its node, or an edge with cursor and node. */
export type ListPlan =
  | { readonly kind: 'nodes'; readonly node: Plan }
  | { readonly kind: 'edges'; readonly typeName: string; readonly fields: readonly EdgeField[] };

export type EdgeField =
  | { readonly kind: 'typename'; readonly key: string }
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'node'; readonly key: string; readonly plan: Plan };

/**
 * The plain reader of a table: it reads a record of parsed JSON. It throws MalformedFieldError for the record's first
 * malformed field.
 */
export const readRecord = <Table extends RecordTable>(
  table: Table,
): ((raw: RawObject) => RecordValue<Table>) => compileReader(table, []);

/** As `readRecord`, of the items of a list. What the list is of becomes the property `subject`. */
export const readListed = <Table extends RecordTable, const Subject extends string>(
  table: Table,
  subject: Subject,
): ((raw: RawObject, subject: string) => ListedRecord<Table, Subject>) =>
  compileReader(table, [`${quote(subject)}: subject`]);

/** `more` are members of the record beside the table's. */
const compileReader = ({ fields }: RecordTable, more: readonly string[]) => {
  const entries = Object.entries(fields);
  const readers = entries.map(([, field]) => readerOf(field));
  const members = entries.map(([property, field], index) => `${quote(property)}: ${readingOf(field, index)}`);
  // A loop over the table takes half as long again: engines optimize an object literal and names that are constant.
  return new Function('read', `return (raw, subject) => ({ ${[...members, ...more]} });`)(readers);
};

/** The source text that reads the field of `raw` with the reader at `index`. */
const readingOf = (field: TableField, index: number): string => {
  const name = quote(field.from);
  const reading = `read[${index}](raw[${name}], ${name})`;
  const isNullable = 'kind' in field && !field.required;
  return isNullable ? `raw[${name}] == null ? null : ${reading}` : reading;
};

const quote = (text: string): string => JSON.stringify(text);

const readerOf = (field: TableField): Reader<unknown> => {
  if ('kind' in field) return READERS[field.kind];
  if ('listOf' in field)
    return (value, name) => readList(value, name).map((item) => readHex(item, field.item));
  return 'record' in field ? readNested(field.record) : readRecords(field);
};

const readNested = (table: RecordTable): Reader<unknown> => {
  const read = readRecord(table);
  const { presentIf } = table;
  return (value) => {
    if (!isObject(value)) return null;
    return presentIf?.every((name) => value[name] === undefined) ? null : read(value);
  };
};

const readRecords = ({ records, mode }: RecordsField): Reader<unknown> => {
  const read = readRecord(records);
  switch (mode) {
    case 'strict':
      return (value, field) =>
        readList(value, field).map((item, index) => {
          if (!isObject(item)) throw malformed(`${field}[${index}]`, 'an object', item);
          return read(item);
        });
    case 'skipOthers':
      return (value, field) => readList(value, field).filter(isObject).map(read);
    case 'lenient':
      return (value) => (Array.isArray(value) ? value.filter(isObject).map(read) : []);
    case 'lenientOrNull':
      return (value) => (Array.isArray(value) ? value.filter(isObject).map(read) : null);
  }
};

/** Converts numbers and booleans to strings, even in lists of lists. Objects stay unchanged. */
const asStrings = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asStrings);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (value ?? null);
};

/** The readers of a value that is neither absent nor null. */
const READERS: { readonly [Kind in FieldKind]: Reader<unknown> } = {
  string: readString,
  address: readAddress,
  addressOrEmpty: (value, field) => (value === '' ? null : readAddress(value, field)),
  hex: readHex,
  integer: readInteger,
  decimal: readDecimal,
  number: readNumber,
  int: readInt,
  boolean: readBoolean,
  time: readTime,
  chainId: readChainId,
  json: readJson,
  integerOrSide: (value, field) =>
    oneOf(TRANSACTION_SIDES, value) === null ? readInteger(value, field) : null,
  lenientString: (value) => (typeof value === 'string' ? value : null),
  text: (value, field) => (typeof value === 'string' ? value : JSON.stringify(readJson(value, field))),
  texts: (value, field) => asStrings(readJson(value, field)),
};
