import { type Config, ConfigError } from '../config/config.ts';
import { schema } from '../schema.ts';
import type { DocumentTexts, TrustedDocuments } from '../server/graphql/trusted-documents.ts';
import type { UnsentLimit } from '../server/http/unsent-limit.ts';
import { createAnswerWriter } from '../server/mcp/answer-writer.ts';
import { type CallToolOptions, createCallTool } from '../server/mcp/calls.ts';
import { type AnswerMcp, createMcpEndpoint, type EndpointOptions } from '../server/mcp/endpoint.ts';
import { createProtocol } from '../server/mcp/protocol.ts';
import { createTools, type Tools, ToolsError } from '../server/mcp/tools.ts';

/** Loaded only where MCP is on: nothing else imports its library. */

type Parts = Omit<EndpointOptions & CallToolOptions, 'answerMessage'> & {
  readonly version: string;
  readonly maxAnswerBytes: number;
  readonly unsent: UnsentLimit;
};

/** The tools of agents: they are made with the trusted documents, and served once there is a pipeline to call them by. */
export type AgentTools = {
  /** Makes the tools of these documents. Rejects with ConfigError where they can't be the tools that are asked for. */
  accept(texts: DocumentTexts): Promise<void>;
  /** Serves the tools of the documents of now, each of which was accepted. */
  serve(trusted: TrustedDocuments, parts: Parts): AnswerMcp;
};

export const createAgentTools = ({ tools: names }: NonNullable<Config['mcp']>): AgentTools => {
  const accepted = new WeakMap<DocumentTexts, Tools>();
  return {
    async accept(texts) {
      const tools = await createTools(texts.values(), names, schema).catch((error: unknown) => {
        throw error instanceof ToolsError ? new ConfigError(error.problems) : error;
      });
      accepted.set(texts, tools);
    },
    serve(trusted, parts) {
      const tools = (): Tools => accepted.get(trusted.texts()) ?? new Map();
      const writer = createAnswerWriter(parts.maxAnswerBytes, parts.unsent.isExceeded);
      const answerMessage = createProtocol({ ...parts, tools, writer, callTool: createCallTool(parts) });
      return createMcpEndpoint({ ...parts, answerMessage });
    },
  };
};
