import type { Hex } from '../types.ts';

export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;

/**
 * Parses an address to lower case; null when the text is not 0x and 40 hex digits. Any case is accepted, checksum or
 * not.
 */
export const parseAddress = (text: string): Hex | null =>
  /^0x[0-9a-f]{40}$/i.test(text) ? `0x${text.slice(2).toLowerCase()}` : null;
