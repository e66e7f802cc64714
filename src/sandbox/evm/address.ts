import { keccak256 } from 'ox/Hash';
import { fromString } from 'ox/Hex';
import type { Hex } from '../types.ts';

/** The keccak-256 of a text's UTF-8 bytes. */
export const hashOf = (label: string): Hex => keccak256(fromString(label));

/** An address that is nobody's key, always the same for one label. */
export const addressOf = (label: string): Hex => `0x${hashOf(label).slice(-40)}`;

export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;

/** The address in lower case; null when it is not 0x and 40 hex digits. Any case is accepted, checksum or not. */
export const parseAddress = (text: string): Hex | null =>
  /^0x[0-9a-f]{40}$/i.test(text) ? `0x${text.slice(2).toLowerCase()}` : null;
