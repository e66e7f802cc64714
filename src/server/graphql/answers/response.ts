import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { type FetchAPI, processRegularResult } from 'graphql-yoga';
import { jsonParts, SerializedData } from '../../../graph/answer/serialize.ts';
import { totalLength } from '../../../lib/buffers.ts';
import { type MaybePromise, rememberLast } from '../../../lib/values.ts';
import type { RequestHeaders } from '../../browsers/origin-policy.ts';
import type { Compress, Compressed } from '../../http/compressor.ts';
import { writeHeaderBlock } from '../../http/exchange.ts';
import { MAX_BODY_BYTES } from '../limits/request-memory.ts';

/** The JSON of a result: as a text, or in parts of bytes. */
type Body = string | readonly Buffer[];

type Headers = Readonly<Record<string, string>>;

/** What Yoga makes of a result: the only use of its response is to be read here. */
class ResultResponse {
  readonly body: Body;
  readonly status: number;
  readonly headers: Headers;

  constructor(body: Body, init: Pick<ResultResponse, 'status' | 'headers'>) {
    this.body = body;
    this.status = init.status;
    this.headers = init.headers;
  }
}

const RESPONSES = { Response: ResultResponse } as unknown as FetchAPI;

/**
 * Sends a result as Yoga does, with its errors' status and headers, unless the request was answered in the meantime.
 * `acceptEncoding` is null for an answer that is not compressed.
 */
export const sendResult = (
  response: ServerResponse,
  result: ExecutionResult,
  mediaType: MediaType,
  headers: Headers,
  acceptEncoding: string | null,
  compress: Compress,
): MaybePromise<void> => {
  if (isAnswered(response)) return;
  const made =
    result.errors || result.extensions?.http ? byYoga(result, mediaType) : plain(result, mediaType);
  const { data } = result;
  const lease = data instanceof SerializedData ? data.lease : null;
  const bytes = lengthOf(made.body);
  const sendAsItIs = (): void => {
    // By then the operating system has all of the body, or the connection is closed.
    if (lease) response.once('close', () => lease.release());
    send(response, made, bytes, headers);
  };
  const sendCompressed = ({ coding, body }: Compressed): void => {
    lease?.release();
    if (body === null || isAnswered(response)) return;
    send(response, { ...made, body }, totalLength(body), { ...headers, 'content-encoding': coding });
  };
  const compressed = acceptEncoding && compress(() => partsOf(made.body), bytes, acceptEncoding, response);
  if (!compressed) return sendAsItIs();
  return compressed instanceof Promise ? compressed.then(sendCompressed) : sendCompressed(compressed);
};

const isAnswered = ({ headersSent, destroyed }: ServerResponse): boolean => headersSent || destroyed;

/** As `byYoga`, for a result that has no say in its status and headers. */
const plain = (result: ExecutionResult, mediaType: MediaType): ResultResponse => {
  const { data } = result;
  const body = data instanceof SerializedData ? jsonParts(result, data) : JSON.stringify(result);
  return { body, status: 200, headers: CONTENT_TYPES[mediaType] };
};

const CONTENT_TYPES: Readonly<Record<MediaType, Headers>> = {
  'application/json': { 'content-type': 'application/json; charset=utf-8' },
  'application/graphql-response+json': { 'content-type': 'application/graphql-response+json; charset=utf-8' },
};

const byYoga = (result: ExecutionResult, mediaType: MediaType): ResultResponse =>
  processRegularResult(inParts(result), RESPONSES, mediaType) as unknown as ResultResponse;

/** Has data that is serialised already sent as it is. */
const inParts = (result: ExecutionResult): ExecutionResult => {
  const { data } = result;
  if (!(data instanceof SerializedData)) return result;
  return Object.assign({ ...result }, { stringify: (final: object) => jsonParts(final, data) });
};

const lengthOf = (body: Body): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : totalLength(body);

const partsOf = (body: Body): readonly Buffer[] => (typeof body === 'string' ? [Buffer.from(body)] : body);

const send = (
  response: ServerResponse,
  { body, status, headers }: ResultResponse,
  bytes: number,
  others: Headers,
): void => {
  writeHeaderBlock(response, status, headers, { 'content-length': String(bytes) }, others);
  if (typeof body === 'string') return void response.end(body);
  // The headers and all parts are written at once.
  response.cork();
  for (const part of body) response.write(part);
  response.end();
};

/** The media types of a single result. */
type MediaType = 'application/json' | 'application/graphql-response+json';

/**
 * Returns the media type of the answer to a POST of one JSON body whose length is known, for a client that accepts a single
 * result; null for any other request.
 */
export const directMediaTypeOf = ({ method, url, headers }: IncomingMessage): MediaType | null => {
  if (method !== 'POST' || url !== '/graphql') return null;
  const { 'content-type': type = '', 'content-length': length, accept = '*/*' } = headers;
  if (type !== 'application/json' && !type.startsWith('application/json;')) return null;
  if (length === undefined || Number(length) > MAX_BODY_BYTES) return null;
  // Such a client counts as one of an event stream.
  if (accept.startsWith('text/event-stream')) return null;
  return acceptedMediaType(accept);
};

/** As Yoga chooses it: the first media range that matches counts, whatever its weight. */
const acceptedMediaType = rememberLast((accept): MediaType | null => {
  for (const range of accept.split(',')) {
    const [types = '', ...parameters] = range.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset=')) ?? 'charset=utf-8';
    const [type, subtype] = types.split('/');
    if (charset !== 'charset=utf-8' || (type !== '*' && type !== 'application')) continue;
    if (subtype === '*' || subtype === 'json') return 'application/json';
    if (subtype === 'graphql-response+json') return 'application/graphql-response+json';
  }
  return null;
});

/** The headers of a request, as Node has read them. */
export const headersOf = ({ headers }: IncomingMessage): RequestHeaders => ({
  get: (name) => headers[name.toLowerCase()]?.toString() ?? null,
});
