/**
 * What lies where in the memory of the kernel: numbers that the host and kernel/assembly/ share. AssemblyScript compiles this
 * file as well. `npm run check` fails while the kernel is built of other ones.
 */

// Regions. The page comes last, since its size differs from instance to instance.

/** What a call returns beside its result. */
export const RESULT: usize = 0xf000;
/** Tables of fields, one list of records after the other, as the host compiled them. */
export const TABLES: usize = 0x1_0000;
export const TABLES_END: usize = 0x2_0000;
/** The plan of the selection that is being written. */
export const PLAN: usize = 0x2_0000;
export const PLAN_END: usize = 0x4_0000;
/** Chains by their names and by their ids: a hash table, then its texts. */
export const CHAINS: usize = 0x4_0000;
export const CHAINS_END: usize = 0x5_0000;
/** One row an item. */
export const ROWS: usize = 0x5_0000;
export const ROWS_END: usize = 0x7_0000;
/** A hash table of the identities on the page. */
export const IDENTITIES: usize = 0x7_0000;
export const IDENTITIES_END: usize = 0x8_0000;
/** A hash table of the names that the tables do not know. */
export const NAMES: usize = 0x8_0000;
export const NAMES_END: usize = 0x10_0000;
/** Texts that the host gives for one call: the list's address, the cursors of edges. */
export const TEXTS: usize = 0x10_0000;
export const TEXTS_END: usize = 0x14_0000;
/** What a call of `write` writes. */
export const OUTPUT: usize = 0x14_0000;
export const OUTPUT_END: usize = 0x24_0000;
/** The page: its body, PADDING zero bytes, then records and side texts; its rows follow when the page is kept. */
export const PAGE: usize = 0x25_0000;

/** Zero bytes behind a body: no scan runs beyond the first of them, and no load of 16 or 32 bytes beyond the last. */
export const PADDING: usize = 64;

// A span: where bytes lie, and how many these are.

export const SPAN_LENGTH: usize = 4;
export const SPAN_BYTES: usize = 8;

// A list: its table, the slot of its time or 0, the slots of its identity, of which the last is followed by 0; then the names
// of the page's members as fields, first that of the list of items.

export const LIST_TABLE: usize = 0;
export const LIST_TIME: usize = 4;
export const LIST_IDENTITY: usize = 8;
export const MAX_IDENTITY: usize = 4;
export const LIST_MEMBERS: usize = 32;
export const MEMBERS: u32 = 6;

// A table: how many fields, the bytes of a record, the bits of required fields, of those that make it present; the guess of
// the first field; then the fields.

export const COUNT: usize = 0;
export const RECORD_BYTES: usize = 4;
export const REQUIRED_BITS: usize = 8;
export const PRESENT_BITS: usize = 12;
export const FIRST: usize = 16;
export const FIELDS: usize = 32;

// A field: its name in quotes comes first, then the name's length, and the bits of its first 16 bytes.

export const FIELD_BYTES: usize = 64;
export const NAME_LENGTH: usize = 32;
export const NAME_BITS: usize = 36;
export const KIND: usize = 40;
export const IS_REQUIRED: usize = 44;
/** The table of its records. */
export const TABLE: usize = 48;
/** Where its slot lies in a record. */
export const SLOT_OFFSET: usize = 52;
export const BIT: usize = 56;
/** The guess of the field after it. */
export const NEXT: usize = 60;

// A record: a link to the next record of its list, then a slot for each field of its table. A slot is the span of the field's
// JSON; of a record, where it is; of a list of records, where the first is, and IS_LIST. Zero stands for null.

export const SLOTS: usize = 4;
export const SLOT_BYTES: usize = 8;
/** The second word of the slot of a list: it tells an empty list from null. */
export const IS_LIST: u32 = 1;

// A row: where the item's JSON lies, its record, whether it is odd, its time, and a hash of its identity.

export const ROW_BYTES: usize = 32;
export const ROW_START: usize = 0;
export const ROW_END: usize = 4;
export const ROW_RECORD: usize = 8;
export const ROW_IS_ODD: usize = 12;
/** Milliseconds since 1970, as a float of eight bytes. */
export const ROW_TIME: usize = 16;
export const ROW_HASH: usize = 24;

