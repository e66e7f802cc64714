import type { DatabaseSync } from 'node:sqlite';
import { CHAINS } from '../sandbox/chains.ts';
import type { BlockListener, Collection, Source } from '../source.ts';
import type { Chain, ChainLookup, Hex, NativeAsset } from '../types.ts';
import type { ParsedBlock } from './blocks/parse.ts';
import type { IndexedConfig } from './config.ts';
import { Collectibles } from './contracts/collectibles.ts';
import { createDecoder } from './contracts/decode.ts';
import { Metadata } from './contracts/metadata.ts';
import { openPrices } from './contracts/prices.ts';
import { Index } from './database/store.ts';
import { type ChainFigures, NodeCounts } from './figures.ts';
import { Follower } from './follower/follower.ts';
import type { Log } from './follower/problems.ts';
import { Tracer } from './follower/tracer.ts';
import { createBalanceReader } from './follower/watched-balances.ts';
import { createNode, type EvmNode } from './node/node.ts';
import { IndexedData } from './queries/data.ts';

type SourceOptions = Omit<IndexedConfig, 'directory'> & {
  /** The file of the index. It stays open. */
  readonly database: DatabaseSync;
  /** Whether a webhook delivers the balances of an account. */
  readonly watches: (account: Hex) => boolean;
  readonly log: Log;
};

type IndexedSource = Source & {
  /** How far each chain is, and what its index and its node have done. */
  chainFigures(): readonly ChainFigures[];
};

/** Indexes chains from their nodes, and answers from the index. Rejects when the database or a file can't be used. */
export const createIndexedSource = async (options: SourceOptions): Promise<IndexedSource> => {
  const { database, watches, log } = options;
  const counts = new Map(options.chains.map(({ id }) => [id, new NodeCounts()]));
  const nodes = new Map(options.chains.map(({ id, url }) => [id, openNode(id, url, counts.get(id))]));
  const chains = options.chains.map((chain) =>
    describeChain(chain, () => (index.range(chain.id)?.from ?? 0) === 0),
  );
  const metadata = new Metadata({
    ...{ database, chains, nodes },
    report(chainId, problem) {
      for (const { follower } of followed)
        if (follower.chainId === chainId) follower.reportContracts(problem);
    },
  });
  const index: Index = new Index({
    database,
    chains,
    isMultiToken: (chainId, contract) => metadata.contract(chainId, contract)?.standard === 'erc1155',
    onRebuild: (format) => log('index made anew', { problem: `its format was ${format}, an older one` }),
  });
  const data = new IndexedData({ database, index, chains, nodes, metadata });
  const decoder = await createDecoder({ directory: options.abiDirectory, log });
  const prices = options.prices === null ? null : await openPrices({ source: options.prices, log });
  const collectibles =
    options.metadata && new Collectibles({ database, nodes, ipfsGateway: options.metadata.ipfsGateway });

  const listeners: BlockListener[] = [];
  const followed: readonly { readonly follower: Follower; readonly tracer: Tracer }[] =
    options.chains.flatMap(({ id, startBlock }) => {
      const node = nodes.get(id);
      if (node === undefined) return [];
      const readBalances = createBalanceReader({ node, watches, log });
      const balances = (block: ParsedBlock) => readBalances(block, index.range(id)?.lowest.number === 0);
      const listener: BlockListener = {
        added(block) {
          for (const each of listeners) each.added(block);
          tracer.wake();
        },
        traced(block, before) {
          for (const each of listeners) each.traced(block, before);
        },
        removed(chainId, fromNumber) {
          metadata.forget(chainId, fromNumber);
          collectibles?.forget(chainId, fromNumber);
          tracer.forget(fromNumber);
          for (const each of listeners) each.removed(chainId, fromNumber);
        },
      };
      const tracer: Tracer = new Tracer({ node, index, balances, listener, log });
      const follower = new Follower({
        ...{ node, index, startBlock, listener, log },
        async prepare(block, isNew) {
          const asked = isNew ? balances(block) : NOTHING_WATCHED;
          const [known] = await Promise.all([asked, metadata.learn(block, isNew)]);
          return known;
        },
        traces: () => tracer.status(),
      });
      return [{ follower, tracer }];
    });

  return {
    chains,
    seesCallValues: true,
    operations: [],
    protocols: data.protocols,
    token: (chainId, address) => metadata.token(chainId, address),
    logo: () => null,
    price: (chainId, token, time) => prices?.price(chainId, token, time) ?? null,
    contractName: (chainId, address) => metadata.contract(chainId, address)?.name ?? null,
    decodeCall: ({ chain, to, data: input }) =>
      to === null ? null : decoder.call(input, metadata.contract(chain.id, to)?.standard ?? null),
    decodeLog: (_chainId, entry) => decoder.log(entry),
    transactions: (...args) => data.transactions(...args),
    holdings: (...args) => data.holdings(...args),
    metadata: ({ chain, ...holding }) => collectibles?.metadata({ ...holding, chainId: chain.id }) ?? null,
    collection: (chainId, address) => collectionOf(metadata, chainId, address),
    balances: (...args) => data.balances(...args),
    holders: (...args) => data.holders(...args),
    pool: () => data.pool(),
    supply: (...args) => data.supply(...args),
    tokens: (chainIds) => data.tokens(chainIds),
    defiPositions: () => data.defiPositions(),
    status: () => followed.map(({ follower }) => follower.status()),
    chainFigures: () =>
      followed.map(({ follower }) => {
        const status = follower.status();
        const { headSeenAt = null, calls = [] } = counts.get(status.chainId)?.read() ?? {};
        return { ...status, headSeenAt, added: index.added(status.chainId), calls };
      }),
    onBlock: (each) => void listeners.push(each),
    async start() {
      metadata.start();
      for (const { follower, tracer } of followed) {
        follower.start();
        tracer.start();
      }
    },
    async stop() {
      await Promise.all(followed.map(({ follower }) => follower.stop()));
      await Promise.all(followed.map(({ tracer }) => tracer.stop()));
      await Promise.all([metadata.stop(), collectibles?.stop(), prices?.close()]);
    },
  };
};

