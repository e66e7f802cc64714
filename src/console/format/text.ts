/** `0x1234…cdef`: enough to recognise an address or a hash. */
export const shortHex = (hex: string): string =>
  hex.length > 13 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;

/** Cuts a text that the service sent, which may have any length. */
export const shorten = (text: string, most = 80): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** `base_sepolia` as `base sepolia`, `swapETHForTokens` as `swap eth for tokens`. */
export const inWords = (name: string): string =>
  name
    .replace(/_/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase();
