/**
 * Where a page of a list begins: behind what its members name. The explorer makes them; `block_number` and `index` of any row do
 * as well. What is null is not sent, and means the same to the explorer.
 */
export type Cursor = Readonly<Record<string, string | number | boolean | null>>;

/** A place in a list: what comes later in the list has none that is greater. */
type Key = readonly [bigint, bigint];

/** The order of a list, the greatest first. What has no place is not compared. */
export type Order<Row> = {
  readonly of: (row: Row) => Key | null;
  /** The place that a cursor names. */
  readonly at: (cursor: Cursor) => Key | null;
};

/** By blocks, and by places within them. */
export const byBlock = <Row>(placeOf: (row: Row) => readonly [number, number]): Order<Row> => ({
  of(row) {
    const [block, index] = placeOf(row);
    return [BigInt(block), BigInt(index)];
  },
  at({ block_number, index }) {
    const [block, place] = [wholeIn(block_number), wholeIn(index)];
    return block === null || place === null ? null : [block, place];
  },
});

/** By amounts. Equal ones are in any order. */
export const byAmount = <Row>(amountOf: (row: Row) => bigint | null): Order<Row> => ({
  of: (row) => keyOf(amountOf(row)),
  at: ({ value }) => keyOf(wholeIn(value)),
});

const keyOf = (amount: bigint | null): Key | null => (amount === null ? null : [amount, 0n]);

const wholeIn = (member: Cursor[string] | undefined): bigint | null =>
  /^\d+$/.test(String(member)) ? BigInt(String(member)) : null;

/** Whether rows are in their order, and none comes before the cursor behind which they were asked for. */
export const isInOrder = <Row>(
  { of, at }: Order<Row>,
  rows: readonly Row[],
  cursor: Cursor | null,
): boolean => {
  let last = cursor === null ? null : at(cursor);
  for (const row of rows) {
    const place = of(row);
    if (place !== null && last !== null && isGreater(place, last)) return false;
    last = place ?? last;
  }
  return true;
};

const isGreater = ([one, oneIndex]: Key, [other, otherIndex]: Key): boolean =>
  one > other || (one === other && oneIndex > otherIndex);
