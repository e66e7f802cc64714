import type { Entry } from './entry.ts';

const SIZE_BYTES = 4;

/**
 * What the append script gets of some deliveries, as one argument: client and Redis take microseconds for each. Of each
 * delivery it has the sizes of its header, its body and its terms (4 bytes each, big-endian), and then these.
 */
export const packBatch = (entries: readonly Entry[]): Buffer => {
  const parts = entries.map(({ header, body, terms }) => [header, body, terms]);
  const size = parts.flat().reduce((sum, { length }) => sum + SIZE_BYTES + length, 0);
  const batch = Buffer.allocUnsafe(size);
  let at = 0;
  for (const some of parts) {
    for (const { length } of some) at = batch.writeUInt32BE(length, at);
    for (const part of some) at += part.copy(batch, at);
  }
  return batch;
};