const openNode = (chainId: number, url: string, counts = new NodeCounts()): EvmNode => {
  const node = createNode({ url, chainId, onCall: counts.called });
  return {
    ...node,
    onHead(listener, onProblem) {
      const onHead: typeof listener = (head) => {
        counts.headSeen();
        listener(head);
      };
      node.onHead(onHead, onProblem);
    },
  };
};

const NOTHING_WATCHED = { watches: () => false, after: () => null };

const ETHER: NativeAsset = { name: 'Ether', symbol: 'ETH', decimals: 18 };

/** A chain as a setting names it, or else by what is known of its id: those of devnets say nothing of what they are. */
const describeChain = (
  { id, named, native: said }: IndexedConfig['chains'][number],
  isWhole: () => boolean,
): Chain => {
  const known = CHAINS.find((chain) => chain.id === id && !chain.tags.includes('devnet'));
  const { symbol, decimals, isStable = false, name }: NativeAsset = known?.native ?? ETHER;
  return {
    id,
    name: named?.name ?? known?.name ?? `chain_${id}`,
    tags: named?.tags ?? [...new Set(['default', ...(known?.tags ?? [])])],
    native:
      said === undefined
        ? { name, symbol, decimals, isStable }
        : { ...said, name: said.name ?? said.symbol, isStable: isStable && said.symbol === symbol },
    webhooks: true,
    // Without a chain's first blocks it is not known who received a token in them.
    get unsupported(): readonly ChainLookup[] {
      return isWhole() ? ['defi_positions'] : ['token_holders', 'defi_positions'];
    },
  };
};

const collectionOf = (
  metadata: Pick<Metadata, 'contract'>,
  chainId: number,
  address: Hex,
): Collection | null => {
  const contract = metadata.contract(chainId, address);
  if (contract === null || contract.standard === 'erc20') return null;
  const { name, symbol } = contract;
  const reputation = { trades: null, buyers: null, sellers: null, flagged: null };
  return { name, symbol, launchedAt: null, reputation, uri: null };
};
