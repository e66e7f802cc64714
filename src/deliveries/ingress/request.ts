import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { collectBody } from '../../lib/buffers.ts';
import { messageOf } from '../../lib/errors.ts';
import { createFairMemory, type FairMemory, type HeldMemory } from '../../lib/memory-budget.ts';
import { Semaphore } from '../../lib/tasks.ts';
import { WEBHOOK_TYPES } from '../../upstream/parse/fields.ts';
import { int32Of, oneOf, smallIntegerOf, timeOf } from '../events/fields.ts';
import type { DeliveryType } from '../log/log.ts';

/** A delivery's headers; a field is null when its header is missing or malformed. */
export type DeliveryHeaders = {
  readonly webhookId: string | null;
  readonly type: DeliveryType | null;
  readonly chainId: number | null;
  readonly dispatchedAt: number | null;
  readonly attempt: number | null;
  /** Not decoded. */
  readonly signature: string | null;
};

/** In the order in which `readHeaders` reads them. A few comparisons cost less than a map, which interns each key. */
const SUFFIXES: readonly string[] = [
  'webhook-id',
  'webhook-type',
  'webhook-chain-id',
  'webhook-dispatch-timestamp',
  'webhook-retry-index',
  'webhook-signature',
];

const TYPES = { TRANSACTIONS: 'transactions', ACTIVITIES: 'activities', BALANCES: 'balances' } as const;

/**
 * Reads the headers by their suffix, because every deployment puts its own prefix before it. If two headers have one suffix,
 * the first counts. `signatureHeader` is the name, in lower case, of the header with the signature. Default: the one whose
 * name ends in `webhook-signature`.
 */
export const readHeaders = (
  headers: IncomingHttpHeaders,
  signatureHeader?: string | null | undefined,
): DeliveryHeaders => {
  const values: (string | undefined)[] = [];
  for (const name in headers) {
    const at = name.lastIndexOf('webhook-');
    if (at === -1 || (at > 0 && name[at - 1] !== '-')) continue;
    const field = SUFFIXES.indexOf(name.slice(at));
    const value = headers[name];
    if (field !== -1) values[field] ??= Array.isArray(value) ? value.join(', ') : value;
  }
  const [id, type, chainId, dispatchedAt, attempt, signature] = values;
  const typeName = oneOf(WEBHOOK_TYPES, type);
  const named = signatureHeader ? [headers[signatureHeader]].flat()[0] : signature;
  return {
    webhookId: uuidOf(id),
    type: typeName === null ? null : TYPES[typeName],
    chainId: smallIntegerOf(chainId),
    dispatchedAt: timeOf(dispatchedAt),
    attempt: int32Of(attempt),
    signature: named ?? null,
  };
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The UUID in lower case; null when the text is not a UUID. */
export const uuidOf = (text: string | null | undefined): string | null => {
  const uuid = text?.trim().toLowerCase() ?? '';
  return UUID.test(uuid) ? uuid : null;
};

const BYTES = 32;

/**
 * Whether `signature` is the HMAC-SHA256 of the body under one of `secrets`: hex or base64 (base64url too), with or without
 * the prefix `sha256=`. Upstream does not document whether it signs a compressed body before or after compression: either
 * is accepted.
 */
export const isSigned = (
  { sent, plain }: Pick<RequestBody, 'sent' | 'plain'>,
  signature: string | null,
  secrets: readonly string[],
): boolean => {
  const given = decode(signature ?? '');
  return matches(sent, given, secrets) || (plain !== sent && matches(plain, given, secrets));
};

/** Takes the same time whichever secret matches, or none. */
const matches = (body: Uint8Array, given: Buffer | null, secrets: readonly string[]): boolean => {
  const results = secrets.map((secret) =>
    timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given ?? Buffer.alloc(BYTES)),
  );
  return given !== null && results.includes(true);
};

const decode = (signature: string): Buffer | null => {
  const text = signature.trim().replace(/^sha256=/i, '');
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return null;
};

