import { ConfigError } from '../config/config.ts';
import type { McpConfig } from '../config/mcp.ts';
import { schema } from '../schema.ts';
import type { TrustedDocuments } from '../server/graphql/trusted-documents.ts';
import { createCallTool } from '../server/mcp/calls.ts';
import { type AnswerMcp, createMcpEndpoint } from '../server/mcp/endpoint.ts';
import { createProtocol } from '../server/mcp/protocol.ts';
import { createTools, type Tools, ToolsError } from '../server/mcp/tools.ts';

/** Loaded only where MCP is on: nothing else imports its library. */

type Parts = Omit<
  Parameters<typeof createMcpEndpoint>[0] &
    Parameters<typeof createCallTool>[0] &
    Parameters<typeof createProtocol>[0],
  'answerMessage' | 'callTool' | 'tools'
>;

export const createMcp = (config: McpConfig, trusted: TrustedDocuments, parts: Parts): AnswerMcp => {
  const tools = readTools(config, trusted);
  const callTool = createCallTool(parts);
  return createMcpEndpoint({ ...parts, answerMessage: createProtocol({ ...parts, tools, callTool }) });
};

/** Makes the tools of trusted documents. Throws ConfigError. */
export const readTools = ({ tools }: McpConfig, { hashes, documentOf }: TrustedDocuments): Tools => {
  try {
    return createTools(
      hashes.map((hash) => documentOf({ documentId: hash })),
      tools,
      schema,
    );
  } catch (error) {
    throw error instanceof ToolsError ? new ConfigError(error.problems) : error;
  }
};
