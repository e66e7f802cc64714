import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { LogDamagedError } from '../log/errors.ts';
import { fingerprintOf, identityOf, identityPrefix } from '../log/identity.ts';
import { DELIVERY_TYPES, type NewDelivery, type StoredDelivery } from '../log/log.ts';
import { termsOf } from '../log/terms.ts';
import { DICTIONARY } from './dictionary.ts';
import { packTerms } from './postings.ts';

/**
 * A delivery as an entry of the stream: its header, which is everything but the body, in about 80 bytes, and its body.
 * Numbers are big-endian, so that the scripts can read the first three fields, which have fixed places:
 *
 *     0  identity, 16 bytes
 *    16  receivedAt, a double
 *    24  the size of the body before it was compressed, 4 bytes
 *    28  flags, and the type
 *    29  webhookId (16 bytes), chainId, dispatchedAt, attempt (a double each): those that are not null
 *        the index of the subscribed address, 4 bytes; the addresses, 20 bytes each
 */
export type Entry = {
  readonly header: Buffer;
  readonly body: Buffer;
  /** What the index has of it, which is not in the stream: see `packTerms`. */
  readonly terms: Buffer;
};

const FIXED_BYTES = 29;
const UUID_BYTES = 16;
const DOUBLE_BYTES = 8;
const INDEX_BYTES = 4;
const ADDRESS_BYTES = 20;
const NO_ADDRESS = 0xffff_ffff;

const HAS_WEBHOOK = 1;
const HAS_CHAIN = 2;
const HAS_DISPATCHED = 4;
const HAS_ATTEMPT = 8;
const IS_COMPRESSED = 16;
/** The type's place in DELIVERY_TYPES, from 1 on; 0 for none. */
const TYPE_SHIFT = 5;

/** A smaller body gains nothing. */
const MIN_COMPRESSED_BYTES = 128;
/** A larger one goes to a thread. To compress so much takes about as long as to pass it there and back. */
const MAX_INLINE_BYTES = 32_768;

/** With the dictionary, deflate at its fastest level made bodies smaller than zstd did, in less time. */
const DEFLATE = { dictionary: DICTIONARY, level: 1, windowBits: 13, memLevel: 5 };

/** zlib allocates its output in chunks. One of about the right size is less work for the garbage collector. */
const optionsFor = (outputBytes: number) => ({
  ...DEFLATE,
  chunkSize: Math.min(65_536, Math.max(256, outputBytes)),
});

const compress = async (body: Buffer): Promise<Buffer> => {
  const options = optionsFor(body.byteLength >> 1);
  return body.byteLength <= MAX_INLINE_BYTES ? deflateRawSync(body, options) : deflateInThread(body, options);
};
const decompress = async (body: Buffer, size: number): Promise<Buffer> => {
  const options = optionsFor(size);
  return size <= MAX_INLINE_BYTES ? inflateRawSync(body, options) : inflateInThread(body, options);
};

const deflateInThread = promisify<Buffer, object, Buffer>(deflateRaw);
const inflateInThread = promisify<Buffer, object, Buffer>(inflateRaw);

/** Compresses the body where that saves an eighth of it. */
export const entryOf = async (delivery: NewDelivery): Promise<Entry> => {
  const body = Buffer.from(delivery.body.buffer, delivery.body.byteOffset, delivery.body.byteLength);
  const identity = identityOf(Buffer.concat([Buffer.from(identityPrefix(delivery.webhookId)), body]));
  const small = body.byteLength < MIN_COMPRESSED_BYTES ? body : await compress(body);
  const isCompressed = small.byteLength <= body.byteLength * 0.875;
  return {
    header: headerOf(delivery, identity, isCompressed),
    body: isCompressed ? small : body,
    terms: packTerms(termsOf(delivery)),
  };
};

