import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { fingerprintOf, identityOf, identityPrefix, UNKNOWN } from '../log/cursor.ts';
import { LogDamagedError } from '../log/errors.ts';
import { DELIVERY_TYPES, type NewDelivery, type StoredDelivery, termsOf } from '../log/log.ts';
import {
  DOUBLE_BYTES,
  FIXED_BYTES,
  FLAGS_AT,
  HAS_CHAIN,
  HAS_WEBHOOK,
  IDENTITY_BYTES,
  MARK_BYTES,
  RECEIVED_AT,
  SIZE_AT,
  UUID_BYTES,
} from './layout.ts';
import { packTerms } from './search.ts';

/**
 * What the bodies of deliveries have in common: the names of fields in their order, and usual values. It saves about a
 * third of a compressed body. It must never change, since stored bodies are read with it: a better one needs a flag of its
 * own in the header of entries.
 */
const BALANCE_CHANGES =
  '{"balance_changes":[{"amount_before":"0","amount_after":"1000000000000000000","amount_delta":"1000000000000000000",' +
  '"asset":{"token_address":"0x","symbol":"USDC","name":"USD Coin","decimals":18,"low_liquidity":false,"pool_size_usd":0,' +
  '"token_metadata":{"logo":"https://"}},"counterparty_address":"0x","subscribed_address":"0x","direction":"out",' +
  '"direction":"in","price_usd":null,"transaction_hash":"0x","value_before_usd":null,"value_after_usd":null,' +
  '"value_delta_usd":null},{"amount_before":"';

const TRANSACTIONS =
  '{"transactions":[{"address":"0x","block_hash":"0x","block_number":20000000,"block_time":"2026-01-01T00:00:00+00:00",' +
  '"chain":"arbitrum","chain":"optimism","chain":"polygon","chain":"base","chain":"bnb","chain":"ethereum","chain_id":1,' +
  '"data":"0xa9059cbb000000000000000000000000","decoded":{"name":"approve","name":"transferFrom","name":"transfer",' +
  '"inputs":[{"name":"spender","type":"address","value":"0x"},{"name":"tokenId","type":"uint256","value":"0"},' +
  '{"name":"to","type":"address","value":"0x"},{"name":"value","type":"uint256","value":"1000000000000000000"}]},' +
  '"effective_gas_price":"0x","from":"0x","gas_price":"0x","gas_used":"0xc350","hash":"0x","index":0,"logs":[],' +
  '"logs":[{"address":"0x","data":"0x0000000000000000000000000000000000000000000000000000000000000000","topics":[' +
  '"0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",' +
  '"0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef","0x000000000000000000000000",' +
  '"0x000000000000000000000000"],"decoded":{"name":"Approval","name":"Transfer","inputs":[{"name":"from","type":"address",' +
  '"value":"0x"},{"name":"to","type":"address","value":"0x"},{"name":"value","type":"uint256","value":"0"}]}}],' +
  '"nonce":"0x","success":true,"to":"0x","transaction_type":"Sender","transaction_type":"Receiver","value":"0x0"}]}';

const ACTIVITIES =
  '{"activities":[{"chain_id":1,"block_number":20000000,"block_time":"2026-01-01T00:00:00+00:00","tx_hash":"0x",' +
  '"tx_from":"0x","tx_to":"0x","tx_value":"0","type":"approve","type":"mint","type":"burn","type":"swap","type":"call",' +
  '"type":"send","type":"receive","asset_type":"native","asset_type":"erc721","asset_type":"erc1155","asset_type":"erc20",' +
  '"token_address":"0x","id":"0","value":"1000000000000000000","token_metadata":{"symbol":"USDC","decimals":18,' +
  '"name":"USD Coin","logo":"https://","price_usd":0.9998,"pool_size":1000000,"standard":"erc20"},"value_usd":1.0,' +
  '"spender":"0x","to":"0x","from":"0x"},{"chain_id":1,"block_number":2';

/** What is nearest to the end is referred to with the fewest bits, so the most frequent bodies come last. */
const DICTIONARY = Buffer.from(BALANCE_CHANGES + TRANSACTIONS + ACTIVITIES);

/**
 * A delivery as an entry of the stream: its header, which is everything but the body, in about 80 bytes, and its body.
 * Numbers are big-endian. The scripts read the first four fields, which have fixed places (layout.ts), and the chain:
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

const INDEX_BYTES = 4;
const ADDRESS_BYTES = 20;
const NO_ADDRESS = 0xffff_ffff;

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
  header.writeDoubleBE(receivedAt, RECEIVED_AT);
  header.writeUInt32BE(delivery.body.byteLength, SIZE_AT);
  header[FLAGS_AT] =
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
  const flags = header[FLAGS_AT] ?? 0;
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
    identity: header.subarray(0, IDENTITY_BYTES),
    size: sizeIn(header),
    isCompressed: (flags & IS_COMPRESSED) !== 0,
    webhookId,
    type: DELIVERY_TYPES[(flags >> TYPE_SHIFT) - 1] ?? null,
    chainId,
    receivedAt: header.readDoubleBE(RECEIVED_AT),
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

/** The fingerprint of a mark; UNKNOWN for one that is empty or malformed. */
export const fingerprintIn = (mark: Buffer): number =>
  mark.length < MARK_BYTES
    ? UNKNOWN
    : fingerprintOf(mark.subarray(0, IDENTITY_BYTES), mark.readDoubleBE(RECEIVED_AT));

/** The size of the body before it was compressed. */
export const sizeIn = (header: Buffer): number =>
  header.length < FLAGS_AT ? 0 : header.readUInt32BE(SIZE_AT);
