import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError, GraphQLSchema } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Caller, Context } from '../../context.ts';
import type { EstimateAnswer } from '../../graph/answer/estimate.ts';
import type { Estimate } from '../../graph/cost/estimate.ts';
import type { Trace } from '../../lib/trace-context.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import { useAuthentication } from '../auth/plugin.ts';
import { graphiqlOptions } from '../browsers/graphiql.ts';
import { createGraphiQLPage } from '../browsers/graphiql-page.ts';
import type { AllowsCrossOrigin, IsAllowedOrigin, IsOwnHost } from '../browsers/origin-check.ts';
import type { OriginErrors } from '../browsers/origin-errors.ts';
import { traceOf } from '../http/request-id.ts';
import { type UnsentLimit, useUnsentLimit } from '../http/unsent-limit.ts';
import type { EventStreams } from '../sse/plugin.ts';
import type { EventObserver } from '../subscriptions/frame.ts';
import { useSharedExecution } from '../subscriptions/shared-execution.ts';
import { useAnswerLimit } from './limits/answer-size.ts';
import { useBodyBudget } from './limits/body-budget.ts';
import type { Budgets } from './limits/budgets.ts';
import { type ComputeUnitLimit, useComputeUnitLimits } from './limits/compute-units.ts';
import type { Documents } from './limits/documents.ts';
import { useErrorLimit } from './limits/error-limit.ts';
import { useDocumentPreparation } from './limits/prepare-documents.ts';
import { type SocketMemory, useSocketMemory } from './limits/socket-memory.ts';
import { useSubscriptionSize } from './limits/subscription-size.ts';
import { corsFor, useRefusedPreflights, useVaryByOrigin } from './plugins/cors.ts';
import { useCsrfProtection } from './plugins/csrf.ts';
import { useErrorCodes } from './plugins/error-codes.ts';
import { useGetRequests } from './plugins/get-requests.ts';
import { useHttpStatus } from './plugins/http-status.ts';
import { useJsonOnly } from './plugins/json-only.ts';
import type { Operations } from './plugins/operation-observer.ts';
import { useShutdownTimeout } from './plugins/shutdown-mutations.ts';
import { useSseAccept } from './plugins/sse-accept.ts';
import { useUpstreamExtension } from './plugins/upstream-extension.ts';
import { rewriteYogaError } from './plugins/yoga-messages.ts';
import { type TrustedDocuments, useTrustedDocuments } from './trusted-documents.ts';

/** What an operation comes with beside itself: an HTTP request, or what is known of its WebSocket. */
type ServerContext = {
  readonly request?: Request;
  /** The HTTP request and its response, as Node has them. */
  readonly req?: IncomingMessage;
  readonly res?: ServerResponse;
  /** Whom a WebSocket acts for. */
  readonly caller?: Caller;
  /** The client of an HTTP request, see server/auth/plugin.ts. */
  readonly admitted?: Caller;
  readonly trace?: Trace;
  /** Of the WebSocket's message that it came with. */
  readonly bytes?: number;
  /** Of the WebSocket that it came by. */
  readonly socketMemory?: SocketMemory;
  /** Aborts when a WebSocket's client has completed the operation, or has gone. */
  readonly clientSignal?: AbortSignal;
  /** Aborts when what the operation has come to must be said now, see server/graphql/plugins/shutdown-mutations.ts. */
  readonly shutdownSignal?: AbortSignal;
};

export type GraphQLServer = YogaServerInstance<ServerContext, Context>;

type Options = {
  readonly schema: GraphQLSchema;
  readonly authenticate: Authenticate;
  readonly documents: Documents;
  readonly createContext: (caller: Caller, trace: Trace, clientSignal: AbortSignal | null) => Context;
  readonly estimate: Estimate;
  readonly maxComputeUnits: number;
  readonly estimateAnswer: EstimateAnswer;
  readonly maxAnswerBytes: number;
  readonly budgets: Budgets | null;
  readonly allowsCrossOrigin: AllowsCrossOrigin;
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly isOwnHost: IsOwnHost;
  readonly refusals: OriginErrors;
  /** Whether clients have to send credentials. */
  readonly needsCredentials: boolean;
  /** Whether the service is made up. */
  readonly isSandbox: boolean;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  /** GraphiQL, introspection and suggestions are for development. */
  readonly production: boolean;
  /** What a client is told of an error. */
  readonly mask: (error: unknown) => GraphQLError;
  readonly eventStreams: EventStreams;
  readonly events: EventObserver;
  readonly operations: Operations;
  readonly unsent: UnsentLimit;
  readonly onComputeUnitRefusal: (limit: ComputeUnitLimit) => void;
};

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** One pipeline for every transport: what it refuses, masks and counts holds on HTTP, SSE and WebSocket alike. */
export const createGraphQL = (options: Options): GraphQLServer => {
  const { schema, authenticate, createContext, trusted, mask, eventStreams, unsent } = options;
  const closed = options.production || trusted !== null;
  const graphiql = graphiqlOptions(options);
  const page = createGraphiQLPage(graphiql);
  return createYoga<ServerContext, Context>({
    schema,
    plugins: [
      options.operations.plugin,
      useUpstreamExtension(),
      trusted !== null && useTrustedDocuments(trusted),
      useDocumentPreparation(options.documents),
      options.documents.plugin,
      useErrorLimit(),
      useSseAccept(),
      useSubscriptionSize(),
      useAnswerLimit(options),
      useSocketMemory(),
      useComputeUnitLimits(options),
      useShutdownTimeout(),
      useHttpStatus(),
      useErrorCodes(),
      useCsrfProtection(options),
      useJsonOnly(),
      useGetRequests(),
      useAuthentication(authenticate),
      useBodyBudget(),
      useRefusedPreflights(options.isAllowedOrigin, options.refusals),
      useVaryByOrigin(),
      page.plugin,
      useUnsentLimit(unsent),
      useSharedExecution(mask, options.events),
      eventStreams.plugin,
    ],
    context: ({ request, req, res, caller, admitted, trace, clientSignal }) => {
      const known = caller ?? admitted;
      if (!known) throw new TypeError('Expected a caller, got none.');
      return createContext(
        known,
        trace ?? traceOf(req?.headers.traceparent, res),
        clientSignal ?? request.signal,
      );
    },
    graphqlEndpoint: '/graphql',
    graphiql: !closed && graphiql,
    renderGraphiQL: page.render,
    landingPage: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: MAX_BODY_BYTES,
    parserAndValidationCache: options.documents.cache,
    logging: false,
    maskedErrors: { maskError: (error) => mask(rewriteYogaError(error)) },
    cors: corsFor(options.allowsCrossOrigin),
  });
};
