import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { assembleJson, SerializedData } from '../../graph/answer/serialize.ts';
import { createGraphiQLPage, graphiqlOptions } from '../browsers/graphiql.ts';
import { type BrowserPolicy, bodyOf, type CorsHeaders } from '../browsers/origin-policy.ts';
import type { UnsentLimit } from '../http/unsent-limit.ts';
import type { EventStreams } from '../subscriptions/event-stream.ts';
import type {
  HttpContext,
  OperationArgs,
  OperationContext,
  ServerContext,
  ServerPlugin,
} from './operation-plugin.ts';
import { acceptedBy } from './over-http/accept.ts';
import type { Receive } from './over-http/request.ts';
import type { SendResult } from './over-http/response.ts';
import type { Pipeline } from './pipeline.ts';

export type YogaOptions = BrowserPolicy & {
  readonly schema: GraphQLSchema;
  readonly pipeline: Pipeline;
  readonly contextOf: (given: HttpContext) => OperationContext & HttpContext;
  readonly receive: Receive;
  readonly sendResult: SendResult;
  /** Whether upstream is the sandbox. */
  readonly isSandbox: boolean;
  /** Turns off what is for development: GraphiQL, introspection and suggestions. */
  readonly closed: boolean;
  readonly corsHeaders: CorsHeaders;
  readonly eventStreams: EventStreams;
  readonly unsent: UnsentLimit;
};

/** Answers HTTP requests of every kind: by GET and POST, with an event stream or a single result, and GraphiQL. */
export const createYogaServer = async (options: YogaOptions) => {
  const { createYoga } = await import('graphql-yoga');
  const { receive, eventStreams } = options;
  const graphiql = graphiqlOptions(options);
  const page = createGraphiQLPage(graphiql);
  return createYoga<HttpContext>({
    schema: options.schema,
    plugins: [
      useReceive(receive),
      usePipeline(options),

      // Responses: rejected preflights are replaced before other headers are set.
      useCors(options.corsHeaders, options),
      page.plugin,
      useUnsentLimit(options.unsent),

      // Event streams are made of the pipeline's results.
      eventStreams.plugin,
    ],
    graphqlEndpoint: '/graphql',
    // The page of another name gets the error of the CSRF protection.
    graphiql: ({ headers }) => !options.closed && options.hostRejectionOf(headers) === null && graphiql,
    renderGraphiQL: page.render,
    landingPage: false,
    // The gateway reads and limits requests itself.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    parserAndValidationCache: false,
    logging: false,
    // The pipeline masks errors: it knows the operation that they belong to.
    maskedErrors: false,
    cors: false,
  });
};

/** Makes Yoga read requests by `receive`, unless they were received already. */
const useReceive = (receive: Receive): ServerPlugin => ({
  async onRequestParse({ serverContext, setRequestParser }) {
    const { req, res, clientSignal } = serverContext;
    serverContext.received ??= await receive(req, res, clientSignal);
    const { query, operationName, variables } = serverContext.received.params;
    setRequestParser(() => ({
      query,
      ...(operationName && { operationName }),
      ...(variables && { variables }),
    }));
  },
  onParse({ context: { received }, setParsedDocument }) {
    if (received) setParsedDocument(received.document);
  },
  onValidate: ({ setResult }) => setResult([]),
});

/** Makes Yoga run operations through the pipeline, and send single results as they are sent without it. */
const usePipeline = ({ pipeline, contextOf, sendResult }: YogaOptions): ServerPlugin => {
  const { execute, subscribe, completeHttpResult } = pipeline;
  const withContext = (args: ExecutionArgs): OperationArgs => {
    const given = args.contextValue as HttpContext;
    given.operation = contextOf(given);
    return { ...args, contextValue: given.operation };
  };
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn((args) => execute(withContext(args))),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn((args) => subscribe(withContext(args))),
    onResultProcess({ result, setResult, setResultProcessor, serverContext }) {
      const context: ServerContext & HttpContext = serverContext.operation ?? serverContext;
      const { single } = acceptedBy(serverContext.req);
      const completed = completeHttpResult(result as ExecutionResult, context);
      setResult(completed);
      // Once the response has ended, Yoga drops what it makes of the result.
      if (context.parts?.hasBegun)
        setResultProcessor(async (_result, { Response }) => {
          await hasEnded(context.res);
          return new Response(null);
        }, 'multipart/mixed');
      else if (single)
        setResultProcessor(async (final, { Response }) => {
          await sendResult(context, final as ExecutionResult, single);
          return new Response(null);
        }, single);
      else setResult(withStringify(completed));
    },
  };
};

/** Resolves when nothing more is written: the last part may be under way in a thread that compresses it. */
const hasEnded = async (response: ServerResponse): Promise<void> => {
  if (!response.writableEnded && !response.destroyed) await once(response, 'close');
};

/** Yoga's own writers, of events and of bodies in parts, take the JSON of data that is serialised already from `stringify`. */
const withStringify = (result: ExecutionResult): ExecutionResult => {
  const { data } = result;
  if (!(data instanceof SerializedData)) return result;
  return Object.assign({ ...result }, { stringify: (final: object) => assembleJson(final, data).toString() });
};

/** Calls `wrote` for the responses that Yoga writes. */
const useUnsentLimit = ({ wrote }: UnsentLimit): ServerPlugin => ({
  onResponse({ serverContext: { res } }) {
    // The response is written after this hook.
    setImmediate(() => wrote(res.socket));
  },
});

/**
 * Answers preflights, and adds the headers for browsers to the responses of Yoga. A rejected preflight says why, because
 * the page's browser shows neither the preflight nor the reason.
 */
const useCors = (
  corsHeaders: CorsHeaders,
  { rejectionOf }: Pick<BrowserPolicy, 'rejectionOf'>,
): ServerPlugin => ({
  onRequest({ request, endResponse, fetchAPI }) {
    // Without a length of 0, Safari waits for a body.
    if (request.method === 'OPTIONS')
      endResponse(new fetchAPI.Response(null, { status: 204, headers: { 'content-length': '0' } }));
  },
  onResponse({ request: { method, headers }, response, setResponse, fetchAPI }) {
    const rejection = method === 'OPTIONS' && headers.has('origin') ? rejectionOf(headers) : null;
    if (rejection === null) {
      for (const [name, value] of Object.entries(corsHeaders(headers))) response.headers.set(name, value);
      return;
    }
    const responseHeaders = { 'content-type': 'application/json', vary: 'Origin' };
    setResponse(new fetchAPI.Response(bodyOf(rejection), { status: 403, headers: responseHeaders }));
  },
});
