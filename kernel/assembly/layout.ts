/**
 * Where each region lies in the memory of an instance. The host reads these addresses from the module's exports, so they
 * are written nowhere else. The page comes last, since its size differs from instance to instance.
 */

/** What a call returns beside its result: see page.ts and write.ts. */
export const RESULT: usize = 0xf000;
/** Tables of fields, one list of records after the other, as the host compiled them. */
export const TABLES: usize = 0x1_0000;
export const TABLES_END: usize = 0x2_0000;
/** The plan of the selection that is being written. */
export const PLAN: usize = 0x2_0000;
export const PLAN_END: usize = 0x4_0000;
/** The ids of chains by their names: a hash table, then its texts. */
export const CHAINS: usize = 0x4_0000;
export const CHAINS_END: usize = 0x5_0000;
/** One row an item: see rows.ts. */
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