// RESULT of `index`: the end of the heap, whether identities may repeat, and the spans of the members.

export const RESULT_HEAP_END: usize = 0;
export const RESULT_REPEATS: usize = 4;
export const RESULT_MEMBERS: usize = 8;

// RESULT of `write`: the end of the output, and why it ends there.

export const RESULT_OUTPUT_END: usize = 0;
export const RESULT_STOP: usize = 4;

export const DONE: u32 = 0;
/** The output has no room for the item: it is written by the next call. */
export const FULL: u32 = 1;
/** The item is left to the object writer. */
export const ODD: u32 = 2;

// TEXTS for `write`: the address in quotes as a span, then the spans of the cursors of the items that are written.

export const TEXTS_CURSORS: usize = 8;

// A plan: how many steps, then the steps. Each step writes its prefix, then what its kind says of its slot.

export const STEPS: usize = 4;
export const STEP_BYTES: usize = 24;
export const STEP_KIND: usize = 0;
export const STEP_SLOT: usize = 4;
/** A span. */
export const STEP_PREFIX: usize = 8;
/** The plan of its records, or what a derived field is made of. */
export const STEP_DETAILS: usize = 16;

// Details of a view: its plan, how many conditions make it present and how many absent, then these conditions: a slot, which
// must have a value, and the span of the JSON that it must be, unless that is empty.

export const VIEW_PLAN: usize = 0;
export const VIEW_PRESENT: usize = 4;
export const VIEW_ABSENT: usize = 8;
export const VIEW_CONDITIONS: usize = 12;
export const CONDITION_WANTED: usize = 4;
export const CONDITION_BYTES: usize = 12;

// Details of a global id: the span of its type with a colon, how many parts, the span of the JSON for a part that is null,
// then the slots of the parts.

export const ID_TYPE: usize = 0;
export const ID_PARTS: usize = 8;
export const ID_NULL: usize = 12;
export const ID_SLOTS: usize = 20;
/** In place of a slot: the list's address. */
export const SUBJECT_SLOT: u32 = 0xffff_ffff;
/** In place of a slot: a property that the record does not have. */
export const NO_SLOT: u32 = 0xffff_fffe;

// Details of low liquidity: the slots of what upstream says of it, of the pool's size in dollars, and of the token's address.

export const LIQUIDITY_STATED: usize = 0;
export const LIQUIDITY_POOL_SIZE: usize = 4;
export const LIQUIDITY_TOKEN: usize = 8;
export const LIQUIDITY_BYTES: usize = 12;

// Details of a chain's id: the slot of its name. CHAINS has a mask, then the entries of a hash table: the span of a name in
// quotes, and that of its id; or the span of an id, and those of the JSON of what is known of the chain, empty where it is not.

export const CHAIN_NAME_SLOT: usize = 0;
export const CHAIN_ENTRIES: usize = 4;
export const CHAIN_ENTRY_VALUES: usize = 8;
export const CHAIN_ENTRY_BYTES: usize = 48;

// Details of what is known of a chain: the slots of the chain's id, of the token's address, without which it applies to every
// record, and of what the record says itself; then where the value lies in the chain's entry.

export const FACT_CHAIN: usize = 0;
export const FACT_TOKEN: usize = 4;
export const FACT_OWN: usize = 8;
export const FACT_VALUE: usize = 12;
export const FACT_BYTES: usize = 16;

// Details of a word: whether only letters and digits count, how many words there are, then their spans, without quotes.

export const WORD_IS_COMPACT: usize = 0;
export const WORD_COUNT: usize = 4;
export const WORD_SPANS: usize = 8;

// How the host writes a number: as the exact parser reads it, as its text, as the nearest float, or as a decimal without an
// exponent.

export const EXACT: u32 = 0;
export const EXACT_TEXT: u32 = 1;
export const FLOAT: u32 = 2;
export const DECIMAL: u32 = 3;
