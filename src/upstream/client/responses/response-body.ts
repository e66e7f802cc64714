import { JsonSize } from '../../../lib/json/size-scanner.ts';
import type { MemoryBudget, Reservation } from '../../../lib/memory/memory-budget.ts';
import type { Semaphore } from '../../../lib/scheduling/semaphore.ts';
import { UpstreamError } from '../errors.ts';
import type { ResponseReceiver } from './response-receiver.ts';

const MAX_BYTES = 32 * 1024 * 1024;
/** Upstream's largest page has fewer. A JSON value of three bytes may take twenty times as many once it is parsed. */
const MAX_VALUES = 1_000_000;
/** Smaller bodies can't have so many values that they need to be counted. */
const COUNTED_FROM_BYTES = 1024 * 1024;

/** The limits that all bodies share which are being received. */
export type BodyLimits = {
  /** Limits the bytes that have been received. */
  readonly memory: MemoryBudget;
  /** Limits the large bodies, since each takes several times its size while it is parsed. */
  readonly large: Semaphore;
};

/**
 * Checks a body chunk by chunk as it arrives. `check` throws UpstreamError `invalidResponse` for more than 32 MB or a
 * million JSON values, and `unavailable` when the memory budget has no bytes left.
 */
export class BodyCheck {
  readonly #memory: MemoryBudget;
  #reservation: Reservation | null = null;
  readonly #size = new JsonSize();
  #bytes = 0;

  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  /** Checks the next chunk of a body that has these chunks already. */
  readonly check = (chunk: Buffer, before: readonly Buffer[]): void => {
    const isFirstCounted = this.#bytes <= COUNTED_FROM_BYTES;
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes`);
    this.#reservation ??= this.#memory.reserve();
    if (!this.#reservation.tryGrow(chunk.length)) throw discarded();
    if (this.#bytes <= COUNTED_FROM_BYTES) return;
    if (isFirstCounted) for (const earlier of before) this.#size.add(earlier);
    this.#size.add(chunk);
    if (this.#size.values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} JSON values`);
  };

  /** Returns the bytes to the budget: the body is parsed, or not needed. */
  release(): void {
    this.#reservation?.release();
  }
}

/**
 * Resolves with the result of `parse` for the whole body's bytes, which may free them. A large body waits for its turn
 * first. Rejects with UpstreamError `unavailable` when too many of them wait, and as `receiver` does.
 */
export const parseBody = async <Value>(
  receiver: ResponseReceiver,
  { large }: Pick<BodyLimits, 'large'>,
  parse: (chunks: Buffer[]) => Promise<Value>,
): Promise<Value> => {
  if (receiver.isComplete) return parse(receiver.chunks);
  if (large.isFull) throw discarded();
  const parsed = large.run('', async () => {
    receiver.resume();
    await receiver.end;
    return parse(receiver.chunks);
  });
  // A failure ends the wait for its turn too.
  return await Promise.race([parsed, receiver.end.then(() => parsed)]);
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
