/** What a step of a plan writes: see layout.ts. */

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
  /** What is known of the record's chain, or what the record says itself. */
  chainFact,
}
