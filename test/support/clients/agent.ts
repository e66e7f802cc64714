import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { GraphQLFault, Upstream } from '../gateway/start.ts';

type ClientOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly name?: string;
  /** `auto` asks for the revision 2026-07-28; `legacy`, the default, speaks the revisions before it. */
  readonly mode?: 'legacy' | 'auto';
};

/** An agent with the official client of MCP. */
export const connectAgent = async (
  { url }: { readonly url: string },
  { headers = {}, name = 'test', mode = 'legacy' }: ClientOptions = {},
) => {
  const client = new Client({ name, version: '1.2.3' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  return {
    client,
    call: async (tool: string, variables: Record<string, unknown> = {}) =>
      readResult(await client.callTool({ name: tool, arguments: variables })),
    [Symbol.asyncDispose]: () => client.close(),
  };
};

export type Agent = Awaited<ReturnType<typeof connectAgent>>;

export type ToolAnswer<Data = unknown> = {
  readonly isError: boolean;
  readonly data?: Data | null;
  readonly errors?: GraphQLFault[];
  readonly extensions: { readonly upstream: Upstream };
};

type CallToolResult = Awaited<ReturnType<Client['callTool']>>;

const readResult = ({ content, isError = false }: CallToolResult): ToolAnswer => {
  const [part, ...more] = content;
  if (part?.type !== 'text' || more.length > 0)
    throw new TypeError(`expected one text, got ${JSON.stringify(content)}`);
  return { isError, ...JSON.parse(part.text) };
};
