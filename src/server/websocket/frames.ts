import type { Duplex } from 'node:stream';

const FIN_AND_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
/** Bigger payloads are handed on rather than copied for each subscriber. */
const MAX_COPY = 16_384;

/**
 * Writes an unfragmented, unmasked text frame (RFC 6455, 5.2) of `before`, `shared` and `after`, of which `shared` may
 * be in many sockets' frames at once.
 */
export const writeTextFrame = (socket: Duplex, before: string, shared: Buffer, after: string): void => {
  const beforeBytes = Buffer.byteLength(before);
  const length = beforeBytes + shared.length + after.length;
  const copies = length <= MAX_COPY;
  const headerBytes = headerLength(length);
  const frame = Buffer.allocUnsafe(headerBytes + (copies ? length : beforeBytes));
  writeHeader(frame, length);
  frame.write(before, headerBytes);
  if (copies) {
    shared.copy(frame, headerBytes + beforeBytes);
    frame.write(after, headerBytes + beforeBytes + shared.length, 'latin1');
    socket.write(frame);
    return;
  }
  socket.cork();
  socket.write(frame);
  socket.write(shared);
  socket.write(after, 'latin1');
  socket.uncork();
};

const headerLength = (length: number): number => (length < LENGTH_16 ? 2 : length < 65_536 ? 4 : 10);

const writeHeader = (frame: Buffer, length: number): void => {
  frame[0] = FIN_AND_TEXT;
  if (length < LENGTH_16) frame[1] = length;
  else if (length < 65_536) {
    frame[1] = LENGTH_16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
};
