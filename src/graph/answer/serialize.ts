import type { ExecutionResult } from 'graphql';
import { stringifyChunks } from '../../lib/json/chunked-stringify.ts';
import { clientGone } from '../../upstream/client/errors.ts';
import { upstreamError } from '../errors.ts';
import type { Answer } from './answer.ts';

/** The data of a heavy answer, as the JSON that it is sent as. */
export class SerializedData {
  readonly chunks: readonly Buffer[];

  constructor(chunks: readonly Buffer[]) {
    this.chunks = chunks;
  }

  /** For a writer that does not know this class. */
  toJSON(): unknown {
    return JSON.parse(Buffer.concat(this.chunks).toString());
  }
}

/**
 * The result as it is sent. The data of a heavy answer is written in slices. An answer that weighs too much, or whose
 * client has left, has no data. Gives back the memory that the answer holds.
 */
export const serializeAnswer = async (
  execution: Promise<ExecutionResult>,
  answer: Answer,
): Promise<ExecutionResult> => {
  try {
    const result = await execution;
    const data =
      answer.isHeavy && !answer.isOver && result.data ? await writeData(result.data, answer) : null;
    if (answer.isOver) return { data: null, errors: [answer.refusal ?? upstreamError(clientGone())] };
    return data === null ? result : Object.assign({ ...result }, { data });
  } finally {
    answer.end();
  }
};

/** So large a chunk has memory of its own, which the operating system gets back; that of smaller ones stays with the process. */
const CHUNK_CHARACTERS = 512 * 1024;

/** Null where it is not written to its end. */
const writeData = async (data: object, answer: Answer): Promise<SerializedData | null> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let text = '';
  const flush = (): void => {
    const chunk = Buffer.from(text);
    chunks.push(chunk);
    bytes += chunk.length;
    text = '';
    if (bytes > answer.maxBytes) answer.refuse();
  };
  for (const piece of stringifyChunks(data)) {
    text += piece;
    if (text.length > CHUNK_CHARACTERS) flush();
    if (!answer.hasTurn) await answer.turn();
    if (answer.isOver) {
      answer.cut();
      return null;
    }
  }
  flush();
  return new SerializedData(chunks);
};

/** The text that JSON.stringify gives of a result whose data is written already, as bytes. */
export const assembleJson = (result: object, data: SerializedData): Buffer => {
  const parts: (Buffer | string)[] = [];
  for (const [key, value] of Object.entries(result)) {
    const text = value === data ? '' : JSON.stringify(value);
    if (text === undefined) continue;
    parts.push(`${parts.length === 0 ? '{' : ','}${JSON.stringify(key)}:${text}`);
    if (value === data) parts.push(...data.chunks);
  }
  parts.push('}');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
};
