import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type DocumentNode, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import type { Caller } from '../../../context.ts';
import { badUserInput } from '../../../graph/errors.ts';
import { disconnectedSignalOf, traceOf } from '../../http/exchange.ts';
import { type BodyLimit, isSmallBody, limitBody, parseBody } from '../limits/request-memory.ts';
import type { OperationContext, ServerContext } from '../operation-plugin.ts';
import type { YogaOptions } from '../yoga.ts';
import { directMediaTypeOf, headersOf, sendResult } from './response.ts';

/** What is known of an HTTP request: see `ServerContext`. */
type RequestContext = {
  readonly shutdownSignal: AbortSignal;
  httpCaller?: Caller;
  preparedText?: string;
};

/** Answers an HTTP request. */
export type AnswerRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
) => Promise<void>;

type Options = Pick<
  YogaOptions,
  | 'schema'
  | 'pipeline'
  | 'contextOf'
  | 'checkHeaders'
  | 'authenticate'
  | 'clientAddress'
  | 'requestMemory'
  | 'documents'
  | 'trusted'
  | 'corsHeaders'
  | 'unsent'
  | 'compress'
> & {
  /** Answers every other request. */
  readonly answerByYoga: AnswerRequest;
};

/** A query or a mutation whose document is known and valid. */
type KnownOperation = { readonly document: DocumentNode; readonly params: Params };

/**
 * Answers a POST of an ordinary query or mutation without the requests, responses and streams of the Fetch API, which cost
 * several times as much as the rest. It makes the checks that Yoga's plugins make, in their order, by the same functions.
 * Yoga answers every other request: also one that is malformed, and one whose document is invalid.
 */
export const createDirectPosts = (options: Options): AnswerRequest => {
  const { schema, pipeline, contextOf, checkHeaders, authenticate, clientAddress, documents, trusted } =
    options;
  const { answerByYoga } = options;
  const otherParams = trusted === null ? [] : ['documentId'];

  /** Returns the text of a request's document; null for a body without one. */
  const textOf = (params: Params | null): string | null =>
    (params && trusted ? trusted.documentOf(params) : params?.query) || null;

  /** Returns null for any other document. */
  const findKnown = (text: string, params: Params): KnownOperation | null => {
    const document = documents.known(text);
    if (!document) return null;
    const operation = getOperationAST(document, params.operationName)?.operation;
    return operation === 'query' || operation === 'mutation' ? { document, params } : null;
  };

  /** Authenticates the caller before it reads the body. Returns null if Yoga has answered the request. */
  const receive = async (
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
    clientSignal: AbortSignal,
  ): Promise<KnownOperation | null> => {
    const headers = headersOf(request);
    const rejection = checkHeaders('POST', headers);
    if (rejection) throw rejection;
    context.httpCaller = await authenticate(headers, () => clientAddress(request));
    const { billingKey } = context.httpCaller;
    const isSmall = isSmallBody(request.headers['content-length']);
    const limitFor = (abort: (error: GraphQLError) => void) =>
      limitBody(options.requestMemory, billingKey, response, abort);
    const { body, limit } = await readBody(request, isSmall ? null : limitFor);
    const params = isSmall ? parseParams(body, otherParams) : await parseLargeParams(body, otherParams);
    const text = textOf(params);
    if (params && text !== null) {
      if (!documents.known(text)) await documents.prepare(text, billingKey, clientSignal, traceOf(response));
      context.preparedText = text;
      const operation = findKnown(text, params);
      if (operation) return operation;
    }
    limit?.release();
    await answerByYoga(withBody(request, body), response, context);
    return null;
  };

  const execute = ({ document, params }: KnownOperation, contextValue: OperationContext) => {
    const { operationName, variables: variableValues } = params;
    return pipeline.execute({ schema, document, contextValue, operationName, variableValues });
  };

  return async (request, response, { shutdownSignal }) => {
    const mediaType = directMediaTypeOf(request);
    if (mediaType === null) return answerByYoga(request, response, { shutdownSignal });
    const received: RequestContext = { shutdownSignal };
    let context: ServerContext = { req: request, res: response };
    let result: ExecutionResult;
    try {
      const clientSignal = disconnectedSignalOf(response);
      const operation = await receive(request, response, received, clientSignal);
      if (operation === null) return;
      const contextValue = contextOf({ ...context, ...received, clientSignal });
      context = contextValue;
      const executed = execute(operation, contextValue);
      // Each wait takes a turn of the queue of microtasks.
      result = executed instanceof Promise ? await executed : executed;
    } catch (error) {
      // The pipeline masks errors of every kind.
      result = { errors: [error as GraphQLError] };
    }
    const completed = pipeline.completeHttpResult(result, context);
    const headers = options.corsHeaders(headersOf(request));
    const { acceptEncoding = null } = context;
    const sent = sendResult(response, completed, mediaType, headers, acceptEncoding, options.compress);
    if (sent) await sent;
    options.unsent.wrote(request.socket);
  };
};

/** The same request. Yoga reads `body` in place of the request's stream, which was read already. */
const withBody = (request: IncomingMessage, body: Buffer): IncomingMessage =>
  Object.assign(request, { body: Readable.from(body.length > 0 ? [body] : []) });

type ReadBody = { readonly body: Buffer; readonly limit: BodyLimit | null };

/**
 * Reads a whole body within the limit that `limitFor` returns; null for a body that is not limited. Rejects if it exceeds
 * the limit, with the error by which the limit aborts it, or if the client disconnects; no client reads the error then.
 */
const readBody = (
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
type Params = {
  readonly query?: string | null;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly extensions?: Readonly<Record<string, unknown>> | null;
};

/** Returns the parameters of a small body; null for any other body. `others` are the names of further parameters. */
const parseParams = (body: Buffer, others: readonly string[]): Params | null => {
  try {
    return paramsOf(JSON.parse(body.toString()), others);
  } catch (error) {
    return nullIfNoJson(error);
  }
};

/** As `parseParams`, for a body of any size. Rejects if the objects of the body have too many shapes. */
const parseLargeParams = async (body: Buffer, others: readonly string[]): Promise<Params | null> => {
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
