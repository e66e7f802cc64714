/** The name of a value as labels and attributes have it: `stale_if_error` for `staleIfError`. */
export const inSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
