import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { Caller } from '../../context.ts';
import { jsonParts, SerializedData } from '../../graph/answer/serialize.ts';
import { badUserInput } from '../../graph/errors.ts';
import type { Trace } from '../../lib/trace.ts';
import { Usage } from '../../upstream/client/request.ts';
import type { ClientName } from '../graphql/attribution.ts';
import type { GraphQLServer } from '../graphql/graphql.ts';
import { type Documents, InvalidDocument } from '../graphql/limits/documents.ts';
import type { Operations } from '../graphql/observe.ts';
import { toFormattedError } from '../subscriptions/frame.ts';
import type { Tool } from './tools.ts';

/** Who calls a tool, and until when the call is waited for. */
export type CallContext = {
  readonly caller: Caller;
  readonly client: ClientName;
  readonly trace: Trace;
  /** Aborts when the client disconnects. */
  readonly clientSignal: AbortSignal;
  /** Aborts when a shutdown can't wait for the call any longer. */
  readonly shutdownSignal: AbortSignal;
};

/** The answer to a call: the JSON of GraphQL over HTTP, which is what models read. */
export type ToolAnswer = {
  readonly isError: boolean;
  /** Bytes if it may be large. */
  readonly json: string | readonly Buffer[];
  /** The bytes are no longer read. */
  release(): void;
};

/** Runs the operation of a tool with these variables. Never rejects: what fails is an answer that says so. */
export type CallTool = (
  tool: Tool,
  variables: Readonly<Record<string, unknown>>,
  context: CallContext,
) => Promise<ToolAnswer>;

export type CallToolOptions = {
  readonly schema: GraphQLSchema;
  readonly graphql: Pick<GraphQLServer, 'pipeline' | 'contextOf'>;
  readonly documents: Documents;
  readonly operations: Operations;
};

/** The checks, limits, costs and counts of a call are those of an operation over any other transport. */
export const createCallTool = ({ schema, graphql, documents, operations }: CallToolOptions): CallTool => {
  const execute = async (
    tool: Tool,
    variableValues: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<ExecutionResult> => {
    rejectUnknown(variableValues, tool);
    const { caller, clientSignal, trace } = context;
    const { billingKey } = caller;
    const { name: operationName, document: text } = tool;
    const { document } =
      documents.known(text, operationName) ??
      (await documents.read(text, operationName, { billingKey, clientSignal, trace }));
    const contextValue = graphql.contextOf({ ...context, transport: 'mcp' });
    return graphql.pipeline.execute({ schema, document, contextValue, operationName, variableValues });
  };

  return async (tool, variables, context) => {
    try {
      return toAnswer(await execute(tool, variables, context));
    } catch (error) {
      const thrown = error instanceof InvalidDocument ? error.errors : [error];
      const errors = operations.rejected('mcp', thrown, context.trace, context.client);
      return toAnswer({ errors, extensions: { upstream: new Usage() } });
    }
  };
};

/** GraphQL ignores variables that an operation does not have. An agent that guesses their names would not notice. */
const rejectUnknown = (given: Readonly<Record<string, unknown>>, { name, variables }: Tool): void => {
  const unknown = Object.keys(given).filter((argument) => !variables.includes(argument));
  if (unknown.length === 0) return;
  const expected = variables.length > 0 ? `only the arguments ${variables.join(', ')}` : 'no arguments';
  throw badUserInput(`Expected ${expected} of ${name}, got ${shownNames(unknown)}.`);
};

const MAX_SHOWN_NAMES = 5;
const MAX_SHOWN_CHARACTERS = 80;

/** Names that a client has chosen, for an error message. */
export const shownNames = (names: readonly string[]): string => {
  const shown = names
    .slice(0, MAX_SHOWN_NAMES)
    .map((name) => JSON.stringify(name.slice(0, MAX_SHOWN_CHARACTERS)));
  return (
    shown.join(', ') + (names.length > MAX_SHOWN_NAMES ? ` and ${names.length - MAX_SHOWN_NAMES} more` : '')
  );
};

const toAnswer = (result: ExecutionResult): ToolAnswer => {
  const { data, errors } = result;
  const shown = errors ? { ...result, errors: errors.map(toFormattedError) } : result;
  const isSerialized = data instanceof SerializedData;
  return {
    isError: errors !== undefined,
    json: isSerialized ? jsonParts(shown, data) : JSON.stringify(shown),
    release: () => isSerialized && data.lease?.release(),
  };
};
