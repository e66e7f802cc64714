import type { Dispatcher } from 'undici';
import { JsonSize } from '../lib/json-size.ts';
import type { MemoryBudget } from '../lib/memory-budget.ts';
import { UpstreamError } from './errors.ts';

type Body = Dispatcher.ResponseData['body'];

const MAX_BYTES = 32 * 1024 * 1024;
/** More than the largest page has that the service gives. A value of three bytes may take twenty times as many once read. */
const MAX_VALUES = 1_000_000;
/** Smaller bodies have too few values to be counted. */
const COUNTED_FROM_BYTES = 1024 * 1024;
/** Of an answer that is a refusal: it needs no more than a sentence. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * All of a body, which is judged as it comes: rejects with UpstreamError `invalidResponse` when it is larger than 32 MB
 * or of more than a million JSON values, `unavailable` when there is no room for it, and reads no further.
 */
export const readWhole = async (body: Body, memory: MemoryBudget): Promise<Buffer> => {
  const hold = memory.enter();
  const size = new JsonSize();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let counted = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes`);
      if (!hold.grow(chunk.length)) throw noRoom();
      chunks.push(chunk);
      if (bytes <= COUNTED_FROM_BYTES) continue;
      for (; counted < chunks.length; counted += 1) size.add(chunks[counted] ?? NOTHING);
      if (size.values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} JSON values`);
    }
    const [only] = chunks;
    return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  } finally {
    hold.leave();
  }
};

/** As text, the first 64 KB of a body; no more is read. */
export const readBeginning = async (body: Body): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_REFUSAL_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES));
};

const NOTHING = Buffer.alloc(0);

const tooLarge = (limit: string): UpstreamError =>
  new UpstreamError('invalidResponse', `Expected an answer of at most ${limit} from the service, got more.`);

/** As if it had been cut: asked again in a moment, it may find room. */
const noRoom = (): UpstreamError =>
  new UpstreamError(
    'unavailable',
    "There is no room for the service's answer: too many large ones come at once.",
    {
      connection: 'broken',
    },
  );