export type BodyLimits = { readonly maxBytes: number; readonly timeoutMs: number };

export type RequestBody = {
  /** The bytes that were sent. */
  readonly sent: Buffer;
  /** The body decompressed; `sent` itself if it was not compressed. */
  readonly plain: Buffer;
  /** Returns its memory, which counts until then. */
  release(): void;
};

const decompress = promisify(gunzip);

/**
 * What the large bodies of one tenant may use. One of 5 MB has to arrive twice as fast, to be complete within ten seconds.
 */
const LARGE_BODIES = { maxBytes: 64 * 1024 * 1024, stallMs: 250 };
/** Small bodies have a memory of their own, so that large ones can't keep them out. Most arrive in one piece. */
const SMALL_BODIES = { maxBytes: 16 * 1024 * 1024, stallMs: 20 };
const MAX_SMALL_BYTES = 64 * 1024;

/** Few bodies are decompressed at a time: their bytes count afterwards, and a bomb has a thousand times its size. */
const MAX_DECOMPRESSING = 4;

/** What the bodies that are being received share. */
export type BodyResources = {
  readonly memory: FairMemory;
  readonly decompressing: Semaphore;
  /** Resolves when the event loop has read from all connections that have something to read. */
  readonly afterReads: () => Promise<void>;
};

export const createBodyResources = (): BodyResources => {
  const small = createFairMemory(SMALL_BODIES);
  const large = createFairMemory(LARGE_BODIES);
  return {
    memory: { hold: (tenant, evict) => holdBySize(small, large, tenant, evict) },
    decompressing: new Semaphore(MAX_DECOMPRESSING),
    afterReads: createAfterReads(),
  };
};

/** All callers of a turn share one promise and one callback. */
const createAfterReads = (): (() => Promise<void>) => {
  let reads: Promise<void> | null = null;
  return () => {
    reads ??= new Promise((resolve) => {
      setImmediate(() => {
        reads = null;
        resolve();
      });
    });
    return reads;
  };
};

/** Holds a body as a small one, and as a large one from the byte on that makes it large. */
const holdBySize = (small: FairMemory, large: FairMemory, tenant: string, evict?: () => void): HeldMemory => {
  let memory = small.hold(tenant, evict);
  let held = 0;
  let isLarge = false;
  let hasArrived = false;
  return {
    tryGrow(bytes) {
      let added = bytes;
      if (!isLarge && held + bytes > MAX_SMALL_BYTES) {
        isLarge = true;
        added += held;
        memory.release();
        memory = large.hold(tenant, hasArrived ? undefined : evict);
      }
      held += bytes;
      return memory.tryGrow(added);
    },
    arrived() {
      hasArrived = true;
      memory.arrived();
    },
    release: () => memory.release(),
  };
};

/**
 * Reads and decompresses the body, and holds its memory until it is released. Rejects with an IngressError:
 * - 415: neither plain nor gzip; 413: larger than `maxBytes`, as sent or decompressed. The rest of the body is not read.
 * - 408: not complete within `timeoutMs`; 400: incomplete, or not the gzip that the header claims.
 * - 503, an OutOfMemoryError: there is no memory left, or the body stalled and others needed its memory.
 */
export const readRequestBody = async (
  request: IncomingMessage,
  tenant: string,
  limits: BodyLimits,
  { memory, decompressing, afterReads }: BodyResources,
): Promise<RequestBody> => {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'identity')
    throw new IngressError(415, 'expected a body that is plain or gzip, got another Content-Encoding', {
      'accept-encoding': 'gzip',
    });
  if (Number(request.headers['content-length'] ?? 0) > limits.maxBytes) throw tooLarge(limits.maxBytes);
  // By then Node has handed over what came with the head, which is the whole of most bodies.
  await afterReads();
  const { sent, held } =
    request.complete && !request.destroyed
      ? takeWhole(request, tenant, limits, memory)
      : await collect(request, tenant, limits, memory);
  if (!isGzip) return { sent, plain: sent, release: held.release };
  try {
    const plain = await decompressing.run(tenant, () => decompressWithin(sent, limits.maxBytes));
    if (!held.tryGrow(plain.length)) throw new OutOfMemoryError();
    return { sent, plain, release: held.release };
  } catch (error) {
    held.release();
    throw error;
  }
};