const headerOf = (delivery: NewDelivery, identity: Buffer, isCompressed: boolean): Buffer => {
  const { webhookId, type, chainId, receivedAt, dispatchedAt, attempt, addresses } = delivery;
  const numbers = [chainId, dispatchedAt, attempt];
  const hasNumber = numbers.map((number) => number !== null);
  const size =
    FIXED_BYTES +
    (webhookId === null ? 0 : UUID_BYTES) +
    DOUBLE_BYTES * hasNumber.filter(Boolean).length +
    INDEX_BYTES +
    ADDRESS_BYTES * addresses.length;
  const header = Buffer.alloc(size);
  identity.copy(header);
  header.writeDoubleBE(receivedAt, 16);
  header.writeUInt32BE(delivery.body.byteLength, 24);
  header[28] =
    (webhookId === null ? 0 : HAS_WEBHOOK) |
    (hasNumber[0] ? HAS_CHAIN : 0) |
    (hasNumber[1] ? HAS_DISPATCHED : 0) |
    (hasNumber[2] ? HAS_ATTEMPT : 0) |
    (isCompressed ? IS_COMPRESSED : 0) |
    ((type === null ? 0 : DELIVERY_TYPES.indexOf(type) + 1) << TYPE_SHIFT);
  let at = FIXED_BYTES;
  if (webhookId !== null) at += header.write(webhookId.replaceAll('-', ''), at, 'hex');
  for (const number of numbers) if (number !== null) at = header.writeDoubleBE(number, at);
  const subscribed = delivery.subscribedAddress === null ? -1 : addresses.indexOf(delivery.subscribedAddress);
  at = header.writeUInt32BE(subscribed === -1 ? NO_ADDRESS : subscribed, at);
  for (const address of addresses) at += header.write(address.slice(2), at, 'hex');
  return header;
};

/** What a filter asks of a delivery, and what a header has beside it. */
export type Header = Omit<StoredDelivery, 'tenant' | 'sequence' | 'cursor' | 'body'> & {
  readonly identity: Buffer;
  /** Of the body before it was compressed. */
  readonly size: number;
  readonly isCompressed: boolean;
};

/** Throws LogDamagedError for a header that `entryOf` has not made. */
export const readHeader = (header: Buffer): Header => {
  try {
    return fieldsIn(header);
  } catch (error) {
    throw new LogDamagedError('the header of a delivery is malformed', error);
  }
};

const fieldsIn = (header: Buffer): Header => {
  const flags = header[28] ?? 0;
  let at = FIXED_BYTES;
  const webhookId = flags & HAS_WEBHOOK ? uuidIn(header.subarray(at, at + UUID_BYTES)) : null;
  if (webhookId !== null) at += UUID_BYTES;
  const number = (flag: number): number | null => {
    if (!(flags & flag)) return null;
    at += DOUBLE_BYTES;
    return header.readDoubleBE(at - DOUBLE_BYTES);
  };
  const chainId = number(HAS_CHAIN);
  const dispatchedAt = number(HAS_DISPATCHED);
  const attempt = number(HAS_ATTEMPT);
  const subscribed = header.readUInt32BE(at);
  const addresses: string[] = [];
  for (at += INDEX_BYTES; at < header.length; at += ADDRESS_BYTES)
    addresses.push(`0x${header.toString('hex', at, at + ADDRESS_BYTES)}`);
  return {
    identity: header.subarray(0, 16),
    size: sizeIn(header),
    isCompressed: (flags & IS_COMPRESSED) !== 0,
    webhookId,
    type: DELIVERY_TYPES[(flags >> TYPE_SHIFT) - 1] ?? null,
    chainId,
    receivedAt: header.readDoubleBE(16),
    dispatchedAt,
    attempt,
    addresses,
    subscribedAddress: addresses[subscribed] ?? null,
  };
};

const uuidIn = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Rejects with LogDamagedError when the body is not the one that was stored. */
export const readBody = async (
  sequence: number,
  { identity, size, isCompressed, webhookId }: Header,
  stored: Buffer,
): Promise<Buffer> => {
  const damaged = () => new LogDamagedError(`the body of delivery ${sequence} is not what was stored`);
  const body = isCompressed
    ? await decompress(stored, size).catch(() => {
        throw damaged();
      })
    : stored;
  if (!identityOf(Buffer.concat([Buffer.from(identityPrefix(webhookId)), body])).equals(identity))
    throw damaged();
  return body;
};

/** A mark is the beginning of a header: the identity and the time. Null for one that is empty or malformed. */
export const fingerprintIn = (mark: Buffer): number | null =>
  mark.length < 24 ? null : fingerprintOf(mark.subarray(0, 16), mark.readDoubleBE(16));

/** The size of the body before it was compressed. */
export const sizeIn = (header: Buffer): number => (header.length < 28 ? 0 : header.readUInt32BE(24));
