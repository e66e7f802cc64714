import type { Indexed } from '../../log/terms.ts';
import { type Row, readAddresses } from '../row.ts';

/** The columns of a delivery that a filter can ask for. */
export const indexedColumns = ({ webhook, type, chain, addresses }: Row): Indexed => ({
  webhookId: webhook === null ? null : String(webhook),
  type: type === null ? null : String(type),
  chainId: chain === null ? null : Number(chain),
  addresses: readAddresses(String(addresses)).addresses,
});

const ADDRESS_LENGTH = '0x '.length + 40;

/** Returns an upper bound of the number of terms of a delivery with these addresses. */
export const maxTermsOf = (addresses: string): number => 3 + Math.ceil(addresses.length / ADDRESS_LENGTH);

const POSTING_BYTES = 4;

/** Encodes the posting list of one term: the distance of each sequence from its segment's first, in 4 bytes each. */
export const packPostings = (sequences: readonly number[], first: number): Uint8Array =>
  new Uint8Array(Uint32Array.from(sequences, (sequence) => sequence - first).buffer);

/** Decodes a posting list: the distances from the segment's first sequence, in ascending order. */
export const unpackPostings = (bytes: Uint8Array): Uint32Array =>
  // A Uint32Array must begin at a multiple of 4, and SQLite's bytes may begin anywhere.
  bytes.byteOffset % POSTING_BYTES === 0
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / POSTING_BYTES)
    : new Uint32Array(bytes.slice().buffer);
