import type { GraphQLSchema } from 'graphql';
import { createYoga, type GraphQLParams } from 'graphql-yoga';
import { clientError } from '../../graph/errors.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import { createGraphiQLPage, graphiqlOptions } from '../browsers/graphiql.ts';
import type { BrowserPolicy } from '../browsers/origin-policy.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Compress } from '../http/compressor.ts';
import { type UnsentLimit, useUnsentLimit } from '../http/unsent-limit.ts';
import type { EventStreams } from '../subscriptions/event-stream.ts';
import { useCompression } from './answers/compression.ts';
import { useValidityHeaders } from './answers/conditional-gets.ts';
import { type CheckHeaders, type CorsHeaders, useCors, useCsrfProtection } from './cross-origin.ts';
import type { Documents } from './limits/documents.ts';
import { MAX_BODY_BYTES, type RequestMemory, useBodyLimits } from './limits/request-memory.ts';
import type { OperationContext, ServerContext, ServerPlugin } from './operation-plugin.ts';
import { type Pipeline, usePipeline } from './pipeline.ts';
import { type TrustedDocuments, useTrustedDocuments } from './trusted-documents.ts';

export type YogaOptions = BrowserPolicy & {
  readonly schema: GraphQLSchema;
  readonly pipeline: Pipeline;
  readonly contextOf: (context: ServerContext) => OperationContext;
  readonly checkHeaders: CheckHeaders;
  readonly authenticate: Authenticate;
  readonly clientAddress: ClientAddress;
  readonly requestMemory: RequestMemory;
  readonly documents: Documents;
  /** Whether clients have to send credentials. */
  readonly needsCredentials: boolean;
  /** The header that carries them; null where they need none. */
  readonly credentialHeader: string | null;
  /** Whether upstream is the sandbox. */
  readonly isSandbox: boolean;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  /** Turns off what is for development: GraphiQL, introspection and suggestions. */
  readonly production: boolean;
  readonly corsHeaders: CorsHeaders;
  readonly eventStreams: EventStreams;
  readonly unsent: UnsentLimit;
  readonly compress: Compress;
};

/** Answers HTTP requests of every kind: by GET and POST, with an event stream or a single result, and GraphiQL. */
export const createYogaServer = (options: YogaOptions) => {
  const { authenticate, clientAddress, contextOf, documents, pipeline, trusted, eventStreams, unsent } =
    options;
  const closed = options.production || trusted !== null;
  const graphiql = graphiqlOptions(options);
  const page = createGraphiQLPage(graphiql);
  return createYoga<ServerContext>({
    schema: options.schema,
    plugins: [
      // A document is trusted before it is prepared.
      trusted !== null && useTrustedDocuments(trusted),
      documents.plugin,
      usePipeline(pipeline, contextOf),

      // Requests: headers are checked before credentials, and credentials before memory for the body is reserved.
      useCsrfProtection(options.checkHeaders),
      useGetRequests(),
      useAuthentication(authenticate, clientAddress),
      useBodyLimits(options.requestMemory),

      // Responses: rejected preflights are replaced before other headers are set.
      useCors(options.corsHeaders, options),
      page.plugin,
      useValidityHeaders(options.credentialHeader),
      useCompression(options.compress),
      useUnsentLimit(unsent),

      // Event streams are made of the pipeline's results.
      eventStreams.plugin,
    ],
    graphqlEndpoint: '/graphql',
    // The page of another name gets the error of the CSRF protection.
    graphiql: ({ headers }) => !closed && options.hostRejectionOf(headers) === null && graphiql,
    renderGraphiQL: page.render,
    landingPage: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: MAX_BODY_BYTES,
    // The documents have a cache of their own.
    parserAndValidationCache: false,
    logging: false,
    // The pipeline masks errors: it knows the operation that they belong to.
    maskedErrors: false,
    cors: false,
  });
};

/**
 * Authenticates each HTTP request before any of its body is read, unless its caller is known already. A WebSocket is
 * authenticated in websocket/.
 */
const useAuthentication = (authenticate: Authenticate, clientAddress: ClientAddress): ServerPlugin => ({
  async onRequestParse({ request, serverContext }) {
    const { req } = serverContext;
    serverContext.httpCaller ??= await authenticate(request.headers, req && (() => clientAddress(req)));
  },
});

type Params = GraphQLParams & { readonly documentId?: string };

/** Reads a GET's operation from its URL: `documentId` as well, and rejects parameters that aren't JSON with BAD_USER_INPUT. */
const useGetRequests = (): ServerPlugin => ({
  onRequestParse({ request, setRequestParser }) {
    if (request.method === 'GET') setRequestParser(parseQuery);
  },
});

const parseQuery = ({ url }: Request): Params => {
  const given = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const params: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) params[name] = given.get(name) || undefined;
  for (const name of ['variables', 'extensions']) params[name] = parseJson(name, given.get(name));
  return params;
};

const parseJson = (name: string, text: string | null): unknown => {
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw clientError('BAD_USER_INPUT', `Expected ${name} to be JSON, got something else.`, {
      http: { status: 400, spec: true },
    });
  }
};
