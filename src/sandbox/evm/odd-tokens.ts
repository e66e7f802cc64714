import type { SandboxChain } from '../chains.ts';
import type { Hex, Token } from '../types.ts';

type OddToken = Omit<Token, 'chain' | 'address' | 'standard'>;

const HOUR_MS = 3_600_000;
const pegged = { isStable: true, decimals: 18 };

/** The tokens of Ethereum, beside its coins. */
const ETHEREUM: readonly OddToken[] = [
  // Any price can come out of a pool with next to nothing in it.
  {
    symbol: 'OMEGA',
    name: 'Omega',
    decimals: 18,
    priceUsd: 1.233346836175539e21,
    poolSizeUsd: 1233.346836175539,
  },
  {
    symbol: 'ABYSS',
    name: 'Abyss',
    decimals: 9,
    priceUsd: 9388386012000030000,
    poolSizeUsd: 9.38838601200003,
  },
  { symbol: 'GRAIN', name: 'Grain of Sand', decimals: 18, priceUsd: 8.852246853764e-6, poolSizeUsd: 4_210.5 },
  {
    symbol: 'BUSD',
    name: 'BUSD',
    ...pegged,
    priceUsd: 1,
    poolSizeUsd: 1_204_100.5,
    site: 'https://busd.example',
  },
  { symbol: 'sDAI', name: 'Savings Dai', ...pegged, priceUsd: 1.1834, poolSizeUsd: 6_300_201 },
  { symbol: 'sUSDe', name: 'Staked USDe', ...pegged, priceUsd: 1.2107, poolSizeUsd: 14_810_377.75 },
  {
    symbol: 'EURC',
    name: 'Euro Coin',
    isStable: true,
    decimals: 6,
    priceUsd: 1.1612,
    poolSizeUsd: 3_950_118.25,
  },
  // What positions give for what is put into them.
  { symbol: 'vUSDC', name: 'USDC Vault', decimals: 18, priceUsd: 1.0731, poolSizeUsd: 52_400 },
  { symbol: 'aUSDC', name: 'Lent USDC', decimals: 6, priceUsd: 1, poolSizeUsd: 912_340.5 },
  { symbol: 'LP', name: 'Pool Share', decimals: 18, priceUsd: 184.25, poolSizeUsd: 88_000 },
  { symbol: 'PT-sUSDe', name: 'Principal sUSDe', decimals: 18, priceUsd: 0.9743, poolSizeUsd: 241_050 },
];

const GNOSIS: readonly OddToken[] = [
  { symbol: 'EURe', name: 'Monerium EUR emoney', ...pegged, priceUsd: 1.1609, poolSizeUsd: 2_115_600.5 },
  { symbol: 'sDAI', name: 'Savings xDAI', ...pegged, priceUsd: 1.2211, poolSizeUsd: 1_870_012 },
];

const BASE: readonly OddToken[] = [
  { symbol: 'LOTTO', name: 'Lottery Ticket', decimals: 0, priceUsd: null, poolSizeUsd: null },
];

/** The number of tokens that the wallet `dust` holds. */
export const DUST_TOKENS = 2_500;
const DUST_DECIMALS = [18, 6, 8, 0, 9];

/** Every kind of price and pool in turn: absurd, without a price, of some worth, of next to none. */
const dustToken = (at: number): OddToken => {
  const named = {
    symbol: `DUST${at}`,
    name: `Speck of Dust ${at}`,
    decimals: DUST_DECIMALS[at % DUST_DECIMALS.length] ?? 18,
  };
  if (at % 100 === 0)
    return { ...named, priceUsd: 1.233346836175539e21 / (at + 1), poolSizeUsd: 1233.346836175539 };
  if (at % 50 === 1) return { ...named, priceUsd: 9388386012000030000, poolSizeUsd: 9.38838601200003 };
  if (at % 10 === 3) return { ...named, priceUsd: null, poolSizeUsd: null };
  if (at % 7 === 2) return { ...named, priceUsd: 0.001 * (at + 1), poolSizeUsd: 10_000 + at };
  return { ...named, priceUsd: 7.65e-7 * (at + 1), poolSizeUsd: 50 + at };
};

/** Addresses that take no hash each: there are thousands. */
export const dustAddress = (at: number): Hex => `0xd057${at.toString(16).padStart(36, '0')}`;

/**
 * The tokens that no wallet trades: those of thin pools, pegged ones, receipts of DeFi positions. `startedAt`, in
 * milliseconds since 1970, is when the sandbox starts.
 */
export const oddTokens = (
  chain: SandboxChain,
  startedAt: number,
  addressOf: (symbol: string) => Hex,
): readonly Token[] => {
  const token = (address: Hex, odd: OddToken): Token => ({ ...odd, chain, address, standard: 'erc20' });
  const named = (odd: OddToken) => token(addressOf(odd.symbol), odd);
  if (chain.id === 1) {
    const tradedSince = startedAt - 30 * HOUR_MS;
    const fresh = {
      symbol: 'FRESH',
      name: 'Fresh Paint',
      decimals: 18,
      priceUsd: 0.4821,
      poolSizeUsd: 120_455.5,
    };
    return [...ETHEREUM, { ...fresh, tradedSince }].map(named);
  }
  if (chain.id === 100) return GNOSIS.map(named);
  if (chain.id !== 8453) return [];
  const dust = Array.from({ length: DUST_TOKENS }, (_, at) => token(dustAddress(at), dustToken(at)));
  return [...BASE.map(named), ...dust];
};
