import { isObject, type RawObject } from '../../lib/json/raw-object.ts';
import { oneOf, TRANSACTION_SIDES } from './enums.ts';
import {
  malformed,
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
} from './fields.ts';
import type { FieldKind, RecordsField, RecordTable, RecordValue, TableField } from './record.ts';

/**
 * The plain reader of a table: it reads a record of parsed JSON. It throws MalformedFieldError for the record's first
 * malformed field.
 */
export const readRecord = <Table extends RecordTable>(
  table: Table,
): ((raw: RawObject) => RecordValue<Table>) => {
  const fields = Object.entries(table.fields);
  const readers = fields.map(([, field]) => readerOf(field));
  const members = fields.map(([property, field], index) => `${quote(property)}: ${readingOf(field, index)}`);
  // A loop over the table takes half as long again: engines optimize an object literal and names that are constant.
  return new Function('read', `return (raw) => ({ ${members} });`)(readers);
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

/** Converts numbers and booleans to strings, also in lists of lists. Objects stay unchanged. */
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
