import type { NamedChain } from '../described-chain.ts';

/** The settings of chains that explorers answer for. src/config/ reads them, for the gateway that embeds the service. */

export type ExplorerConfig = {
  /** At least one, each id once. */
  readonly chains: readonly ExplorerChainConfig[];
  /** The key of the hosted API; null for none. No log line and no error shows it. */
  readonly apiKey: string | null;
  /** How watched addresses are asked for. Default: nothing is delivered of what happens on the chains. */
  readonly live?: LiveConfig | null;
};

/** How events of watched addresses are asked for. */
export type LiveConfig = {
  /** The blocks on top of a block before its events are delivered. */
  readonly confirmations: number;
  /** What may be taken for it of the hosted API's credits in a day of UTC. */
  readonly creditsPerDay: number;
};

export type ExplorerChainConfig = NamedChain & {
  /** Where its API is, without a slash at the end. */
  readonly baseUrl: string;
  /** Whether it is one of the hosted API's, which takes the key. */
  readonly isHosted: boolean;
};
