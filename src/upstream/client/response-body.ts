import type { Dispatcher } from 'undici';
import { JsonSize } from '../../lib/json/size-scanner.ts';
import type { MemoryBudget, Reservation } from '../../lib/memory-budget.ts';
import type { Semaphore } from '../../lib/semaphore.ts';
import { UpstreamError } from './errors.ts';

type Body = Dispatcher.ResponseData['body'];

const MAX_BYTES = 32 * 1024 * 1024;
/** The service's largest page has fewer. A value of three bytes may take twenty times as many once it is parsed. */
const MAX_VALUES = 1_000_000;
/** Smaller bodies have too few values to be counted. */
const COUNTED_FROM_BYTES = 1024 * 1024;
/** Of an answer that is a refusal: it needs no more than a sentence. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Larger than a page of the most items that the contract allows: such bodies are received and parsed one at a time. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** What the bodies of all answers under way share. */
export type BodyLimits = {
  /** For the bytes that are being received. */
  readonly memory: MemoryBudget;
  /** For large bodies: each takes several times its size while it is parsed. */
  readonly large: Semaphore;
};

/** A body that was read: its value, and how many bytes it had. */
export type ReadBody<Value> = { readonly value: Value; readonly bytes: number };

/**
 * Resolves with what `parse` resolves with for the whole body's text, which is judged as it arrives. Rejects with UpstreamError
 * `invalidResponse` when it is larger than 32 MB or of more than a million JSON values, `unavailable` when there is no
 * room for it, and reads no further.
 */
export const readBody = async <Value>(
  body: Body,
  { memory, large }: BodyLimits,
  parse: (text: string) => Promise<Value>,
): Promise<ReadBody<Value>> => {
  const reservation = memory.reserve();
  const collector = new BodyCollector(body, reservation);
  const parsed = async () => ({ value: await parse(collector.takeText()), bytes: collector.bytes });
  try {
    if (await collector.receive(LARGE_BYTES)) return await parsed();
    if (large.isFull) throw overMemoryLimit();
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

/** Rejects when the body fails or is abandoned, also while nothing reads it. */
const failureOf = (body: Body): Promise<never> =>
  new Promise((_resolve, reject) => {
    body.once('error', reject);
  });

/** A body as far as it has arrived. */
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

  /** Resolves with whether all has arrived, false once more than `bytes` have. */
  async receive(bytes: number): Promise<boolean> {
    while (this.#bytes <= bytes) {
      const { done, value } = await this.#chunks.next();
      if (done) return true;
      this.#add(value);
    }
    return false;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Gives the text, once. The bytes can be freed before the text is parsed, which takes several times as much memory. */
  takeText(): string {
    return utf8.decode(Buffer.concat(this.#received.splice(0)));
  }

  #add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes`);
    if (!this.#reservation.tryGrow(chunk.length)) throw overMemoryLimit();
    this.#received.push(chunk);
    if (this.#bytes <= COUNTED_FROM_BYTES) return;
    for (; this.#counted < this.#received.length; this.#counted += 1)
      this.#size.add(this.#received[this.#counted] ?? NOTHING);
    if (this.#size.values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} JSON values`);
  }
}

/** As text, the first 64 KB of a body; no more is read. */
export const readPrefix = async (body: Body): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ERROR_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES));
};

const utf8 = new TextDecoder();

const NOTHING = Buffer.alloc(0);

const tooLarge = (limit: string): UpstreamError =>
  new UpstreamError('invalidResponse', `Expected an answer of at most ${limit} from the service, got more.`);

/** Counts as a cut connection, so that a read is tried again: in a moment there may be room. */
const overMemoryLimit = (): UpstreamError =>
  new UpstreamError(
    'unavailable',
    "There is no room for the service's answer: too many large ones come at once.",
    {
      connection: 'reset',
    },
  );
