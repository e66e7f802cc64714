import type { ServerResponse } from 'node:http';
import {
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  OperationTypeNode,
} from 'graphql';
import { jsonParts, SerializedData } from '../../../graph/answer/serialize.ts';
import { createSecretFinder } from '../../../graph/authorization.ts';
import { totalLength } from '../../../lib/buffers.ts';
import type { MaybePromise } from '../../../lib/tasks.ts';
import type { CorsHeaders } from '../../browsers/origin-policy.ts';
import type { Compress, ContentCoding } from '../../http/compressor.ts';
import { headersOf, writeHeaderBlock, writeHeadOf } from '../../http/exchange.ts';
import type { UnsentLimit } from '../../http/unsent-limit.ts';
import { toFormattedError } from '../../subscriptions/frame.ts';
import type { HttpContext, OperationPlugin, ServerContext, Validity } from '../operation-plugin.ts';
import type { MediaType } from './accept.ts';

/**
 * Sends a single result with the status and the headers that its errors ask for, unless the request was answered in the
 * meantime. `context` is that of the operation, or of the exchange where nothing ran.
 */
export type SendResult = (
  context: ServerContext & HttpContext,
  result: ExecutionResult,
  mediaType: MediaType,
) => MaybePromise<void>;

type Options = {
  readonly corsHeaders: CorsHeaders;
  readonly compress: Compress;
  readonly unsent: Pick<UnsentLimit, 'wrote'>;
  /** The header that tells callers apart; null without one. */
  readonly credentialHeader: string | null;
};

type Headers = Readonly<Record<string, string>>;

/** The JSON of a result: as a text, or in parts of bytes. */
type Body = string | readonly Buffer[];

export const createSendResult = ({
  corsHeaders,
  compress,
  unsent,
  credentialHeader,
}: Options): SendResult => {
  const validityHeaders = (
    { tag, maxAgeSeconds }: Validity,
    vary: string | undefined,
    coding: ContentCoding | null,
  ): Headers => ({
    etag: coding === null ? tag : tagInCoding(tag, coding),
    'cache-control': `private, ${maxAgeSeconds > 0 ? `max-age=${maxAgeSeconds}` : 'no-cache'}`,
    vary: [vary, 'Accept', credentialHeader].filter(Boolean).join(', '),
  });

  return (context, result, mediaType) => {
    const { req, res: response, acceptEncoding, unchanged } = context;
    if (isAnswered(response)) return;
    const { status, headers } = headOf(result, mediaType);
    const validity = status === 200 ? context.validity : undefined;
    const forBrowsers = corsHeaders(headersOf(req));
    const othersIn = (coding: ContentCoding | null): Headers =>
      validity || coding
        ? {
            ...forBrowsers,
            ...(validity && validityHeaders(validity, forBrowsers.vary, coding)),
            ...(coding && { 'content-encoding': coding }),
          }
        : forBrowsers;
    if (validity && unchanged) {
      writeHeaderBlock(response, 304, othersIn(null));
      response.end();
      return;
    }
    const { data } = result;
    const lease = data instanceof SerializedData ? data.lease : null;
    const body = bodyOf(result);
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : totalLength(body);
    const send = (sent: Body, length: number, coding: ContentCoding | null): void => {
      writeHeadOf(response, status, headers, othersIn(coding), length);
      endWith(response, sent, length);
      unsent.wrote(req.socket);
    };
    const parts = () => (typeof body === 'string' ? [Buffer.from(body)] : body);
    const compressed = acceptEncoding ? compress(parts, bytes, acceptEncoding, response) : null;
    if (compressed === null) {
      // By then the operating system has all of the body, or the connection is closed.
      if (lease) response.once('close', () => lease.release());
      return send(body, bytes, null);
    }
    const sendCompressed = ({ coding, body: encoded }: Awaited<typeof compressed>): void => {
      lease?.release();
      if (encoded !== null && !isAnswered(response)) send(encoded, totalLength(encoded), coding);
    };
    return compressed instanceof Promise ? compressed.then(sendCompressed) : sendCompressed(compressed);
  };
};

const isAnswered = ({ headersSent, destroyed }: ServerResponse): boolean => headersSent || destroyed;

const endWith = (response: ServerResponse, body: Body, bytes: number): void => {
  // A text of as many bytes is ASCII, which is written as it is.
  if (typeof body === 'string') return void response.end(body, body.length === bytes ? 'latin1' : 'utf8');
  // The headers and all parts are written at once.
  response.cork();
  for (const part of body) response.write(part);
  response.end();
};

/** The tag of the same representation in a content coding, which is another one (RFC 9110, 8.8.3.3). */
const tagInCoding = (tag: string, coding: ContentCoding): string => `${tag.slice(0, -1)}-${coding}"`;

const CONTENT_TYPES: Readonly<Record<MediaType, Headers>> = {
  'application/json': { 'content-type': 'application/json; charset=utf-8' },
  'application/graphql-response+json': { 'content-type': 'application/graphql-response+json; charset=utf-8' },
};

/**
 * The status and the headers of a result: the highest status of its errors, and 200 without one. Under `application/json`
 * the status describes the transport alone: one that GraphQL over HTTP (6.4) gives to the result itself does not count.
 */
const headOf = ({ errors }: ExecutionResult, mediaType: MediaType) => {
  const contentType = CONTENT_TYPES[mediaType];
  if (!errors) return { status: 200, headers: contentType };
  const headers = { ...contentType };
  let status = 0;
  for (const { http } of errors.map(({ extensions }: GraphQLError) => extensions)) {
    Object.assign(headers, http?.headers);
    if (http?.spec && mediaType === 'application/json') continue;
    status = Math.max(status, http?.status ?? 0);
  }
  return { status: status || 200, headers };
};

const bodyOf = (result: ExecutionResult): Body => {
  const { data, errors } = result;
  const shown = errors ? { ...result, errors: errors.map(toFormattedError) } : result;
  return data instanceof SerializedData ? jsonParts(shown, data) : JSON.stringify(shown);
};

/**
 * Decides which answers over HTTP may be compressed: those of queries that select no secret. The length of a compressed
 * answer would tell how much of the secret is repeated beside it.
 */
export const useCompressibleAnswers = (schema: GraphQLSchema): OperationPlugin => {
  const selectsSecret = createSecretFinder(schema);
  return {
    onExecute({ args: { contextValue, document, operationName } }) {
      const accepted = contextValue.req?.headers['accept-encoding'];
      if (!accepted || selectsSecret(document)) return;
      if (getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY)
        contextValue.acceptEncoding = accepted.toString();
    },
  };
};
