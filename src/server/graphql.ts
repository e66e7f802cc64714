import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError, GraphQLSchema } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Caller, Context } from '../context.ts';
import type { Estimate } from '../graph/estimate.ts';
import { type Authenticate, credentialsIn } from './auth.ts';
import type { Budgets } from './budgets.ts';
import { useComputeUnitLimits } from './compute-units.ts';
import { corsFor, useVaryByOrigin } from './cors.ts';
import { useSameSiteOnly } from './cross-site.ts';
import { createDocumentCache } from './document-cache.ts';
import { useDocumentLimits } from './document-limits.ts';
import { useErrorCodes } from './error-codes.ts';
import { useErrorLimit } from './error-limit.ts';
import type { EventStreams } from './event-streams.ts';
import { useGetQueries } from './get-queries.ts';
import { graphiql } from './graphiql.ts';
import { createGraphiQLPage } from './graphiql-page.ts';
import { useJsonOnly } from './json-only.ts';
import type { IsAllowedOrigin, IsOwnHost } from './origins.ts';
import { useRefusalStatus } from './refusal-status.ts';
import { useStreamOnly } from './stream-only.ts';
import { type TrustedDocuments, useTrustedDocuments } from './trusted-documents.ts';
import { useUpstreamExtension } from './upstream-extension.ts';

/** What an operation comes with beside itself: an HTTP request, or a WebSocket's connectionParams. */
type Arrival = {
  readonly request?: Request;
  /** The HTTP request by which it came, or by which its WebSocket was opened. */
  readonly req?: IncomingMessage;
  /** What an HTTP request is answered by. */
  readonly res?: ServerResponse;
  readonly connectionParams?: Readonly<Record<string, unknown>>;
  /** Aborts when a WebSocket has closed. */
  readonly gone?: AbortSignal;
};

export type GraphQLServer = YogaServerInstance<Arrival, Context>;

type Options = {
  readonly schema: GraphQLSchema;
  readonly authenticate: Authenticate;
  readonly createContext: (caller: Caller, gone: AbortSignal | null) => Context;
  readonly estimate: Estimate;
  readonly maxComputeUnits: number;
  readonly budgets: Budgets | null;
  readonly allowedOrigins: readonly string[];
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly isOwnHost: IsOwnHost;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  /** GraphiQL, introspection and suggestions are for development. */
  readonly production: boolean;
  /** What a client is told of an error. */
  readonly mask: (error: unknown) => GraphQLError;
  readonly eventStreams: EventStreams;
};

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** One pipeline for every transport: what it refuses, masks and counts holds on HTTP, SSE and WebSocket alike. */
export const createGraphQL = (options: Options): GraphQLServer => {
  const { schema, authenticate, createContext, allowedOrigins, trusted, mask, eventStreams } = options;
  const closed = options.production || trusted !== null;
  const page = createGraphiQLPage();
  return createYoga<Arrival, Context>({
    schema,
    plugins: [
      useUpstreamExtension(),
      trusted !== null && useTrustedDocuments(trusted),
      useDocumentLimits({ closed }),
      useErrorLimit(),
      useStreamOnly(),
      useComputeUnitLimits(options),
      useRefusalStatus(),
      useErrorCodes(),
      useSameSiteOnly(options),
      useJsonOnly(),
      useGetQueries(),
      useVaryByOrigin(),
      page.plugin,
      eventStreams.plugin,
    ],
    context: ({ request, req, connectionParams, gone }) =>
      createContext(
        authenticate(
          connectionParams ? credentialsIn(connectionParams) : request.headers,
          req?.socket.remoteAddress,
        ),
        gone ?? request.signal,
      ),
    graphqlEndpoint: '/graphql',
    graphiql: closed ? false : graphiql,
    renderGraphiQL: page.render,
    landingPage: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: MAX_BODY_BYTES,
    parserAndValidationCache: createDocumentCache(),
    logging: false,
    maskedErrors: { maskError: mask },
    cors: allowedOrigins.length > 0 && corsFor(allowedOrigins),
  });
};
