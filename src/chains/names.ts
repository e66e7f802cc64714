/**
 * A lookup names a transaction's chain but does not number it. These names are documented; a chain beyond them
 * has no id here rather than a guessed one.
 */
const CHAIN_IDS: ReadonlyMap<string, number> = new Map([
  ['ethereum', 1],
  ['optimism', 10],
  ['bnb', 56],
  ['gnosis', 100],
  ['polygon', 137],
  ['zksync', 324],
  ['hyper_evm', 999],
  ['base', 8453],
  ['arbitrum', 42161],
  ['arbitrum_nova', 42170],
  ['celo', 42220],
  ['avalanche_c', 43114],
  ['blast', 81457],
  ['zora', 7777777],
]);

export const chainIdOf = (chain: string): number | null => CHAIN_IDS.get(chain) ?? null;
