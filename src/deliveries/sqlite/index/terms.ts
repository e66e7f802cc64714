import type { DeliveryFilter, DeliveryType } from '../../log/log.ts';
import { type Row, readAddresses } from '../row.ts';

/** The columns of a delivery that a filter can ask for. */
export type IndexedColumns = {
  readonly webhookId: string | null;
  readonly type: string | null;
  readonly chainId: number | null;
  /** See `writeAddresses`. */
  readonly addresses: string;
};

export const indexedColumns = ({ webhook, type, chain, addresses }: Row): IndexedColumns => ({
  webhookId: webhook === null ? null : String(webhook),
  type: type === null ? null : String(type),
  chainId: chain === null ? null : Number(chain),
  addresses: String(addresses),
});

const webhookTerm = (id: string) => `webhook ${id}`;
const typeTerm = (type: DeliveryType | string) => `type ${type}`;
const chainTerm = (id: number) => `chain ${id}`;

/** Returns the terms of a delivery, each once: its webhook, type and chain, and each address as it is. */
export const termsOf = ({ webhookId, type, chainId, addresses }: IndexedColumns): Set<string> => {
  const terms = new Set(readAddresses(addresses).addresses);
  if (webhookId !== null) terms.add(webhookTerm(webhookId));
  if (type !== null) terms.add(typeTerm(type));
  if (chainId !== null) terms.add(chainTerm(chainId));
  return terms;
};

const ADDRESS_LENGTH = '0x '.length + 40;

/** Returns an upper bound of the number of terms of a delivery with these addresses. */
export const maxTermsOf = (addresses: string): number => 3 + Math.ceil(addresses.length / ADDRESS_LENGTH);

/** Returns a list of terms for each field of the filter. A delivery matches if it has at least one term of each list. */
export const queryTerms = ({ address, webhookIds, chainIds, types }: DeliveryFilter): string[][] => {
  const lists = [
    address && [address],
    webhookIds?.map(webhookTerm),
    chainIds?.map(chainTerm),
    types?.map(typeTerm),
  ];
  return lists.filter((list) => Array.isArray(list));
};

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
