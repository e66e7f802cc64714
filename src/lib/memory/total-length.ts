/** The sum of the lengths, such as the bytes of several buffers. */
export const totalLength = (parts: readonly { readonly length: number }[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0);
