import type { Readable } from 'node:stream';

/** The most bytes that idle buffers may hold together. */
const MAX_IDLE_BYTES = 16 * 1024 * 1024;

/** Smaller buffers are not kept: the garbage collector handles them well. */
const MIN_POOLED_BYTES = 16 * 1024;

/** The number of sizes between two powers of two. A buffer is at most an eighth larger than requested. */
const SIZES_A_POWER = 8;

/** How often the buffers are freed that nothing has needed in the meantime. */
const SWEEP_MS = 1000;

/** The idle buffers of one size. */
type Idle = {
  readonly buffers: Buffer[];
  /** The fewest that were idle at a time since the last sweep. Nothing has needed these. */
  least: number;
};

/**
 * Reuses buffers. V8 counts the memory of buffers as pressure: if a server allocates and drops hundreds of large ones per
 * second, V8 collects its whole heap several times a second, although there is nothing to free in it.
 *
 * The garbage collector frees a buffer that is not given back, like any other.
 */
export class BufferPool {
  /** By size. */
  readonly #idle = new Map<number, Idle>();
  #idleBytes = 0;
  #willSweep = false;

  /** Returns a buffer of at least this many bytes, with arbitrary contents. */
  take(bytes: number): Buffer {
    const size = sizeFor(bytes);
    const idle = this.#idle.get(size);
    const buffer = idle?.buffers.pop();
    if (idle === undefined || buffer === undefined) return Buffer.allocUnsafeSlow(size);
    idle.least = Math.min(idle.least, idle.buffers.length);
    this.#idleBytes -= size;
    return buffer;
  }

  /** Takes back a whole buffer of `take`. Nothing may read it or write it from now on. */
  give(buffer: Buffer): void {
    const { length } = buffer;
    if (length < MIN_POOLED_BYTES) return;
    if (length > MAX_IDLE_BYTES) {
      freeBuffer(buffer);
      return;
    }
    const idle = this.#idle.get(length) ?? { buffers: [], least: 0 };
    // The sizes stay in the order in which they were given back last.
    this.#idle.delete(length);
    this.#idle.set(length, idle);
    idle.buffers.push(buffer);
    this.#idleBytes += length;
    while (this.#idleBytes > MAX_IDLE_BYTES) this.#dropOne();
    this.#sweepLater();
  }

  /** Drops a buffer of the size that was given back longest ago. */
  #dropOne(): void {
    for (const [size, idle] of this.#idle) {
      const isEmpty = idle.buffers.length === 0;
      this.#drop(size, idle, 1);
      if (!isEmpty) return;
    }
  }

  #drop(size: number, idle: Idle, count: number): void {
    const dropped = idle.buffers.splice(0, count);
    dropped.forEach(freeBuffer);
    this.#idleBytes -= size * dropped.length;
    idle.least = Math.min(idle.least, idle.buffers.length);
    if (idle.buffers.length === 0) this.#idle.delete(size);
  }

  #sweepLater(): void {
    if (this.#willSweep) return;
    this.#willSweep = true;
    setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #sweep(): void {
    this.#willSweep = false;
    for (const [size, idle] of this.#idle) {
      this.#drop(size, idle, idle.least);
      idle.least = idle.buffers.length;
    }
    if (this.#idle.size > 0) this.#sweepLater();
  }
}

const sizeFor = (bytes: number): number => {
  if (bytes < MIN_POOLED_BYTES) return bytes;
  const step = 2 ** Math.floor(Math.log2(bytes)) / SIZES_A_POWER;
  return Math.ceil(bytes / step) * step;
};

/**
 * Returns the memory of a buffer to the operating system at once: the garbage collector may leave hundreds of megabytes
 * for seconds. The buffer has no bytes then. One that may share its memory with others is left to the garbage collector: the
 * pool of small Buffers gives each half of its memory at most.
 */
export const freeBuffer = (buffer: Buffer): void => {
  const { buffer: memory } = buffer;
  if (memory instanceof ArrayBuffer && memory.byteLength < buffer.length * 2) memory.transfer(0);
};

/** Buffers of a pool with the same users. The first user is the one that made the lease. */
export class BufferLease {
  readonly #pool: BufferPool;
  readonly #buffers: Buffer[] = [];
  #users = 1;
  /** The unused bytes of its buffers. */
  unusedBytes = 0;

  constructor(pool: BufferPool) {
    this.#pool = pool;
  }

  /** Returns a copy that lies in a buffer of the lease. */
  copy(bytes: Uint8Array): Buffer {
    if (bytes.length < MIN_POOLED_BYTES) return Buffer.from(bytes);
    const buffer = this.#take(bytes.length);
    buffer.set(bytes);
    return buffer;
  }

  /** Returns the text as UTF-8 that lies in a buffer of the lease. */
  encode(text: string): Buffer {
    if (text.length < MIN_POOLED_BYTES) return Buffer.from(text);
    const buffer = this.#take(Buffer.byteLength(text));
    buffer.write(text);
    return buffer;
  }

  #take(bytes: number): Buffer {
    const buffer = this.#pool.take(bytes);
    this.#buffers.push(buffer);
    this.unusedBytes += buffer.length - bytes;
    return buffer.subarray(0, bytes);
  }

  /** Adds a user. */
  retain(): void {
    this.#users += 1;
  }

  /** A user no longer needs the copies. The last one gives the buffers back; nothing may read the copies after that. */
  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    for (const buffer of this.#buffers.splice(0)) this.#pool.give(buffer);
  }
}

/** Bytes that leave more of their memory unused than this share are copied. */
const MAX_UNUSED = 1 / 4;

/**
 * Returns the bytes in memory of their own, so that they can be kept. Node slices small Buffers out of pools of 64 KB, and
 * keeping one of them keeps its whole pool.
 */
export const ownBytes = (bytes: Buffer): Buffer => {
  const unused = bytes.buffer.byteLength - bytes.length;
  if (unused <= MAX_UNUSED * bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
};

/** The sum of the lengths, such as the bytes of several buffers. */
export const totalLength = (parts: readonly { readonly length: number }[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0);

/**
 * Collects the body of a request. `onChunk` is called with each chunk before it is kept. What it throws rejects, and so does
 * the error that `stop` is called with; the rest of the body is then discarded. Rejects with the error of `incomplete` when
 * the client disconnects.
 */
export const collectBody = (
  request: Readable,
  onChunk: (chunk: Buffer) => void,
  incomplete: () => Error,
): { readonly body: Promise<Buffer>; stop(error: unknown): void } => {
  const { promise: body, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const stop = (error: unknown): void => {
    request.off('data', onData).resume();
    chunks.length = 0;
    reject(error);
  };
  const onData = (chunk: Buffer): void => {
    try {
      onChunk(chunk);
      chunks.push(chunk);
    } catch (error) {
      stop(error);
    }
  };
  const onClose = (): void => {
    if (!request.readableEnded) reject(incomplete());
  };
  request.on('data', onData);
  request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  if (request.destroyed) onClose();
  else request.once('close', onClose);
  return { body, stop };
};
