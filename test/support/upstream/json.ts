/** JSON in which a bigint becomes a number with all its digits: what services send and JSON.stringify can't write. */
export const toJson = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `bigint:${part}` : part)).replace(
    /"bigint:(-?\d+)"/g,
    '$1',
  );
