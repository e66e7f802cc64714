import { setTimeout as delay } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

type Chain = { readonly chainId: number; readonly supports: readonly string[] | null };

/** What the agent reads of a result. */
type Result = {
  /** Of `Chains`. */
  readonly data?: { readonly chains?: readonly Chain[] } | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { readonly code: string; readonly retryAfterMs?: number };
  }[];
  readonly extensions: {
    readonly upstream: {
      readonly computeUnits: number;
      /** Undefined where clients have no budget. */
      readonly budget?: { readonly left: number; readonly perMinute: number };
    };
  };
};

type Options = {
  readonly address: string;
  /** Writes a line of the transcript. */
  readonly say: (line: string) => void;
  readonly wait?: (ms: number) => Promise<unknown>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The tools that it looks at a wallet with, and what a chain must support for each of them. */
const TOOLS = {
  WalletWorth: 'BALANCES',
  WalletActivity: 'ACTIVITY',
  WalletPositions: 'DEFI_POSITIONS',
  WalletCollectibles: 'COLLECTIBLES',
};

/**
 * Looks at a wallet on the first two chains, as an agent does: by tools that say what they cost. When its budget is spent, it is
 * told for how long, waits, and finishes the call.
 */
export const lookAtWallet = async (url: string, { address, say, wait = delay, headers = {} }: Options) => {
  const client = new Client({ name: 'wallet-agent', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));

  const call = async (tool: string, variables: Readonly<Record<string, unknown>>): Promise<Result> => {
    const { content } = await client.callTool({ name: tool, arguments: { ...variables } });
    const [text] = content;
    if (text?.type !== 'text') throw new TypeError('Expected a text, got another kind of content.');
    const result: Result = JSON.parse(text.text);
    const { computeUnits, budget } = result.extensions.upstream;
    const left = budget ? `, ${budget.left} of ${budget.perMinute} left` : '';
    say(`${tool} ${JSON.stringify(variables)}: ${computeUnits} CU${left}`);
    return result;
  };
  /** Calls a tool again while that only takes time. */
  const insist = async (tool: string, variables: Readonly<Record<string, unknown>>): Promise<Result> => {
    const result = await call(tool, variables);
    const [error] = result.errors ?? [];
    if (error) say(`${error.extensions.code}: ${error.message}`);
    if (error?.extensions.retryAfterMs === undefined) return result;
    say(`Waiting for ${error.extensions.retryAfterMs} ms.`);
    await wait(error.extensions.retryAfterMs);
    return insist(tool, variables);
  };

  try {
    const { tools } = await client.listTools();
    say(`Tools: ${tools.map(({ name }) => name).join(', ')}`);
    const { data } = await call('Chains', {});
    for (const { chainId, supports } of data?.chains?.slice(0, 2) ?? [])
      for (const [tool, needed] of Object.entries(TOOLS))
        if (supports?.includes(needed) ?? true) await insist(tool, { address, chainIds: [chainId] });
  } finally {
    await client.close();
  }
};

if (import.meta.main) {
  const [url = 'http://127.0.0.1:4000', address = '0xc7928e7865fb684cc7629937d4064aa69989eab4'] =
    process.argv.slice(2);
  await lookAtWallet(url, { address, say: (line) => process.stdout.write(`${line}\n`) });
}
