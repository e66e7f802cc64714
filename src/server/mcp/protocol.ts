import type { IncomingHttpHeaders } from 'node:http';
import {
  type CallToolRequestParams,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type ListToolsResult,
  METHOD_NOT_FOUND,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server';
import { isObject } from '../../lib/json/exact-json.ts';
import { rememberEach } from '../../lib/memo.ts';
import { type Attribute, type ClientName, OTHER_CLIENT } from '../graphql/attribution.ts';
import type { AnswerWriter } from './answer-writer.ts';
import { type CallContext, type CallTool, shownNames, type ToolAnswer } from './calls.ts';
import type { Tool, Tools } from './tools.ts';

/** The answer to a message, as HTTP carries it. */
export type Answer = {
  readonly status: number;
  /** Null if there is no body. */
  readonly contentType: string | null;
  readonly body: readonly Buffer[];
};

/**
 * Answers one JSON-RPC message of a client: by the revision 2026-07-28, and by those of 2024 and 2025 without a session. The
 * headers are those of its request. Null for `client` stands for one that no header names. Rejects when the library fails.
 */
export type AnswerMessage = (
  message: unknown,
  headers: IncomingHttpHeaders,
  context: Omit<CallContext, 'client'>,
  client: ClientName | null,
) => Promise<Answer>;

type Options = {
  /** Returns those of now. */
  readonly tools: () => Tools;
  readonly callTool: CallTool;
  /** Of this program, for clients to show. */
  readonly version: string;
  readonly attribute: Attribute;
  readonly writer: AnswerWriter;
};

const INSTRUCTIONS = `Each tool is a query about EVM wallets, tokens or chains, or a change that the operator allows.
A result is JSON with data, and with errors if something failed. Each error has a message and extensions.code; the data beside it is valid.
extensions.upstream says what the call has cost (computeUnits) and what is left of your budget (budget.left of budget.perMinute).
What was fetched a moment ago costs nothing. After COMPUTE_BUDGET_EXCEEDED or RATE_LIMITED, wait for extensions.retryAfterMs.
Amounts and US dollars are strings with every digit. Most costs are per chain: name the chains where a tool takes chainIds.`;

export const createProtocol = ({ tools, callTool, version, attribute, writer }: Options): AnswerMessage => {
  const listOf = rememberEach(
    (known: Tools): ListToolsResult => ({ tools: [...known.values()].map(listed) }),
  );

  const call = (params: CallToolRequestParams, context: CallContext): Promise<ToolAnswer> => {
    const tool = tools().get(params.name);
    if (tool) return callTool(tool, params.arguments ?? {}, context);
    const message = `Expected one of the tools ${[...tools().keys()].join(', ')}, got ${shownNames([params.name])}.`;
    throw new ProtocolError(INVALID_PARAMS, message, { code: 'BAD_USER_INPUT' });
  };
  /** A client names itself in each message of the revision 2026-07-28. */
  const clientIn = (envelope: object = {}): ClientName => {
    const info = CLIENT_INFO_META_KEY in envelope ? envelope[CLIENT_INFO_META_KEY] : null;
    if (!isObject(info)) return OTHER_CLIENT;
    const fields = { 'graphql-client-name': info.name, 'graphql-client-version': info.version };
    return attribute.clientIn(fields) ?? OTHER_CLIENT;
  };

  return async (message, headers, context, client) => {
    const refusal = refusalOf(message);
    if (refusal) return errorAnswer(400, refusal);
    const answers: ToolAnswer[] = [];
    const failures: Error[] = [];
    /** The library expects a server for each request. */
    const createServer = (): Server => {
      const server = new Server(
        { name: 'evm-graphql-gateway', version },
        { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
      );
      server.setRequestHandler('tools/list', () => listOf(tools()));
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        const answer = await call(params, { ...context, client: client ?? clientIn(mcpReq.envelope) });
        answers.push(answer);
        return {
          content: [{ type: 'text', text: writer.placeholder }],
          ...(answer.isError && { isError: true }),
        };
      });
      return server;
    };
    const { fetch } = createMcpHandler(createServer, { onerror: (error) => failures.push(error) });
    const request = toFetchRequest(headers, context.clientSignal);
    const response = await fetch(request, { parsedBody: message });
    const text = jsonIn(await response.text());
    const { status } = response;
    if (status >= 500) throw failures.at(-1) ?? new Error(`status ${status}`);
    const [answer] = answers;
    const body = answer ? await writer.write(text, answer, context.clientSignal) : [text];
    return { status, contentType: text.length === 0 ? null : 'application/json', body };
  };
};

const listed = ({ name, description, inputSchema, isMutation }: Tool) => ({
  name,
  description,
  inputSchema,
  annotations: { readOnlyHint: !isMutation },
});

/** It would validate what users enter, for which no tool asks. The library's own takes two milliseconds to create. */
const NO_VALIDATOR = {
  getValidator() {
    throw new TypeError('Expected a tool that asks its user for nothing, got one that does.');
  },
};

type RpcError = { readonly code: number; readonly message: string; readonly data?: object };

/** An error of JSON-RPC that concerns a whole request. */
export const errorAnswer = (status: number, error: RpcError): Answer => ({
  status,
  contentType: 'application/json',
  body: [Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: null, error }))],
});

/** Returns why a message is refused that the library would accept; null for any other. */
const refusalOf = (message: unknown): RpcError | null => {
  if (Array.isArray(message))
    return { code: INVALID_REQUEST, message: 'Expected one JSON-RPC message, got a list.' };
  if (isObject(message) && message.method === 'subscriptions/listen')
    return {
      code: METHOD_NOT_FOUND,
      message:
        'Expected a method with one answer, got subscriptions/listen: this server sends no notifications.',
    };
  return null;
};

/** What the library reads of a request beside its body. It answers no client that does not name both media types. */
const toFetchRequest = (headers: IncomingHttpHeaders, signal: AbortSignal): Request => {
  const read = Object.entries(headers).flatMap(([name, value]) =>
    /^(?:content-type|mcp-.*)$/.test(name) ? [[name, String(value)] as const] : [],
  );
  const sent = { ...Object.fromEntries(read), accept: 'application/json, text/event-stream' };
  return new Request('http://gateway/mcp', { method: 'POST', headers: sent, signal });
};

/** An answer is one message, which clients of all revisions read as JSON. The library puts some of them in an event stream. */
const jsonIn = (text: string): Buffer => Buffer.from(/^data: (.*)$/m.exec(text)?.[1] ?? text);
