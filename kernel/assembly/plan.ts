/** Plans as the host compiles them: how many steps, then the steps. Each step writes its prefix, then what its kind says. */

export enum Step {
  /** The prefix alone. */
  literal,
  /** The JSON of a field, or null. */
  span,
  /** The JSON of a list, or an empty one. */
  list,
  /** A record, or null. */
  record,
  /** A list of records. */
  records,
  /** A list of records, or null. */
  recordsOrNull,
  /** The same record under a name: the node of an edge. */
  node,
  /** The cursor of the item. */
  cursor,
  /** The address that the list belongs to. */
  subject,
  globalId,
  chainId,
  word,
  /** An object of fields of the same record; null where each of some slots is. */
  view,
  /** Whether the slot has a value. */
  isNull,
  lowLiquidity,
}

export const STEPS: usize = 4;
export const STEP_BYTES: usize = 24;
export const STEP_KIND: usize = 0;
export const STEP_SLOT: usize = 4;
export const STEP_PREFIX: usize = 8;
export const STEP_PREFIX_LENGTH: usize = 12;
/** The plan of its records, or what a derived field is made of. */
export const STEP_DETAILS: usize = 16;
