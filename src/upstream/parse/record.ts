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
  /** Any JSON whose numbers and booleans become strings, also in lists of lists. Objects stay unchanged. */
  | 'texts';

/** One value. Unless it is required, an absent field and null are null. */
type ScalarField = {
  /** The field's name on the wire. */
  readonly from: string;
  readonly kind: FieldKind;
  readonly required: boolean;
};

/** A list of values; an absent field and null are an empty one. */
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
export type RecordsField = {
  readonly from: string;
  readonly records: RecordTable;
  /**
   * - `strict`: absent and null are an empty list. Any other value, and an item that is no object, is malformed.
   * - `skipOthers`: as `strict`, but items that are no objects are left out.
   * - `lenient`: anything but a list is an empty one. Items that are no objects are left out.
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
