import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Caller, Context } from '../../context.ts';
import type { EstimateAnswer } from '../../graph/answer/estimate.ts';
import type { SharedAnswers } from '../../graph/answer/shared-answers.ts';
import type { Estimate } from '../../graph/cost/estimate.ts';
import type { PlannedSchema } from '../../graph/plan/planned-schema.ts';
import type { Trace } from '../../lib/trace-context.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import { createGraphiQLPage, graphiqlOptions } from '../browsers/graphiql.ts';
import type { BrowserPolicy } from '../browsers/origin-policy.ts';
import { traceOf } from '../http/request-id.ts';
import { type UnsentLimit, useUnsentLimit } from '../http/unsent-limit.ts';
import type { EventStreams } from '../sse/plugin.ts';
import type { EventObserver } from '../subscriptions/frame.ts';
import { useSharedExecution } from '../subscriptions/shared-execution.ts';
import { useAnswerLimit } from './limits/answer-size.ts';
import type { Budgets } from './limits/budgets.ts';
import { type ComputeUnitLimit, useComputeUnitLimits } from './limits/compute-units.ts';
import type { Documents } from './limits/documents.ts';
import { useErrorLimit } from './limits/error-limit.ts';
import { useRequestMemory } from './limits/request-memory.ts';
import { useSocketMemory } from './limits/socket-memory.ts';
import { useSubscriptionSize } from './limits/subscription-size.ts';
import type { MaskError } from './mask-errors.ts';
import { useAuthentication } from './plugins/authentication.ts';
import { corsFor, useCorsResponses } from './plugins/cors.ts';
import { useCsrfProtection } from './plugins/csrf.ts';
import { useErrorCodes } from './plugins/error-codes.ts';
import { useGetRequests } from './plugins/get-requests.ts';
import type { Operations } from './plugins/operation-observer.ts';
import { usePlannedExecution } from './plugins/planned-execution.ts';
import { useSharedAnswers } from './plugins/shared-answers.ts';
import { useShutdownTimeout } from './plugins/shutdown-mutations.ts';
import { useSseAccept } from './plugins/sse-accept.ts';
import { useUpstreamExtension } from './plugins/upstream-extension.ts';
import type { GraphQLServer, ServerContext } from './server-context.ts';
import { type TrustedDocuments, useTrustedDocuments } from './trusted-documents.ts';

type Options = BrowserPolicy & {
  readonly schema: GraphQLSchema;
  /** Null when the executor makes every list of an answer. */
  readonly planned: PlannedSchema | null;
  readonly authenticate: Authenticate;
  readonly documents: Documents;
  readonly createContext: (caller: Caller, trace: Trace, clientSignal: AbortSignal | null) => Context;
  readonly estimate: Estimate;
  readonly maxComputeUnits: number;
  readonly estimateAnswer: EstimateAnswer;
  readonly sharedAnswers: SharedAnswers;
  readonly maxAnswerBytes: number;
  readonly budgets: Budgets | null;
  /** Whether clients have to send credentials. */
  readonly needsCredentials: boolean;
  /** Whether upstream is the sandbox. */
  readonly isSandbox: boolean;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  /** Turns off what is for development: GraphiQL, introspection and suggestions. */
  readonly production: boolean;
  readonly mask: MaskError;
  readonly eventStreams: EventStreams;
  readonly events: EventObserver;
  readonly operations: Operations;
  readonly unsent: UnsentLimit;
  readonly onComputeUnitRejection: (limit: ComputeUnitLimit) => void;
};

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The one pipeline of all transports: HTTP, server-sent events and WebSocket have the same checks, limits, masking and counts. */
export const createGraphQL = (options: Options): GraphQLServer => {
  const { authenticate, createContext, documents, planned, trusted, mask, eventStreams, unsent } = options;
  const closed = options.production || trusted !== null;
  const graphiql = graphiqlOptions(options);
  const page = createGraphiQLPage(graphiql);
  return createYoga<ServerContext, Context>({
    schema: options.schema,
    plugins: [
      // Masks and reports first: it must see operations that a later plugin stops.
      options.operations.plugin,
      useUpstreamExtension(),

      // A document is trusted before it is prepared.
      trusted !== null && useTrustedDocuments(trusted),
      documents.plugin,

      // The executor is chosen before it is limited.
      planned !== null && usePlannedExecution(planned),

      // Limits: the budget of compute units is charged last, when nothing else rejects the operation. Each wraps the
      // execution of those above it, so the shutdown also answers operations that still wait for memory.
      useErrorLimit(),
      useSseAccept(),
      useSubscriptionSize(),
      useAnswerLimit(options),
      planned !== null && useSharedAnswers(options.sharedAnswers, planned),
      useSocketMemory(),
      useComputeUnitLimits(options),
      useShutdownTimeout(),
      useErrorCodes(),

      // HTTP requests: headers are checked before credentials, and credentials before memory for the body is reserved.
      useCsrfProtection(options),
      useGetRequests(),
      useAuthentication(authenticate),
      useRequestMemory(),

      // HTTP responses: rejected preflights are replaced before other headers are set.
      useCorsResponses(options),
      page.plugin,
      useUnsentLimit(unsent),

      // Subscriptions: the executor is replaced last, and event streams are made of its results.
      useSharedExecution(mask, options.events),
      eventStreams.plugin,
    ],
    context: ({ request, req, res, socketCaller, httpCaller, trace, clientSignal }) => {
      const caller = socketCaller ?? httpCaller;
      if (!caller) throw new TypeError('Expected a caller, got none.');
      return createContext(
        caller,
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
    parserAndValidationCache: documents.cache,
    logging: false,
    // The first plugin masks errors: it knows the operation that they belong to.
    maskedErrors: false,
    cors: corsFor(options),
  });
};
