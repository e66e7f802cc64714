import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { type FetchAPI, processRegularResult } from 'graphql-yoga';
import { jsonParts, SerializedData } from '../../../graph/answer/serialize.ts';
import { writeHeaderBlock } from '../../http/response-headers.ts';
import type { MediaType } from './request-head.ts';

/** The JSON of a result: as a text, or in parts of bytes. */
type Body = string | readonly Buffer[];

/** What Yoga makes of a result: the only use of its response is to be read here. */
class ResultResponse {
  readonly body: Body;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(body: Body, init: Pick<ResultResponse, 'status' | 'headers'>) {
    this.body = body;
    this.status = init.status;
    this.headers = init.headers;
  }
}

const RESPONSES = { Response: ResultResponse } as unknown as FetchAPI;

/** Sends a result as Yoga does, with its errors' status and headers, unless the request was answered in the meantime. */
export const sendResult = (
  response: ServerResponse,
  result: ExecutionResult,
  mediaType: MediaType,
  headers: Readonly<Record<string, string>>,
): void => {
  if (response.headersSent || response.destroyed) return;
  const made = processRegularResult(inParts(result), RESPONSES, mediaType) as unknown as ResultResponse;
  const { body } = made;
  const contentLength = String(byteLengthOf(body));
  writeHeaderBlock(response, made.status, { ...made.headers, 'content-length': contentLength, ...headers });
  if (typeof body === 'string') return void response.end(body);
  // The headers and all parts are written at once.
  response.cork();
  for (const part of body) response.write(part);
  const { data } = result;
  // The operating system has all of them by then.
  if (data instanceof SerializedData && data.lease) response.once('finish', () => data.lease?.release());
  response.end();
};

/** Has data that is serialised already sent as it is. */
const inParts = (result: ExecutionResult): ExecutionResult => {
  const { data } = result;
  if (!(data instanceof SerializedData)) return result;
  return Object.assign({ ...result }, { stringify: (final: object) => jsonParts(final, data) });
};

const byteLengthOf = (body: Body): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, { length }) => sum + length, 0);
