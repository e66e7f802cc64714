import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import { badUserInput } from '../../../graph/errors.ts';
import { type BodyLimit, parseBody } from '../limits/body-limits.ts';

type ReadBody = { readonly body: Buffer; readonly limit: BodyLimit | null };

/**
 * Reads a whole body within the limit that `limitFor` returns; null for a body that is not limited. Rejects if it exceeds
 * the limit, with the error by which the limit aborts it, or if the client disconnects; no client reads the error then.
 */
export const readBody = (
  request: IncomingMessage,
  limitFor: ((abort: (error: GraphQLError) => void) => BodyLimit) | null,
): Promise<ReadBody> =>
  new Promise((resolve, reject) => {
    const onDisconnect = () => reject(badUserInput('Expected a whole body, got a part of one.'));
    if (request.destroyed) return onDisconnect();
    const chunks: Buffer[] = [];
    /** The rest of the body is discarded. */
    const fail = (error: unknown): void => {
      request.off('data', onData).resume();
      chunks.length = 0;
      reject(error);
    };
    const limit = limitFor?.(fail) ?? null;
    const onData = (chunk: Buffer): void => {
      try {
        limit?.add(chunk);
        chunks.push(chunk);
      } catch (error) {
        fail(error);
      }
    };
    request.on('data', onData);
    request.once('end', () => {
      limit?.arrived();
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      resolve({ body, limit });
    });
    request.once('error', onDisconnect);
  });

/** The parameters of a request for one operation, each of the type that it must have. */
export type Params = {
  readonly query?: string | null;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly extensions?: Readonly<Record<string, unknown>> | null;
};

/** Returns the parameters of a small body; null for any other body. `others` are the names of further parameters. */
export const parseParams = (body: Buffer, others: readonly string[]): Params | null => {
  try {
    return paramsOf(JSON.parse(body.toString()), others);
  } catch (error) {
    return nullIfNoJson(error);
  }
};

/** As `parseParams`, for a body of any size. Rejects if the objects of the body have too many shapes. */
export const parseLargeParams = async (body: Buffer, others: readonly string[]): Promise<Params | null> => {
  try {
    return paramsOf(await parseBody(body.toString()), others);
  } catch (error) {
    return nullIfNoJson(error);
  }
};

const nullIfNoJson = (error: unknown): null => {
  if (error instanceof SyntaxError) return null;
  throw error;
};

const paramsOf = (json: unknown, others: readonly string[]): Params | null =>
  isObject(json) && areParams(json, others) ? json : null;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const areParams = (json: Readonly<Record<string, unknown>>, others: readonly string[]): json is Params => {
  for (const name of Object.keys(json)) {
    const value = json[name] ?? null;
    if (value === null) continue;
    if (name === 'query' || name === 'operationName') {
      if (typeof value !== 'string') return false;
    } else if (name === 'variables' || name === 'extensions') {
      if (!isObject(value)) return false;
    } else if (!others.includes(name)) return false;
  }
  return true;
};
