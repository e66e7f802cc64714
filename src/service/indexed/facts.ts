import type { DatabaseSync } from 'node:sqlite';
import type { ChainData, ChainReader } from '../source.ts';
import type { Chain } from '../types.ts';
import { Collectibles } from './collectibles.ts';
import type { IndexedConfig } from './config.ts';
import { createDecoder } from './decode.ts';
import { Metadata } from './metadata.ts';
import type { EvmNode } from './node/node.ts';
import { openPrices } from './prices.ts';

type FactsOptions = Pick<IndexedConfig, 'abiDirectory' | 'metadata' | 'prices'> & {
  readonly database: DatabaseSync;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, EvmNode>;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
};

/** What blocks do not say of chains: what their tokens are called, what calls and logs mean, what collectibles show, and prices. */
export type Facts = Omit<ChainReader, 'chains'> &
  Pick<ChainData, 'metadata' | 'collection'> & {
    readonly contracts: Metadata;
    /** Forgets what may be gone with the blocks from this number on. */
    removed(chainId: number, fromBlock: number): void;
    /** Begins to ask the nodes. */
    start(): void;
    /** Ends all that is asked and fetched. The nodes must be closed before. */
    stop(): Promise<void>;
  };

const NO_REPUTATION = { trades: null, buyers: null, sellers: null, flagged: null };

/** Resolves when ABIs and prices are read; what can't be read of them is a log line. */
export const openFacts = async (options: FactsOptions): Promise<Facts> => {
  const { database, chains, nodes, log } = options;
  const contracts = new Metadata({ database, chains, nodes });
  const collectibles =
    options.metadata === null ? null : new Collectibles({ database, nodes, ...options.metadata });
  const [decoder, prices] = await Promise.all([
    createDecoder({ directory: options.abiDirectory, log }),
    options.prices === null ? null : openPrices({ source: options.prices, log }),
  ]);
  return {
    contracts,
    token: (chainId, address) => contracts.token(chainId, address),
    logo: () => null,
    price: (chainId, token, time) => prices?.price(chainId, token, time) ?? null,
    contractName: (chainId, address) => contracts.contract(chainId, address)?.name ?? null,
    decodeCall({ chain, to, data }) {
      if (to === null || data === '0x') return null;
      return decoder.call(data, contracts.contract(chain.id, to)?.standard ?? null);
    },
    decodeLog: (_, entry) => decoder.log(entry),
    metadata: ({ chain, ...holding }) => collectibles?.metadata({ ...holding, chainId: chain.id }) ?? null,
    collection(chainId, address) {
      const contract = contracts.contract(chainId, address);
      if (contract === null || contract.standard === 'erc20') return null;
      const { name, symbol } = contract;
      return { name, symbol, launchedAt: null, reputation: NO_REPUTATION, uri: null };
    },
    removed(chainId, fromBlock) {
      contracts.forget(chainId, fromBlock);
      collectibles?.forget(chainId, fromBlock);
    },
    start: () => contracts.start(),
    async stop() {
      await Promise.all([contracts.stop(), collectibles?.stop(), prices?.close()]);
    },
  };
};
