import type { ExplorerChainConfig } from './config.ts';

/** Where the explorers of the hosted API's most used chains have their pages: its own table of chains, as it was published in 2026. */
const HOSTED: ReadonlyMap<number, string> = new Map([
  [1, 'https://eth.blockscout.com'],
  [10, 'https://explorer.optimism.io'],
  [100, 'https://gnosis.blockscout.com'],
  [130, 'https://unichain.blockscout.com'],
  [137, 'https://polygon.blockscout.com'],
  [324, 'https://zksync.blockscout.com'],
  [480, 'https://worldchain-mainnet.explorer.alchemy.com'],
  [1868, 'https://soneium.blockscout.com'],
  [8453, 'https://base.blockscout.com'],
  [34443, 'https://explorer.mode.network'],
  [42161, 'https://arbitrum.blockscout.com'],
  [42170, 'https://arbitrum-nova.blockscout.com'],
  [42220, 'https://celo.blockscout.com'],
  [57073, 'https://explorer.inkonchain.com'],
  [84532, 'https://base-sepolia.blockscout.com'],
  [421614, 'https://arbitrum-sepolia.blockscout.com'],
  [534352, 'https://scrollscan.com'],
  [11155111, 'https://eth-sepolia.blockscout.com'],
]);

/**
 * Where the pages of an explorer are, without a slash at the end: an explorer of its own has them at its own URL. Null where that is
 * not known. A URL with more than a host may be a secret, and is not told.
 */
export const pagesOf = ({ id, baseUrl, isHosted }: ExplorerChainConfig): string | null => {
  if (isHosted) return HOSTED.get(id) ?? null;
  const { origin, username, password, pathname } = new URL(baseUrl);
  return pathname === '/api/v2' && username === '' && password === '' ? origin : null;
};
