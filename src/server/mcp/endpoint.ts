import type { IncomingMessage, ServerResponse } from 'node:http';
import { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
import { GraphQLError } from 'graphql';
import Negotiator from 'negotiator';
import { clientError } from '../../graph/errors.ts';
import { totalLength } from '../../lib/buffers.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import { type BrowserPolicy, type CorsHeaders, createCsrfCheck } from '../browsers/origin-policy.ts';
import { type Attribute, OTHER_CLIENT } from '../graphql/attribution.ts';
import { createRequestMemory } from '../graphql/limits/request-memory.ts';
import type { Operations } from '../graphql/observe.ts';
import { createReadPost } from '../graphql/over-http/request.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { disconnectedSignalOf, headersOf, traceOf, writeHeaderBlock } from '../http/exchange.ts';
import type { UnsentLimit } from '../http/unsent-limit.ts';
import type { WholeRequest } from '../http/whole-body.ts';
import { type Answer, type AnswerMessage, errorAnswer } from './protocol.ts';

/** Answers a request of an MCP client. */
export type AnswerMcp = (
  request: WholeRequest,
  response: ServerResponse,
  shutdown: { readonly shutdownSignal: AbortSignal },
) => Promise<void>;

export type EndpointOptions = Pick<BrowserPolicy, 'rejectionOf'> & {
  readonly answerMessage: AnswerMessage;
  readonly authenticate: Authenticate;
  readonly clientAddress: ClientAddress;
  readonly attribute: Attribute;
  readonly operations: Operations;
  readonly corsHeaders: CorsHeaders;
  readonly unsent: Pick<UnsentLimit, 'wrote'>;
};

type Headers = Readonly<Record<string, string>>;

/**
 * Serves MCP over streamable HTTP: each POST is one message, and its answer. A request is checked as one of GraphQL is, in the
 * same order: its headers, its credentials, and its size.
 */
export const createMcpEndpoint = (options: EndpointOptions): AnswerMcp => {
  const { answerMessage, authenticate, clientAddress, attribute, operations } = options;
  const { rejectionOf, corsHeaders, unsent } = options;
  const checkHeaders = createCsrfCheck(options);
  const readPost = createReadPost(createRequestMemory(), (message) => ({ message }));

  const send = (request: IncomingMessage, response: ServerResponse, answer: Answer, others: Headers = {}) => {
    if (response.headersSent || response.destroyed) return;
    const { status, contentType, body } = answer;
    writeHeaderBlock(
      response,
      status,
      {
        'content-length': String(totalLength(body)),
        ...(contentType !== null && { 'content-type': contentType }),
      },
      { ...corsHeaders(headersOf(request)), ...others },
    );
    response.cork();
    for (const part of body) response.write(part);
    response.end();
    unsent.wrote(request.socket);
  };

  return async (request, response, { shutdownSignal }) => {
    const { method = 'GET' } = request;
    const headers = headersOf(request);
    const trace = traceOf(response);
    const clientSignal = disconnectedSignalOf(response);
    const client = attribute.clientIn(request.headers);
    try {
      const isPreflight = method === 'OPTIONS';
      const rejection = isPreflight ? rejectionOf(headers) : checkHeaders(method, headers);
      if (rejection) throw rejection;
      if (isPreflight) return send(request, response, EMPTY);
      const caller = await authenticate(headers, () => clientAddress(request));
      if (method !== 'POST') return send(request, response, NOT_A_POST, { allow: 'POST' });
      assertReadsJson(request.headers.accept || '*/*');
      const { message } = await readPost(request, response, caller.billingKey);
      const context = { caller, trace, clientSignal, shutdownSignal };
      send(request, response, await answerMessage(message, request.headers, context, client));
    } catch (thrown) {
      if (clientSignal.aborted) return;
      const [error] = operations.rejected('mcp', [thrown], trace, client ?? OTHER_CLIENT);
      const { status, headers: others } = httpOf(thrown);
      if (error) send(request, response, toAnswer(error, status), others);
    }
  };
};

/** The specification asks clients to read event streams, too. Those that do not, such as curl, read these answers as well. */
const assertReadsJson = (accept: string): void => {
  if (accept.length > MAX_CHARACTERS) return;
  const negotiator = new Negotiator({ headers: { accept } });
  if (negotiator.mediaTypes(JSON_TYPES).length > 0) return;
  const message = `Expected an Accept with application/json, got ${accept}.`;
  throw clientError('BAD_USER_INPUT', message, { http: { status: 406 } });
};

/** A longer header takes more time than it is worth: its client is answered in JSON. */
const MAX_CHARACTERS = 1024;

/** A media range with a parameter matches only a type that has it. */
const JSON_TYPES = ['application/json', 'application/json;charset=utf-8'];

const EMPTY: Answer = { status: 204, contentType: null, body: [] };

const NOT_A_POST = errorAnswer(405, {
  code: INVALID_REQUEST,
  message: 'Expected POST, got another method: this server has no sessions, and sends no notifications.',
});

/** The status and the headers that an error asks for. Each counts, as for clients that accept `application/graphql-response+json`. */
const httpOf = (error: unknown): { readonly status: number; readonly headers: Headers } => {
  const http = error instanceof GraphQLError ? error.extensions.http : null;
  return { status: 500, headers: {}, ...(http ?? {}) };
};

/** JSON-RPC leaves the codes from -32000 on to servers. */
const SERVER_ERROR = -32_000;

const toAnswer = ({ message, extensions }: GraphQLError, status: number): Answer =>
  errorAnswer(status, { code: status === 400 ? PARSE_ERROR : SERVER_ERROR, message, data: extensions });