type HeldBody = { readonly sent: Buffer; readonly held: HeldMemory };

/** Takes a body that has arrived completely, so it needs no timer and is never evicted. */
const takeWhole = (
  request: IncomingMessage,
  tenant: string,
  { maxBytes }: BodyLimits,
  memory: FairMemory,
): HeldBody => {
  const chunks: Buffer[] = [];
  // A call returns one of the pieces that have arrived.
  for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk);
  const sent = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  if (sent.length > maxBytes) throw tooLarge(maxBytes);
  const held = memory.hold(tenant);
  if (held.tryGrow(sent.length)) return { sent, held };
  held.release();
  throw new OutOfMemoryError();
};

/** Collects a body that is still arriving. */
const collect = async (
  request: IncomingMessage,
  tenant: string,
  { maxBytes, timeoutMs }: BodyLimits,
  memory: FairMemory,
): Promise<HeldBody> => {
  let size = 0;
  const onChunk = ({ length }: Buffer): void => {
    size += length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    if (!held.tryGrow(length)) throw new OutOfMemoryError();
  };
  const incomplete = () => new IngressError(400, 'expected a complete body, got a part of it');
  const { body, stop } = collectBody(request, onChunk, incomplete);
  const held = memory.hold(tenant, () => stop(new OutOfMemoryError()));
  const onTimeout = () =>
    stop(new IngressError(408, `expected a complete body within ${timeoutMs} ms, got a part of it`));
  const timer = setTimeout(onTimeout, timeoutMs);
  try {
    const sent = await body;
    held.arrived();
    return { sent, held };
  } catch (error) {
    held.release();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

const decompressWithin = async (sent: Buffer, maxBytes: number): Promise<Buffer> => {
  try {
    return await decompress(sent, { maxOutputLength: maxBytes });
  } catch (error) {
    const isBomb = error instanceof RangeError;
    throw isBomb
      ? tooLarge(maxBytes)
      : new IngressError(
          400,
          `expected a gzip body, got one that can not be decompressed: ${messageOf(error)}`,
        );
  }
};

const tooLarge = (maxBytes: number) =>
  new IngressError(413, `expected a body of at most ${maxBytes} bytes, got a larger one`);

/** Writes the status and the headers of a response, whose names are in lower case. */
export type WriteHead = (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
) => void;

/** A refused delivery: the HTTP status, and `message` as the error of the JSON body. */
export class IngressError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'IngressError';
    this.status = status;
    this.headers = headers;
  }
}

const RETRY_AFTER_S = 5;

/** 503 with Retry-After: a later attempt may succeed. */
export class UnavailableError extends IngressError {
  constructor() {
    super(503, 'deliveries can not be stored now: try again later', { 'retry-after': String(RETRY_AFTER_S) });
    this.name = 'UnavailableError';
  }
}

/** There was no memory for the body. */
export class OutOfMemoryError extends UnavailableError {
  constructor() {
    super();
    this.name = 'OutOfMemoryError';
  }
}

/**
 * Sends the error, and discards the rest of the body. Where that has not arrived, it is the connection's last response: the
 * server closes the connection, with a delay in which the sender can read the response.
 */
export const sendError = (
  request: IncomingMessage,
  response: ServerResponse,
  error: IngressError,
  writeHead: WriteHead,
): void => {
  // The shutdown has answered already.
  if (response.headersSent) return;
  const body = JSON.stringify({ error: error.message });
  writeHead(response, error.status, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...error.headers,
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(body);
  request.resume();
};
