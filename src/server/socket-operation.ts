import { type ExecutionArgs, type GraphQLError, getOperationAST } from 'graphql';
import type { Context, SubscribePayload } from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import { clientError } from '../graph/errors.ts';
import type { GraphQLServer } from './graphql.ts';

export type SocketContext = Context<Record<string, unknown> | undefined, Extra>;

/** An operation of a WebSocket's, ready to be executed by the pipeline that HTTP uses too. */
export type SocketOperation = ExecutionArgs & {
  readonly pipeline: ReturnType<GraphQLServer['getEnveloped']>;
};

type Preparation = {
  readonly graphql: GraphQLServer;
  readonly mask: (error: unknown) => GraphQLError;
  /** Aborts when the socket has closed. */
  readonly gone: AbortSignal | undefined;
};

const MAX_OPERATIONS = 100;

/** The operation, or what is wrong with it. Never rejects: an error thrown here would close the whole socket. */
export const prepareOperation = async (
  { graphql, mask, gone }: Preparation,
  socket: SocketContext,
  { query, operationName, variables }: SubscribePayload,
): Promise<SocketOperation | readonly GraphQLError[]> => {
  // graphql-ws has counted this one already.
  if (Object.keys(socket.subscriptions).length > MAX_OPERATIONS)
    return [
      clientError(
        'OPERATION_TOO_COMPLEX',
        `Expected at most ${MAX_OPERATIONS} operations at once on a socket.`,
      ),
    ];
  try {
    const pipeline = graphql.getEnveloped({
      connectionParams: socket.connectionParams ?? {},
      req: socket.extra.request,
      ...(gone && { gone }),
    });
    const document = pipeline.parse(query);
    const errors = pipeline.validate(pipeline.schema, document);
    if (errors.length > 0) return errors as readonly GraphQLError[];
    if (!getOperationAST(document, operationName))
      return [clientError('BAD_USER_INPUT', 'Expected operationName to name an operation of the document.')];
    return {
      schema: pipeline.schema,
      document,
      contextValue: await pipeline.contextFactory(),
      operationName: operationName ?? null,
      variableValues: variables ?? null,
      pipeline,
    };
  } catch (error) {
    return [mask(error)];
  }
};
