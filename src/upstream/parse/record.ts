import { isObject, type RawObject } from '../../lib/json/exact-json.ts';
import type { Derived } from './derived.ts';
import {
  type FieldKind,
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
  readTokenDecimals,
  readWebUrl,
  TRANSACTION_SIDES,
} from './fields.ts';

/**
 * Tables of the records that upstream sends: what each property is called on the wire, and how its value is read. All
 * readers of a record follow its table, so that they can't differ. The order of the fields is the order in which they are
 * read: the first malformed one is the record's error.
 */

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

/** An object whose fields are properties of the record that it is in. All are null where the value is not an object. */
type InlineField = {
  readonly from: string;
  readonly inline: { readonly [property: string]: ScalarField & { readonly required: false } };
};

export type TableField = ScalarField | ListField | RecordField | RecordsField | InlineField;

export type RecordTable = {
  /** Names the record, in one word. */
  readonly name: string;
  readonly fields: { readonly [property: string]: TableField };
  /** As the value of a field, a record without any of these names on the wire is null. A name with null counts. */
  readonly presentIf?: readonly string[];
};

/** The value of a record, by its table. */
export type RecordValue<Table extends RecordTable> = OwnValues<Table['fields']> &
  (InlineValues<Table['fields']> extends (value: infer Values) => void ? Values : unknown);

type OwnValues<Fields> = {
  readonly [Property in keyof Fields as Fields[Property] extends InlineField ? never : Property]: FieldValue<
    Fields[Property]
  >;
};

/** A function of the values of each inline field: what all of them take is the values of all. */
type InlineValues<Fields> = {
  readonly [Property in keyof Fields]: Fields[Property] extends InlineField
    ? (value: OwnValues<Fields[Property]['inline']>) => void
    : never;
}[keyof Fields];

type FieldValue<Field> = Field extends ScalarField
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

type KindValue<Kind extends FieldKind> = Kind extends 'addressOrEmpty' | 'addressOrNative'
  ? string | null
  : Kind extends 'number' | 'int' | 'chainId'
    ? number
    : Kind extends 'tokenDecimals'
      ? number | null
      : Kind extends 'boolean'
        ? boolean
        : Kind extends 'json' | 'texts'
          ? unknown
          : string;

/** The value of a record of a list, which also has the subject of the list. */
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
  | { readonly kind: 'derived'; readonly key: string; readonly field: Derived }
  | { readonly kind: 'view'; readonly key: string; readonly view: View; readonly plan: Plan };

/** An object that is made of properties of the record that it is a field of. */
export type View = {
  /** The record's property for each of the object's. The object's others are null. */
  readonly properties: { readonly [property: string]: string };
  /** The object is null unless one of these holds for the record. Default: it is never null. */
  readonly presentIf?: readonly Condition[];
  /** The object is null where one of these holds. */
  readonly absentIf?: readonly Condition[];
};

/** That a property of a record is not null, or that it is exactly this text. */
export type Condition<Property extends string = string> =
  | Property
  | { readonly property: Property; readonly is: string };

/** The property that a condition is about, and the text that it must be; null for any value. */
export const partsOf = (condition: Condition): { readonly property: string; readonly is: string | null } =>
  typeof condition === 'string' ? { property: condition, is: null } : condition;

const holdsFor =
  (values: Readonly<Record<string, unknown>>) =>
  (condition: Condition): boolean => {
    const { property, is } = partsOf(condition);
    return is === null ? (values[property] ?? null) !== null : values[property] === is;
  };

/** Returns the object of a view; null where it has none. */
export const viewOf = (
  { properties, presentIf, absentIf = [] }: View,
  record: object,
): Readonly<Record<string, unknown>> | null => {
  const values = record as Readonly<Record<string, unknown>>;
  const holds = holdsFor(values);
  if (presentIf?.some(holds) === false || absentIf.some(holds)) return null;
  return Object.fromEntries(
    Object.entries(properties).map(([property, of]) => [property, values[of] ?? null]),
  );
};

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

/** As `readRecord`, for the items of a list. The subject of the list becomes the property `subject`. */
export const readListed = <Table extends RecordTable, const Subject extends string>(
  table: Table,
  subject: Subject,
): ((raw: RawObject, subject: string) => ListedRecord<Table, Subject>) =>
  compileReader(table, [`${quote(subject)}: subject`]);

/** `more` are members of the record beside the table's. */
const compileReader = ({ fields }: RecordTable, more: readonly string[]) => {
  const readers: Reader<unknown>[] = [];
  const objects: string[] = [];
  const membersOf = ([property, field]: readonly [string, TableField], of: string): string[] => {
    if (!('inline' in field))
      return [`${quote(property)}: ${readingOf(field, of, readers.push(readerOf(field)) - 1)}`];
    const object = `object${objects.length}`;
    objects.push(`const ${object} = objectOf(raw[${quote(field.from)}]);`);
    return Object.entries(field.inline).flatMap((entry) => membersOf(entry, object));
  };
  const members = Object.entries(fields).flatMap((entry) => membersOf(entry, 'raw'));
  // A loop over the table takes half as long again: engines optimize an object literal and names that are constant.
  const body = `${objects.join(' ')} return { ${[...members, ...more]} };`;
  return new Function('read', 'objectOf', `return (raw, subject) => { ${body} };`)(readers, objectOf);
};

const NO_FIELDS: RawObject = {};

const objectOf = (value: unknown): RawObject => (isObject(value) ? value : NO_FIELDS);

/** The source text that reads the field of an object with the reader at `index`. */
const readingOf = (field: TableField, of: string, index: number): string => {
  const name = quote(field.from);
  const reading = `read[${index}](${of}[${name}], ${name})`;
  const isNullable = 'kind' in field && !field.required;
  return isNullable ? `${of}[${name}] == null ? null : ${reading}` : reading;
};

const quote = (text: string): string => JSON.stringify(text);

const readerOf = (field: Exclude<TableField, InlineField>): Reader<unknown> => {
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
  addressOrNative: (value, field) => (value === '' || value === 'native' ? null : readAddress(value, field)),
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
  webUrl: readWebUrl,
  tokenDecimals: readTokenDecimals,
  text: (value, field) => (typeof value === 'string' ? value : JSON.stringify(readJson(value, field))),
  texts: (value, field) => asStrings(readJson(value, field)),
};
