/** Bytes that leave more of their memory unused than this share are copied. */
const MAX_UNUSED = 1 / 4;

/**
 * Returns the bytes in memory of their own, for whatever is kept. Node cuts small Buffers out of pools of 64 KB: one of
 * them that is kept keeps its whole pool.
 */
export const ownBytes = (bytes: Buffer): Buffer => {
  const unused = bytes.buffer.byteLength - bytes.length;
  if (unused <= MAX_UNUSED * bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
};
