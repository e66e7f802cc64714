import type { Hex } from '../types.ts';

/** The settings of an index of real chains. src/config/ reads them, for the gateway that embeds it and the service that runs alone. */

import type { NamedChain } from '../described-chain.ts';
import type { ExplorerConfig } from '../explorer/config.ts';

/** A chain to index, and the node that it is read from. */
type IndexedChain = NamedChain & {
  /** `http:`, `https:`, `ws:` or `wss:`. It may contain credentials: no log line and no error shows it. */
  readonly url: string;
  /** The first block to index; null chooses by the chain's height at the first start. */
  readonly startBlock: number | null;
  /** The ENS registry, or one like it, by which accounts have names. Default: none, and accounts have no names. */
  readonly ensRegistry?: Hex;
};

export type IndexedConfig = {
  /** Each id once. */
  readonly chains: readonly IndexedChain[];
  /** Chains that are read from explorers: others than the indexed ones. Default: none. */
  readonly explorers?: ExplorerConfig | null;
  /** The folder of the index. One process at a time writes it. */
  readonly directory: string;
  /** A folder of ABIs in JSON; null for none. */
  readonly abiDirectory: string | null;
  /** Null where metadata of collectibles is not fetched. */
  readonly metadata: {
    /** Where `ipfs:` URLs are read from, without a trailing slash. */
    readonly ipfsGateway: string;
  } | null;
  /** A path, or an http or https URL, of prices in JSON; null for none. */
  readonly prices: string | null;
};

/**
 * The settings of the service over an index. `startIndexed`, in indexed.ts, takes them with a `log`, and resolves to
 * `{ url, ask(), follow(), stop() }` once it listens. It follows its chains, and delivers, from `follow` on: the gateway that embeds
 * it listens only then, and the deliveries of blocks that came while both were down must find it.
 */
export type ServiceConfig = IndexedConfig & {
  readonly host: string;
  /** 0 chooses a free port. Null for a service that is asked within its process alone. */
  readonly port: number | null;
  readonly apiKey: string;
  /** The header that carries the key. */
  readonly keyHeader: string;
  /** Signs deliveries; null leaves them unsigned. */
  readonly signatureSecret: string | null;
  /** Whether other gateways have such a service too, with which it keeps its limits together. Default: false. */
  readonly isOneOfSeveral?: boolean;
};
