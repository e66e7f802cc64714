import type { PartWriter } from '../graphql/incremental/part-writer.ts';
import { nextPrefix } from './operation-streams.ts';
import type { FrameWriter } from './shared-frame-writer.ts';

/**
 * Writes the parts of an answer as `next` messages, until the client has completed the operation. graphql-ws sends the last
 * one, which is the operation's result, and `complete`.
 */
export const createPartWriter = (
  frameWriter: FrameWriter,
  id: string,
  clientSignal: AbortSignal,
): PartWriter => ({
  format: '20220824',
  write(json, onWritten) {
    if (clientSignal.aborted) onWritten();
    else frameWriter.sendAnswer(nextPrefix(id), json, '}', onWritten);
  },
});
