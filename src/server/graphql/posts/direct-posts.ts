import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type DocumentNode, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import type { Caller } from '../../../context.ts';
import { traceOf } from '../../http/request-id.ts';
import { disconnectedSignalOf } from '../../http/response-end.ts';
import { isSmallBody, limitBody } from '../limits/body-limits.ts';
import type { OperationContext, ServerContext } from '../server-context.ts';
import type { YogaOptions } from '../yoga.ts';
import { type Params, parseLargeParams, parseParams, readBody } from './request-body.ts';
import { directMediaTypeOf, headersOf } from './request-head.ts';
import { sendResult } from './response.ts';

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
