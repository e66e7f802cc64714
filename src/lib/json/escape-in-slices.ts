import { StringDecoder } from 'node:string_decoder';
import type { TimeSlices } from '../time-slices.ts';

/** JSON.stringify escapes this much text within a few milliseconds. */
const SLICE_BYTES = 256 * 1024;

/**
 * Returns a text as the content of a JSON string, without the quotation marks. It lets other work run in between. The chunks
 * are UTF-8 together: one may end within a character.
 */
export const escapeInSlices = async (chunks: readonly Buffer[], slices: TimeSlices): Promise<Buffer[]> => {
  const decoder = new StringDecoder('utf8');
  const escaped: Buffer[] = [];
  let text = '';
  const flush = (): void => {
    escaped.push(Buffer.from(JSON.stringify(text).slice(1, -1)));
    text = '';
  };
  for (const chunk of chunks)
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      text += decoder.write(chunk.subarray(from, from + SLICE_BYTES));
      if (text.length < SLICE_BYTES) continue;
      if (slices.isOver()) await slices.next();
      flush();
    }
  flush();
  return escaped;
};
