import { freeBuffer } from '../../../lib/memory/buffer-pool.ts';
import { totalLength } from '../../../lib/memory/total-length.ts';
import { hasEscaped, redactChunks } from './redact-key.ts';

const utf8 = new TextDecoder();

/** The body of a 2xx response, once all its bytes have arrived. */
export class ReceivedBody {
  readonly #chunks: Buffer[];
  /** The content type that upstream stated, for error messages. */
  readonly type: string;
  /** What upstream may repeat in the body, and no client may see; null for nothing. */
  readonly secret: Buffer | null;

  constructor(chunks: Buffer[], type: string, secret: Buffer | null) {
    this.#chunks = chunks;
    this.type = type;
    this.secret = secret;
  }

  /** The number of bytes that have not been taken. */
  get bytes(): number {
    return totalLength(this.#chunks);
  }

  /** The bytes, as they arrived: the secret may be in them. None after `takeText`. */
  get chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  /** Whether escapes of JSON hide the secret in the bytes. */
  get hidesSecret(): boolean {
    return hasEscaped(this.#chunks, this.secret);
  }

  /** The chunks without the secret, which stay when `takeText` has taken them: what may be kept outside of this process. */
  sharedChunks(): readonly Buffer[] {
    return redactChunks([...this.#chunks], this.secret);
  }

  /**
   * Returns the text without the secret, once. Then the bytes can be freed before parsing, which takes several times as
   * much memory.
   */
  takeText(): string {
    const bytes = Buffer.concat(redactChunks(this.#chunks.splice(0), this.secret));
    const text = utf8.decode(bytes);
    freeBuffer(bytes);
    return text;
  }
}

/** Parses a body. Rejects with UpstreamError `invalidResponse`. */
export type ParseBody<Body> = (body: ReceivedBody) => Promise<Body>;
