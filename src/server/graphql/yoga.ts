import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Authenticate } from '../auth/authenticate.ts';
import { createGraphiQLPage, graphiqlOptions } from '../browsers/graphiql.ts';
import type { BrowserPolicy } from '../browsers/origin-policy.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Compress } from '../http/compressor.ts';
import { type UnsentLimit, useUnsentLimit } from '../http/unsent-limit.ts';
import type { EventStreams } from '../sse/plugin.ts';
import { useCompression } from './answers/compression.ts';
import { useValidityHeaders } from './answers/validity-headers.ts';
import { MAX_BODY_BYTES, useBodyLimits } from './limits/body-limits.ts';
import type { Documents } from './limits/documents.ts';
import type { RequestMemory } from './limits/request-memory.ts';
import { type Pipeline, usePipeline } from './pipeline.ts';
import { useAuthentication } from './plugins/authentication.ts';
import { type CorsHeaders, useCors } from './plugins/cors.ts';
import { type CheckHeaders, useCsrfProtection } from './plugins/csrf.ts';
import { useGetRequests } from './plugins/get-requests.ts';
import type { OperationContext, ServerContext } from './server-context.ts';
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
