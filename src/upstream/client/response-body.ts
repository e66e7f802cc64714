import type { Dispatcher } from 'undici';
import { JsonSize } from '../../lib/json/size-scanner.ts';
import type { MemoryBudget, Reservation } from '../../lib/memory-budget.ts';
import type { Semaphore } from '../../lib/semaphore.ts';
import { UpstreamError } from './errors.ts';

type Body = Dispatcher.ResponseData['body'];

const MAX_BYTES = 32 * 1024 * 1024;
/** Upstream's largest page has fewer. A JSON value of three bytes may take twenty times as many once it is parsed. */
const MAX_VALUES = 1_000_000;
/** Smaller bodies can't have so many values that they need to be counted. */
const COUNTED_FROM_BYTES = 1024 * 1024;
/** The body of an error response is read up to this size, which is enough for its message. */
const MAX_ERROR_BYTES = 64 * 1024;
/** The size from which bodies are received and parsed one at a time. No page that keeps the contract is so large. */
const LARGE_BYTES = 8 * 1024 * 1024;

const NOTHING = Buffer.alloc(0);

const utf8 = new TextDecoder();

/** The limits that all bodies share which are being received. */
export type BodyLimits = {
  /** Limits the bytes that have been received. */
  readonly memory: MemoryBudget;
  /** Limits the large bodies, since each takes several times its size while it is parsed. */
  readonly large: Semaphore;
};

/** A parsed body, and its size in bytes. */
type ParsedBody<Value> = { readonly value: Value; readonly bytes: number };

/**
 * Resolves with the result of `parse` for the whole body's bytes. The body is checked as it arrives, and no more of it is read
 * after a failure. Rejects with UpstreamError `invalidResponse` for more than 32 MB or a million JSON values. Rejects with
 * `unavailable` when the memory budget has no bytes left, or too many large bodies wait.
 */
export const readBody = async <Value>(
  body: Body,
  { memory, large }: BodyLimits,
  parse: (chunks: Buffer[]) => Promise<Value>,
): Promise<ParsedBody<Value>> => {
  const reservation = memory.reserve();
  const collector = new BodyCollector(body, reservation);
  const parsed = async () => ({ value: await parse(collector.takeChunks()), bytes: collector.bytes });
  try {
    if (await collector.receive(LARGE_BYTES)) return await parsed();
    if (large.isFull) throw discarded();
    const read = large.run(async () => {
      await collector.receive(MAX_BYTES);
      return parsed();
    });
    return await Promise.race([read, failureOf(body)]);
  } catch (error) {
    body.destroy();
    throw error;
  } finally {
    reservation.release();
  }
};

/** Rejects when the body fails or its request is aborted, also while the body waits for its turn and nothing reads it. */
const failureOf = (body: Body): Promise<never> =>
  new Promise((_resolve, reject) => {
    body.once('error', reject);
  });

/** Collects the chunks of a body, and checks its size. */
class BodyCollector {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #reservation: Reservation;
  readonly #size = new JsonSize();
  readonly #received: Buffer[] = [];
  #bytes = 0;
  #counted = 0;

  constructor(body: Body, reservation: Reservation) {
    this.#chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.#reservation = reservation;
  }

  /** Resolves with true at the end of the body, or with false as soon as more than `bytes` have arrived. */
  async receive(bytes: number): Promise<boolean> {
    while (this.#bytes <= bytes) {
      const { done, value } = await this.#chunks.next();
      if (done) return true;
      this.#add(value);
    }
    return false;
  }

  /** The size of what has arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the bytes, once: whatever parses them can free them. */
  takeChunks(): Buffer[] {
    return this.#received.splice(0);
  }

  #add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes`);
    if (!this.#reservation.tryGrow(chunk.length)) throw discarded();
    this.#received.push(chunk);
    if (this.#bytes <= COUNTED_FROM_BYTES) return;
    for (; this.#counted < this.#received.length; this.#counted += 1)
      this.#size.add(this.#received[this.#counted] ?? NOTHING);
    if (this.#size.values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} JSON values`);
  }
}

/** Resolves with the first 64 KB of a body as text, and reads no more. */
export const readPrefix = async (body: Body): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ERROR_BYTES) break;
  }
  return utf8.decode(Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES));
};

const tooLarge = (limit: string): UpstreamError =>
  new UpstreamError('invalidResponse', `Expected an answer of at most ${limit} from upstream, got more.`);

/** It is retried, since there may be memory in a moment. It does not count against upstream: the limit is the gateway's. */
const discarded = (): UpstreamError =>
  new UpstreamError(
    'unavailable',
    "The gateway had no memory for upstream's answer: too many large answers arrive at the same time.",
    { connection: 'discarded' },
  );
