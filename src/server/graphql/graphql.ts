import type { GraphQLSchema } from 'graphql';
import type { Caller, Context } from '../../context.ts';
import type { EstimateAnswer } from '../../graph/answer/estimate.ts';
import type { KnownAnswers } from '../../graph/answer/known-answers.ts';
import type { SharedAnswers } from '../../graph/answer/shared-answers.ts';
import type { Estimate } from '../../graph/cost/estimate.ts';
import type { PlannedSchema } from '../../graph/plan/planned-schema.ts';
import type { Trace } from '../../lib/trace.ts';
import { createCompressor } from '../http/compressor.ts';
import { createTrace, setCommonHeaders, traceOf } from '../http/exchange.ts';
import type { EventObserver } from '../subscriptions/frame.ts';
import { useSharedExecution } from '../subscriptions/shared-execution.ts';
import { useCompressibleAnswers } from './answers/compression.ts';
import { useConditionalGets } from './answers/conditional-gets.ts';
import { type AnswerRequest, createDirectPosts } from './answers/direct-posts.ts';
import { createCorsHeaders, createCsrfCheck } from './cross-origin.ts';
import type { MaskError } from './errors.ts';
import { useErrorLimit, useErrorStatuses } from './errors.ts';
import {
  useOperationMemory,
  usePlannedExecution,
  useSharedAnswers,
  useShutdownTimeout,
  useSseAccept,
} from './execution.ts';
import { useIncrementalDelivery, useLastPart } from './incremental/plugin.ts';
import { useAnswerLimit, useSocketMemory, useSubscriptionSize } from './limits/answer-size.ts';
import type { ClientBudgets } from './limits/compute-units.ts';
import { type ComputeUnitLimit, useComputeUnitLimits } from './limits/compute-units.ts';
import { createRequestMemory } from './limits/request-memory.ts';
import type { Operations } from './observe.ts';
import { useUpstreamExtension } from './observe.ts';
import type { OperationContext, ServerContext } from './operation-plugin.ts';
import { createPipeline, type Pipeline } from './pipeline.ts';
import { createYogaServer, type YogaOptions } from './yoga.ts';

/** What the answers by Yoga and the direct ones have in common. */
type HttpParts = Pick<
  YogaOptions,
  'pipeline' | 'contextOf' | 'checkHeaders' | 'corsHeaders' | 'requestMemory' | 'compress'
>;

type Options = Omit<YogaOptions, keyof HttpParts> & {
  readonly mask: MaskError;
  readonly createContext: (caller: Caller, trace: Trace, clientSignal: AbortSignal | null) => Context;
  readonly estimate: Estimate;
  readonly maxComputeUnits: number;
  readonly estimateAnswer: EstimateAnswer;
  readonly sharedAnswers: SharedAnswers;
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
  contextOf(context: ServerContext): OperationContext;
  readonly answer: AnswerRequest;
};

/** The one pipeline of all transports: HTTP, server-sent events and WebSocket have the same checks, limits, masking and counts. */
export const createGraphQL = (options: Options): GraphQLServer => {
  const corsHeaders = createCorsHeaders(options);
  const { schema, planned, trusted, createContext, documents, eventStreams, mask } = options;
  const pipeline = createPipeline([
    // Masks and reports first: it must see operations that a later plugin stops.
    options.operations.plugin,
    useUpstreamExtension(),
    ...(options.compression ? [useCompressibleAnswers(schema)] : []),
    documents.suggestions,
    useOperationMemory(),

    // The executor is chosen before it is limited, and what it executes before that.
    useIncrementalDelivery({ corsHeaders, unsent: options.unsent }),
    ...(planned === null ? [] : [usePlannedExecution(planned)]),

    // Limits: the budget of compute units is charged last, when nothing else rejects the operation. Each wraps the
    // execution of those above it, so the shutdown also answers operations that still wait for memory.
    useErrorLimit(),
    useSseAccept(),
    useSubscriptionSize(),
    useAnswerLimit(options),
    ...(planned === null ? [] : [useSharedAnswers(options.sharedAnswers, planned)]),
    ...(planned === null || trusted === null ? [] : [useConditionalGets(planned, options)]),
    useSocketMemory(),
    useComputeUnitLimits(options),
    useShutdownTimeout(),
    useErrorStatuses(),
    useLastPart(),

    // Subscriptions: the executor is replaced before the last check, the one that asks upstream.
    useSharedExecution(mask, options.events),
    eventStreams.verification,
  ]);
  const contextOf = (given: ServerContext): OperationContext => {
    const { request, res, socketCaller, httpCaller, trace, clientSignal } = given;
    const caller = socketCaller ?? httpCaller;
    if (!caller) throw new TypeError('Expected a caller, got none.');
    const created = createContext(
      caller,
      trace ?? (res ? traceOf(res) : createTrace()),
      clientSignal ?? request?.signal ?? null,
    );
    return Object.assign(created, given);
  };
  const http: HttpParts = {
    pipeline,
    contextOf,
    checkHeaders: createCsrfCheck(options),
    corsHeaders,
    requestMemory: createRequestMemory(),
    compress: createCompressor(),
  };
  const yoga = createYogaServer({ ...options, ...http });
  const answerByYoga: AnswerRequest = async (request, response, context) => {
    setCommonHeaders(response);
    await yoga(request, response, context);
  };
  return {
    schema,
    pipeline,
    contextOf,
    answer: options.directPosts ? createDirectPosts({ ...options, ...http, answerByYoga }) : answerByYoga,
  };
};
