import type { ExecutionResult, GraphQLError } from 'graphql';
import { type BufferLease, ownBytes, totalLength } from '../../lib/buffers.ts';
import { partsOfSmall, stringifyChunks } from '../../lib/json/stringify.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
import { clientGone } from '../../upstream/client/errors.ts';
import { upstreamError } from '../errors.ts';
import type { Answer } from './answer.ts';

/** The data of an answer that was serialised early, because the answer is heavy or has lists that are already written. */
export class SerializedData {
  readonly chunks: readonly Buffer[];
  readonly bytes: number;
  /** The memory of large chunks. It is reused once the transport has sent the answer and released it. */
  readonly lease: BufferLease | null;

  constructor(chunks: readonly Buffer[], lease: BufferLease | null) {
    this.chunks = chunks;
    this.lease = lease;
    this.bytes = totalLength(chunks);
  }

  /** The memory that it takes. */
  get memoryBytes(): number {
    return this.bytes + (this.lease?.unusedBytes ?? 0);
  }

  /** Returns the same data, to be kept. It copies every chunk that is not in a leased buffer. */
  toKeep(): SerializedData {
    return new SerializedData(this.chunks.map(ownBytes), this.lease);
  }

  /** Lets JSON.stringify serialise it as well. */
  toJSON(): unknown {
    return JSON.parse(Buffer.concat(this.chunks).toString());
  }
}

/**
 * Returns the result to send, and ends the answer. The data of a heavy answer is serialised in slices. An answer that
 * exceeds the limit, or whose client has disconnected, has an error and no data. Errors come in the order of the data.
 */
export const serializeAnswer = (
  execution: MaybePromise<ExecutionResult>,
  answer: Answer,
): MaybePromise<ExecutionResult> => {
  const isSmall = !(execution instanceof Promise) && !execution.errors && !answer.needsSerializing;
  if (!isSmall || answer.isStopped) return serializeLater(execution, answer);
  answer.end();
  return execution;
};

const serializeLater = async (
  execution: MaybePromise<ExecutionResult>,
  answer: Answer,
): Promise<ExecutionResult> => {
  try {
    const { errors: thrown = [], ...result } = await execution;
    answer.addErrors(thrown.length);
    const errors = inOrderOfData([...answer.itemErrors, ...thrown], result.data);
    const data =
      answer.needsSerializing && !answer.isStopped && result.data
        ? await serializeData(result.data, answer)
        : null;
    if (answer.isStopped) return stoppedResult(answer);
    // Errors come first, as the executor writes them.
    return Object.assign(errors.length > 0 ? { errors } : {}, result, data && { data });
  } finally {
    answer.end();
  }
};

/** Like `serializeAnswer`, for data that an equal operation has serialised. A heavy answer waits for memory as well. */
export const resendAnswer = (data: SerializedData, answer: Answer): MaybePromise<ExecutionResult> => {
  const resend = (): ExecutionResult => {
    const result = answer.isStopped
      ? stoppedResult(answer)
      : Object.assign<ExecutionResult, object>({}, { data });
    answer.end();
    return result;
  };
  const wait = answer.addMade(data.bytes);
  return wait ? wait.then(resend) : resend();
};

const stoppedResult = ({ limitError }: Answer): ExecutionResult => ({
  data: null,
  errors: [limitError ?? upstreamError(clientGone())],
});

/** Chunks from this size on have memory of their own, which goes back to the operating system. */
const CHUNK_CHARACTERS = 512 * 1024;

/** Serialises data, or a part of an answer. Resolves with null if the answer is stopped before that is done. */
export const serializeData = async (data: object, answer: Answer): Promise<SerializedData | null> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let text = '';
  const flush = (): void => {
    if (text === '') return;
    const chunk = answer.encode(text);
    chunks.push(chunk);
    bytes += chunk.length;
    text = '';
    if (bytes > answer.maxBytes) answer.exceedLimit();
  };
  const add = (part: string | Buffer): void => {
    if (typeof part === 'string') text += part;
    else {
      flush();
      chunks.push(part);
      bytes += part.length;
    }
    if (text.length > CHUNK_CHARACTERS) flush();
  };
  const small = answer.isHeavy ? null : partsOfSmall(data);
  small?.forEach(add);
  for (const piece of small ? [] : stringifyChunks(data)) {
    if (typeof piece === 'string') add(piece);
    else piece.parts.forEach(add);
    if (!answer.canContinue) await answer.nextSlice();
    if (answer.isStopped) return null;
  }
  flush();
  return new SerializedData(chunks, answer.lease);
};

/** Returns the JSON of a result whose data is already serialised, byte for byte as JSON.stringify would. */
export const assembleJson = (result: object, data: SerializedData): Buffer =>
  Buffer.concat(jsonParts(result, data));

/** Like `assembleJson`, but returns the parts of the JSON in order, without copying the data. */
export const jsonParts = (result: object, data: SerializedData): Buffer[] => {
  const parts: Buffer[] = [];
  let text = '';
  let isFirst = true;
  for (const key in result) {
    const value = result[key as keyof typeof result];
    const json = value === data ? '' : JSON.stringify(value);
    if (json === undefined) continue;
    text += `${isFirst ? '{' : ','}"${key}":${json}`;
    isFirst = false;
    if (value !== data) continue;
    parts.push(Buffer.from(text), ...data.chunks);
    text = '';
  }
  parts.push(Buffer.from(`${text}}`));
  return parts;
};

/**
 * Sorts errors by the position of their fields in the data. The executor reports them in the order in which fields fail,
 * which depends on upstream's timing. Errors of the same field keep their order.
 */
export const inOrderOfData = (errors: readonly GraphQLError[], data: unknown): readonly GraphQLError[] => {
  if (errors.length < 2) return errors;
  const positions = new Positions();
  const placed = errors.map((error) => ({ error, place: positions.placeOf(error.path ?? [], data) }));
  return placed.sort((one, other) => compare(one.place, other.place)).map(({ error }) => error);
};

/** The position of each step of an error's path in the object or list that has it. */
type Place = readonly number[];

/** Remembers the positions of keys in the objects of one answer. */
class Positions {
  readonly #byObject = new Map<object, ReadonlyMap<string, number>>();

  /** Ends where the data ends: the items of a written list have positions, and nothing below them. */
  placeOf(path: readonly (string | number)[], data: unknown): Place {
    const place: number[] = [];
    let value = data;
    for (const key of path) {
      if (typeof key === 'number') place.push(key);
      else if (typeof value === 'object' && value !== null) place.push(this.#keysOf(value).get(key) ?? -1);
      else break;
      value = (value as Readonly<Record<string | number, unknown>> | null)?.[key];
    }
    return place;
  }

  #keysOf(value: object): ReadonlyMap<string, number> {
    let keys = this.#byObject.get(value);
    if (keys === undefined) {
      keys = new Map(Object.keys(value).map((key, index) => [key, index]));
      this.#byObject.set(value, keys);
    }
    return keys;
  }
}

/** Compares two places step by step. A place comes before those below it. */
const compare = (one: Place, other: Place): number => {
  const shared = Math.min(one.length, other.length);
  for (let step = 0; step < shared; step += 1) {
    const difference = (one[step] ?? 0) - (other[step] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
};
