import type { ServerResponse } from 'node:http';
import type { ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import type { Caller, Context } from '../../context.ts';
import type { SharedAnswers } from '../../graph/answer/shared-answers.ts';
import type { Estimate } from '../../graph/cost/estimate.ts';
import { executeAny, executeFast } from '../../graph/executor.ts';
import type { PlannedSchema } from '../../graph/plan/planned-schema.ts';
import { shareResult } from '../../lib/memo.ts';
import type { Trace } from '../../lib/trace.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import { createCorsHeaders, createCsrfCheck } from '../browsers/origin-policy.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { createCompressor } from '../http/compressor.ts';
import { createTrace, disconnectedSignalOf, setCommonHeaders, traceOf } from '../http/exchange.ts';
import type { WholeRequest } from '../http/whole-body.ts';
import type { EventObserver } from '../subscriptions/frame.ts';
import { useSharedExecution } from '../subscriptions/shared-execution.ts';
import { type MaskError, useErrorLimit, useErrorStatuses } from './errors.ts';
import { useIncrementalDelivery, useLastPart } from './incremental-delivery.ts';
import { useAnswerLimit, useSocketMemory, useSubscriptionSize } from './limits/answer-size.ts';
import { type ClientBudgets, type ComputeUnitLimit, useComputeUnitLimits } from './limits/compute-units.ts';
import { type Documents, InvalidDocument } from './limits/documents.ts';
import { createRequestMemory } from './limits/request-memory.ts';
import { type Operations, useUpstreamExtension } from './observe.ts';
import type { HttpContext, OperationContext, Received, ServerContext } from './operation-plugin.ts';
import { acceptedBy } from './over-http/accept.ts';
import { type KnownAnswers, useConditionalGets } from './over-http/conditional-gets.ts';
import { createReceive, type Receive } from './over-http/request.ts';
import { createSendResult, type SendResult, useCompressibleAnswers } from './over-http/response.ts';
import type { PersistedQueries } from './persisted-queries.ts';
import {
  createPipeline,
  type Pipeline,
  useEventsAccept,
  useOperationMemory,
  usePlannedExecution,
  useSharedAnswers,
  useShutdownTimeout,
} from './pipeline.ts';
import type { TrustedDocuments } from './trusted-documents.ts';
import { createYogaServer, type YogaOptions } from './yoga.ts';

type Options = Omit<
  YogaOptions,
  'pipeline' | 'contextOf' | 'receive' | 'sendResult' | 'corsHeaders' | 'closed'
> & {
  readonly authenticate: Authenticate;
  readonly clientAddress: ClientAddress;
  readonly documents: Documents;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  readonly persisted: PersistedQueries;
  /** The header that carries credentials; null where clients need none. */
  readonly credentialHeader: string | null;
  readonly production: boolean;
  readonly mask: MaskError;
  readonly createContext: (caller: Caller, trace: Trace, clientSignal: AbortSignal | null) => Context;
  readonly estimate: Estimate;
  readonly maxComputeUnits: number;
  /** Null where each operation makes its own answer. */
  readonly sharedAnswers: SharedAnswers | null;
  readonly knownAnswers: KnownAnswers;
  /** Null when the executor makes every list of an answer. */
  readonly planned: PlannedSchema | null;
  readonly maxAnswerBytes: number;
  readonly budgets: ClientBudgets | null;
  readonly events: EventObserver;
  readonly operations: Operations;
  readonly onComputeUnitRejection: (limit: ComputeUnitLimit) => void;
  /** Whether answers over HTTP are compressed for clients that accept it. */
  readonly compression: boolean;
  /** Whether ordinary POSTs are answered without the Fetch API. The answers are the same. */
  readonly directPosts: boolean;
};

/** GraphQL for all transports. */
export type GraphQLServer = {
  readonly schema: GraphQLSchema;
  readonly pipeline: Pipeline;
  /** Creates the context of an operation of an authenticated caller. */
  contextOf<Given extends ServerContext>(given: Given): OperationContext & Given;
  readonly answer: AnswerRequest;
};

/** The one pipeline of all transports: HTTP, server-sent events and WebSocket have the same checks, limits, masking and counts. */
export const createGraphQL = (options: Options): GraphQLServer => {
  const corsHeaders = createCorsHeaders(options);
  const { compress, openPartEncoder } = createCompressor();
  const { schema, planned, sharedAnswers, trusted, createContext, documents, eventStreams, mask } = options;
  const executor = planned === null ? executeAny : executeFast;
  const pipeline = createPipeline(executor, [
    // Masks and reports first: it must see operations that a later plugin stops.
    options.operations.plugin,
    useUpstreamExtension(),
    ...(options.compression ? [useCompressibleAnswers(schema)] : []),
    documents.suggestions,
    useOperationMemory(),

    // The executor is chosen before it is limited, and what it executes before that.
    useIncrementalDelivery({ corsHeaders, openPartEncoder, unsent: options.unsent }),
    ...(planned === null ? [] : [usePlannedExecution(planned)]),

    // Limits: the budget of compute units is charged last, when nothing else rejects the operation. Each wraps the
    // execution of those above it, so the shutdown also answers operations that still wait for memory.
    useErrorLimit(),
    useEventsAccept(),
    useSubscriptionSize(),
    useAnswerLimit(options),
    ...(planned === null || sharedAnswers === null
      ? []
      : [
          useSharedAnswers(sharedAnswers, planned),
          useConditionalGets(planned, { ...options, sharedAnswers }),
        ]),
    useSocketMemory(),
    useComputeUnitLimits(options),
    useShutdownTimeout(),
    useErrorStatuses(),
    useLastPart(),

    // Subscriptions: the executor is replaced before the last check, the one that asks upstream.
    useSharedExecution(executor, mask, options.events),
    eventStreams.verification,
  ]);
  const contextOf = <Given extends ServerContext>(given: Given): OperationContext & Given => {
    const { res, received, trace, clientSignal } = given;
    const caller = given.caller ?? received?.caller;
    if (!caller) throw new TypeError('Expected a caller, got none.');
    const created = createContext(
      caller,
      trace ?? (res ? traceOf(res) : createTrace()),
      clientSignal ?? null,
    );
    return Object.assign(created, given);
  };
  const receive = createReceive({
    ...options,
    checkHeaders: createCsrfCheck(options),
    requestMemory: createRequestMemory(),
  });
  const sendResult = createSendResult({ ...options, corsHeaders, compress });
  const http = { pipeline, contextOf, receive, sendResult, corsHeaders };
  // Yoga and the Fetch API take a tenth of the CPU of a start, and 7 MiB: they are loaded for the first request that needs them.
  const startYoga = shareResult(() =>
    createYogaServer({ ...options, ...http, closed: options.production || trusted !== null }),
  );
  const answerByYoga = async (context: HttpContext): Promise<void> => {
    setCommonHeaders(context.res);
    const yoga = await startYoga();
    await yoga(context.req, context.res, context);
  };
  return { schema, pipeline, contextOf, answer: createAnswer({ ...options, ...http, answerByYoga }) };
};

/** Answers an HTTP request. */
type AnswerRequest = (
  request: WholeRequest,
  response: ServerResponse,
  shutdown: Pick<HttpContext, 'shutdownSignal'>,
) => Promise<void>;

type AnswerOptions = {
  readonly schema: GraphQLSchema;
  readonly pipeline: Pipeline;
  readonly contextOf: <Given extends ServerContext>(given: Given) => OperationContext & Given;
  readonly receive: Receive;
  readonly sendResult: SendResult;
  /** Whether ordinary POSTs are answered without the Fetch API. The answers are the same. */
  readonly directPosts: boolean;
  readonly answerByYoga: (context: HttpContext) => Promise<void>;
};

/**
 * Answers the POST of a query or a mutation, for a client that accepts a single result, without the requests, responses and
 * streams of the Fetch API, which cost several times as much as the rest. Yoga answers all other requests. Both receive a
 * request, execute its operation and send its result by the same functions.
 */
const createAnswer = (options: AnswerOptions): AnswerRequest => {
  const { schema, pipeline, contextOf, receive, sendResult, directPosts, answerByYoga } = options;

  const execute = ({ document, params }: Received, contextValue: OperationContext) => {
    const { operationName, variables: variableValues } = params;
    return pipeline.execute({ schema, document, contextValue, operationName, variableValues });
  };

  return async (req, res, { shutdownSignal }) => {
    const context: HttpContext = { req, res, shutdownSignal, clientSignal: disconnectedSignalOf(res) };
    const { single, prefersEvents } = acceptedBy(req);
    // Yoga does not find its route in every URL with a search.
    const isOrdinary = req.method === 'POST' && req.url === '/graphql' && !prefersEvents;
    if (!directPosts || !isOrdinary || single === null) return answerByYoga(context);
    let ofResult: ServerContext & HttpContext = context;
    let result: ExecutionResult;
    try {
      const received = await receive(req, res, context.clientSignal);
      context.received = received;
      if (received.type === 'subscription') return answerByYoga(context);
      const contextValue = contextOf(context);
      ofResult = contextValue;
      const executed = execute(received, contextValue);
      // Each wait takes a turn of the queue of microtasks.
      result = executed instanceof Promise ? await executed : executed;
    } catch (error) {
      // The pipeline masks errors of every kind.
      result = { errors: error instanceof InvalidDocument ? error.errors : [error as GraphQLError] };
    }
    const sent = sendResult(ofResult, pipeline.completeHttpResult(result, ofResult), single);
    if (sent) await sent;
  };
};
