import { stat } from 'node:fs/promises';
import type { ExplorerConfig } from '../backend/explorer/config.ts';
import type { IndexedConfig } from '../backend/indexer/config.ts';
import { startIndexed } from '../backend/indexer/indexer.ts';
import { type NodeAbilities, probeNode } from '../backend/node/node.ts';
import { ConfigError } from '../config/config.ts';
import { readServiceConfig } from '../config/index-config.ts';
import { readVersion } from '../config/version.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createIndexExposition } from '../telemetry/telemetry.ts';
import { describeExplorers, type Say } from './explorer-check.ts';
import { indexLog, startProblem } from './index-thread.ts';

/** The service over an index of chains, for gateways elsewhere. */
export type IndexService = Awaited<ReturnType<typeof startIndexService>>;

/** Starts it, and follows its chains. Rejects with ConfigError, which has every problem. */
export const startIndexService = async (env: Readonly<Record<string, string | undefined>>, log: Log) => {
  const config = readServiceConfig(env);
  if (!('chains' in config)) throw new ConfigError(config);
  const expose = createIndexExposition(readVersion());
  const service = await startIndexed({ ...config, log: indexLog(log), expose }).catch((error: unknown) => {
    throw startProblem(error);
  });
  service.follow();
  return service;
};

type Chain = IndexedConfig['chains'][number];

/**
 * Asks the nodes of CHAINS what they can do, tries the explorers of BLOCKSCOUT, asks the nodes of RECEIPTS which chain they are of, and
 * describes all of them for `--check`; `say` hears what that costs before. Rejects with ConfigError, which has the problems of all of them (a node or an explorer that does not
 * answer, or of another chain, or without the blocks that are to be indexed), a folder of ABIs that is not there, and what the
 * others can do.
 */
export const describeIndex = async (
  { chains, explorers, abiDirectory }: IndexedConfig,
  say: Say,
): Promise<string> => {
  const [nodes, tried, receipts] = await Promise.all([
    describeNodes(chains),
    explorers ? describeExplorers(explorers, say) : NOTHING,
    describeReceipts(explorers?.chains ?? []),
  ]);
  const problems = [...nodes.problems, ...tried.problems, ...receipts.problems];
  if (abiDirectory !== null && !(await isFolder(abiDirectory)))
    problems.push(`ABI_DIR: expected a folder, got "${abiDirectory}", which is none`);
  const found = [...nodes.found, ...tried.found, ...receipts.found].join('\n');
  if (problems.length > 0) throw new ConfigError(problems, found);
  return found;
};

type Described = { readonly found: readonly string[]; readonly problems: readonly string[] };

const NOTHING: Described = { found: [], problems: [] };

/** Asks the nodes of RECEIPTS which chain they are of. */
const describeReceipts = async (chains: ExplorerConfig['chains']): Promise<Described> => {
  const described = chains.map(async ({ id, receipts }): Promise<Described> => {
    if (receipts === undefined) return NOTHING;
    const problem = (expected: string, got: string): Described => ({
      ...NOTHING,
      problems: [`RECEIPTS: expected ${expected} of chain ${id}, got${got}`],
    });
    try {
      const { chainId, client, head } = await probeNode(receipts);
      if (chainId !== id) return problem('a node', ` one of chain ${chainId}`);
      return {
        ...NOTHING,
        found: [`The node for receipts of chain ${id} is ${client}, at block ${head}.`],
      };
    } catch (error) {
      return problem('an answer of the node', `: ${messageOf(error)}`);
    }
  });
  const each = await Promise.all(described);
  return {
    found: each.flatMap(({ found }) => found),
    problems: each.flatMap(({ problems }) => problems),
  };
};

const describeNodes = async (chains: readonly Chain[]): Promise<Described> => {
  const probed = await Promise.all(
    chains.map((chain) =>
      probeNode(chain.url).then(
        (node) => ({ chain, node }),
        (error: unknown) => ({
          chain,
          problem: `CHAINS: expected an answer of the node of chain ${chain.id}, got: ${messageOf(error)}`,
        }),
      ),
    ),
  );
  return {
    problems: probed.flatMap((each) => ('node' in each ? problemsOf(each.chain, each.node) : each.problem)),
    found: probed.flatMap((each) =>
      'node' in each && each.node.chainId === each.chain.id ? describe(each.chain, each.node) : [],
    ),
  };
};

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const problemsOf = (
  { id, startBlock }: Chain,
  { chainId, head, pruned }: NodeAbilities,
): readonly string[] => {
  if (chainId !== id) return [`CHAINS: expected a node of chain ${id}, got one of chain ${chainId}`];
  if (startBlock !== null && startBlock > head)
    return [
      `CHAINS: expected at most block ${head}, the head of chain ${id}, to begin with, got ${startBlock}`,
    ];
  if (startBlock === 0 && pruned)
    return [
      `CHAINS: expected a recent block of chain ${id} to begin with, whose node has no old ones, got 0`,
    ];
  return [];
};

const describe = ({ id }: Chain, node: NodeAbilities): readonly string[] => {
  const { client, head, receipts, traces, heads, multicall, older, pruned } = node;
  return [
    `The node of chain ${id} is ${client}, at block ${head}.`,
    `  receipts            ${receipts === 'block' ? 'of a whole block at once' : 'one by one, which is slower'}`,
    `  internal transfers  ${describeTraces(traces)}`,
    `  new blocks          ${heads === 'websocket' ? 'announced over a WebSocket' : 'asked for: the node announces none'}`,
    `  metadata of tokens  ${multicall ? 'of many at once' : 'one by one: Multicall3 is not deployed'}`,
    ...(older
      ? ['  older transactions  of wallets, from before the first block, by the API of Otterscan']
      : []),
    ...(pruned ? ['  old blocks          gone: the index begins at a recent block'] : []),
  ];
};

const describeTraces = (traces: NodeAbilities['traces']): string => {
  if (traces === 'block') return 'traced, those of a block at once';
  if (traces === 'one by one') return 'traced one by one, which is slower';
  return `not indexed until the node can trace: ${traces.problem}`;
};
