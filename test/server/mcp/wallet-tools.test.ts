import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lookAtWallet } from '../../../examples/agent/agent.ts';
import { demoAddress } from '../../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Agent, connectAgent } from '../../support/clients/agent.ts';
import { folderOf } from '../../support/folder.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { root } from '../../support/pages.ts';

/** The eight tools of examples/agent, over the sandbox, with the official client of MCP. */

const address = demoAddress('whale');
const anything = expect.anything();
const some = (item: object) => expect.arrayContaining([expect.objectContaining(item)]);

type Call = {
  readonly tool: string;
  readonly variables: Record<string, unknown>;
  readonly computeUnits: number;
  readonly data: object;
};

const CALLS: readonly Call[] = [
  { tool: 'Chains', variables: {}, computeUnits: 0, data: { chains: some({ chainId: 8453, name: 'base' }) } },
  {
    tool: 'FindTokens',
    variables: { text: 'usd', first: 3 },
    computeUnits: 2,
    data: { searchTokens: { nodes: some({ symbol: 'USDC' }) } },
  },
  {
    tool: 'TokenMarket',
    variables: { token: { nativeOf: 1 } },
    computeUnits: 2,
    data: { token: { market: { symbol: 'ETH', priceUsd: anything } } },
  },
  {
    tool: 'WalletWorth',
    variables: { address, chainIds: [1, 8453] },
    computeUnits: 2,
    data: { wallet: { portfolio: { totalUsd: anything, byChain: some({ chainId: 1 }) } } },
  },
  {
    tool: 'WalletBalances',
    variables: { address, chainIds: [10], first: 5 },
    computeUnits: 1,
    data: { wallet: { balances: { nodes: some({ chainId: 10 }) } } },
  },
  {
    tool: 'WalletActivity',
    variables: { address, chainIds: [1, 8453], types: ['SEND', 'RECEIVE'], first: 5 },
    computeUnits: 3,
    data: { wallet: { activity: { nodes: some({ transactionHash: anything }) } } },
  },
  {
    tool: 'WalletCollectibles',
    variables: { address, chainIds: [1, 8453], first: 5 },
    computeUnits: 2,
    data: { wallet: { collectibles: { nodes: some({ tokenId: anything }) } } },
  },
  {
    tool: 'WalletPositions',
    variables: { address: demoAddress('defi'), chainIds: [1] },
    computeUnits: 4,
    data: { wallet: { defiPositions: { nodes: some({ protocol: anything }) } } },
  },
];

let documents: Awaited<ReturnType<typeof folderOf>>;
beforeAll(async () => {
  documents = await folderOf({});
  const node = join(root, 'node_modules/.bin/node');
  const out = documents.path('tools.json');
  await promisify(execFile)(node, ['src/cli/persist-documents.ts', 'examples/agent', '--out', out], {
    cwd: root,
  });
});
afterAll(() => documents[Symbol.asyncDispose]());

const settings = () => ({ TRUSTED_DOCUMENTS: documents.path('tools.json'), MCP: 'on' });

describe.each([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const)('by the revision %s of the protocol', (revision, mode) => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let agent: Agent;
  beforeAll(async () => {
    gateway = await startGateway({
      ...settings(),
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '100',
      CACHE_STALE_MS: '0',
    });
    agent = await connectAgent(gateway, { mode });
  });
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    await gateway[Symbol.asyncDispose]();
  });

  test('the list has the eight tools, each with a description, a schema and descriptions of its arguments', async () => {
    expect(agent.client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(agent.client.getInstructions()).toContain('computeUnits');
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(CALLS.map(({ tool }) => tool).toSorted());
    for (const { description, inputSchema, annotations } of tools) {
      expect(description).toMatch(/[Ii]t costs /);
      expect(annotations).toEqual({ readOnlyHint: true });
      for (const argument of Object.values(inputSchema.properties ?? {}))
        expect(argument).toMatchObject({ description: expect.any(String) });
    }
  });

  test.each(CALLS)(
    '$tool answers, and says what it cost',
    async ({ tool, variables, computeUnits, data }) => {
      const answer = await agent.call(tool, variables);
      expect(answer.errors).toBeUndefined();
      expect(answer).toMatchObject({
        isError: false,
        data,
        extensions: { upstream: { computeUnits, budget: { perMinute: 100, left: expect.any(Number) } } },
      });
    },
  );
});

test('the descriptions of the operations are those of the tools', async () => {
  const text = await readFile(join(root, 'examples/agent/tools.graphql'), 'utf8');
  await using gateway = await startGateway(settings());
  await using agent = await connectAgent(gateway);
  const { tools } = await agent.client.listTools();
  for (const { description } of tools) expect(text).toContain(`"""\n${description}\n"""`);
});

test('an agent spends its budget, is told so, waits as it was told, and goes on', async () => {
  const clock = createTestClock();
  await using gateway = await startGateway(
    { ...settings(), CLIENT_COMPUTE_UNITS_PER_MINUTE: '12' },
    { now: clock.now },
  );
  const transcript: string[] = [];
  const waits: number[] = [];
  await lookAtWallet(gateway.url, {
    address,
    say: (line) => transcript.push(line),
    wait: async (ms) => {
      waits.push(ms);
      clock.advance(ms);
    },
  });
  const [tools, chains, ...calls] = transcript;
  expect(tools).toContain('WalletWorth');
  expect(chains).toBe('Chains {}: 0 CU, 12 of 12 left');
  expect(calls[0]).toBe(`WalletWorth ${JSON.stringify({ address, chainIds: [1] })}: 1 CU, 11 of 12 left`);
  expect(calls).toContainEqual(
    expect.stringMatching(
      /^COMPUTE_BUDGET_EXCEEDED: Expected an operation that costs at most \d+ compute units, which is what this client has left of 12 a minute/,
    ),
  );
  expect(waits.length).toBeGreaterThan(0);
  // Both chains, to the last tool.
  expect(transcript.at(-1)).toMatch(/^WalletCollectibles .*\[10\]}: 1 CU/);
});
