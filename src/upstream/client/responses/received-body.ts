import { freeBuffer } from '../../../lib/memory/buffer-pool.ts';
import { totalLength } from '../../../lib/memory/total-length.ts';
import type { Credential } from '../request-scope.ts';
import { hasEscaped, redactChunks, redactText, secretOf } from './redact-key.ts';

const MAX_TYPE_CHARACTERS = 80;

const utf8 = new TextDecoder();

/** The body of a 2xx response, once all its bytes have arrived. */
export class ReceivedBody {
  readonly #chunks: Buffer[];
  readonly #statedType: string;
  readonly #credential: Credential | null;
  /** What upstream may repeat in the body, and no client may see; null for nothing. */
  readonly secret: Buffer | null;

  /** `credential` is what the body was asked for with; null where the body was read without one, as from a cache. */
  constructor(chunks: Buffer[], statedType: string, credential: Credential | null) {
    this.#chunks = chunks;
    this.#statedType = statedType;
    this.#credential = credential;
    this.secret = credential && secretOf(credential);
  }

  /** The content type that upstream stated, for error messages: without the secret, which takes a while to look for. */
  get type(): string {
    const type = this.#credential ? redactText(this.#statedType, this.#credential) : this.#statedType;
    return type.slice(0, MAX_TYPE_CHARACTERS);
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
