import type { Duplex } from 'node:stream';
import { totalLength } from '../../lib/buffers.ts';

const FIN_AND_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
/** Frames up to this length are copied into one buffer. The payload of a longer one is written without a copy. */
const MAX_COPIED_BYTES = 16_384;

/**
 * Writes an unfragmented, unmasked text frame (RFC 6455, section 5.2). The suffix must be ASCII.
 *
 * `Sender.frame` of `ws` is not used: it takes a payload in one piece. The parts would be joined first, which copies a long
 * payload for each of its subscribers.
 */
export const writeTextFrame = (
  stream: Duplex,
  prefix: string,
  payload: readonly Buffer[],
  suffix: string,
  onWritten?: () => void,
): void => {
  const prefixBytes = Buffer.byteLength(prefix);
  const length = prefixBytes + totalLength(payload) + suffix.length;
  const isCopied = length <= MAX_COPIED_BYTES;
  const headerBytes = headerLength(length);
  const frame = Buffer.allocUnsafe(headerBytes + (isCopied ? length : prefixBytes));
  writeHeader(frame, 0, length);
  frame.write(prefix, headerBytes);
  if (isCopied) {
    let end = headerBytes + prefixBytes;
    for (const part of payload) end += part.copy(frame, end);
    frame.write(suffix, end, 'latin1');
    stream.write(frame, onWritten);
    return;
  }
  stream.cork();
  stream.write(frame);
  for (const part of payload) stream.write(part);
  stream.write(suffix, 'latin1', onWritten);
  stream.uncork();
};

const headerLength = (length: number): number => (length < LENGTH_16 ? 2 : length < 65_536 ? 4 : 10);

const writeHeader = (frame: Buffer, at: number, length: number): void => {
  frame[at] = FIN_AND_TEXT;
  if (length < LENGTH_16) frame[at + 1] = length;
  else if (length < 65_536) {
    frame[at + 1] = LENGTH_16;
    frame.writeUInt16BE(length, at + 2);
  } else {
    frame[at + 1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), at + 2);
  }
};

/** Room for the header and the prefix of most frames: that of an operation whose id is a UUID takes 73 bytes. */
const ROOM = 128;

const NO_BYTES = Buffer.alloc(0);

/**
 * Writes the same payload to many sockets in a row from one buffer. The operating system takes a frame within the call of
 * `write` unless the socket is full, so the buffer is free again for the next socket, and only the prefix is written anew.
 *
 * A buffer for each frame would be garbage at once. V8 counts the memory of buffers as pressure, and marked the whole heap at
 * every fifth event to 5,000 sockets.
 */
export class RepeatedFrame {
  #payload: readonly Buffer[] = [];
  #suffix = '';
  #prefix = '';
  /** The room, the payload and the suffix. Empty while a socket may still have to read the last one. */
  #bytes: Buffer = NO_BYTES;
  /** The part of `#bytes` that was written last. */
  #frame: Buffer = NO_BYTES;

  /** Writes a text frame, as `writeTextFrame`. */
  write(stream: Duplex, prefix: string, payload: readonly Buffer[], suffix: string): void {
    const isWaiting = stream.writableLength > 0 || stream.writableCorked > 0;
    if (isWaiting || !this.#make(prefix, payload, suffix)) {
      writeTextFrame(stream, prefix, payload, suffix);
      return;
    }
    stream.write(this.#frame);
    // The stream still needs the bytes.
    if (stream.writableLength > 0) this.#bytes = NO_BYTES;
  }

  /** Returns whether the frame is short enough to be made. */
  #make(prefix: string, payload: readonly Buffer[], suffix: string): boolean {
    const isSame = this.#payload === payload && this.#suffix === suffix && this.#bytes !== NO_BYTES;
    if (isSame && this.#prefix === prefix) return true;
    const prefixBytes = Buffer.byteLength(prefix);
    const bytes = isSame ? this.#bytes.length - ROOM : totalLength(payload) + suffix.length;
    const length = prefixBytes + bytes;
    const start = ROOM - prefixBytes - headerLength(length);
    if (start < 0 || length > MAX_COPIED_BYTES) return false;
    if (!isSame) {
      // Not a slice of a pool, all of which a slow socket would keep in memory.
      this.#bytes = Buffer.allocUnsafeSlow(ROOM + bytes);
      let end = ROOM;
      for (const part of payload) end += part.copy(this.#bytes, end);
      this.#bytes.write(suffix, end, 'latin1');
      this.#payload = payload;
      this.#suffix = suffix;
    }
    writeHeader(this.#bytes, start, length);
    this.#bytes.write(prefix, ROOM - prefixBytes);
    this.#prefix = prefix;
    if (!isSame || this.#frame.length !== this.#bytes.length - start)
      this.#frame = this.#bytes.subarray(start);
    return true;
  }
}
