import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import { disconnectedSignalOf } from '../../http/exchange.ts';
import { InvalidDocument } from '../limits/documents.ts';
import type { HttpContext, OperationContext, Received, ServerContext } from '../operation-plugin.ts';
import type { Pipeline } from '../pipeline.ts';
import { acceptedBy } from './accept.ts';
import type { Receive } from './request.ts';
import type { SendResult } from './response.ts';

/** Answers an HTTP request. */
export type AnswerRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  shutdown: Pick<HttpContext, 'shutdownSignal'>,
) => Promise<void>;

type Options = {
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
export const createAnswer = (options: Options): AnswerRequest => {
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
