import { keccak256 } from 'ox/Hash';
import { fromString } from 'ox/Hex';
import type { Hex } from '../types.ts';

/** The keccak-256 of a text's UTF-8 bytes. */
export const hashOf = (label: string): Hex => keccak256(fromString(label));

/** A made-up address without a private key, always the same for one label. */
export const addressOf = (label: string): Hex => `0x${hashOf(label).slice(-40)}`;

export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;

/**
 * Parses an address to lower case; null when the text is not 0x and 40 hex digits. Any case is accepted, checksum or
 * not.
 */
export const parseAddress = (text: string): Hex | null =>
  /^0x[0-9a-f]{40}$/i.test(text) ? `0x${text.slice(2).toLowerCase()}` : null;
