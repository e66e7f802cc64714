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
  /** A node that says receipts of transactions in its place. It may contain credentials: no log line and no error shows it. Default: none. */
  readonly receipts?: string;
};

/** What is wrong where chains of the hosted API have no key, as a problem of the configuration; null where nothing is. */
export const missingKey = ({ chains, apiKey }: ExplorerConfig): string | null => {
  const hosted = chains.filter(({ isHosted }) => isHosted).map(({ id }) => id);
  if (apiKey !== null || hosted.length === 0) return null;
  return `BLOCKSCOUT_API_KEY: expected the key of the hosted API for ${hosted.length === 1 ? 'chain' : 'the chains'} ${hosted.join(', ')}, got none`;
};
