import { LRUCache } from 'lru-cache';
import type { Chain, Hex, Token } from '../types.ts';
import type { Account, ExplorerToken } from './client/rows.ts';

/** The tokens and the names of a chain that are kept. One answer has some hundreds. */
const MAX_KEPT = 20_000;
/** For how long a contract is taken as unverified, after a row said so. */
const UNVERIFIED_MS = 3_600_000;
/** A price is that of the answer that it came with, which the same lookup reads. */
const PRICE_MS = 600_000;

const STANDARDS: ReadonlyMap<string | null, Token['standard']> = new Map([
  ['ERC-20', 'erc20'],
  ['ERC-721', 'erc721'],
  ['ERC-1155', 'erc1155'],
]);

type Price = { readonly usd: number; readonly at: number };

type Kept = {
  /** Such as `ERC-20`; null while it is not known. */
  readonly type: string | null;
  /** Null while its symbol, its name, its decimals or its standard are not known. */
  readonly token: Token | null;
  readonly logo: string | null;
  readonly price: Price | null;
  /** Whether the explorer flags it; null where it does not say. */
  readonly isFlagged: boolean | null;
  readonly symbol: string | null;
  readonly name: string | null;
};

/** What the answers of an explorer have said of a chain's assets and contracts: rows carry it, and lookups read it from here. */
export class Known {
  readonly #chain: Chain;
  readonly #now: () => number;
  readonly #tokens = new LRUCache<Hex, Kept>({ max: MAX_KEPT });
  readonly #names = new LRUCache<Hex, string>({ max: MAX_KEPT });
  readonly #unverified = new LRUCache<Hex, true>({ max: MAX_KEPT, ttl: UNVERIFIED_MS });
  #native: Price | null = null;

  constructor(chain: Chain, now: () => number = Date.now) {
    this.#chain = chain;
    this.#now = now;
  }

  /** Notes what a row says of a token. */
  token(row: ExplorerToken): Token | null {
    const { address_hash: address, exchange_rate, icon_url: logo, symbol, name, reputation } = row;
    const isFlagged = reputation === null ? null : reputation === 'scam';
    const token = tokenOf(this.#chain, row, isFlagged);
    const price = exchange_rate === null ? null : { usd: exchange_rate, at: this.#now() };
    this.#tokens.set(address, { type: row.type, token, logo, price, isFlagged, symbol, name });
    return token;
  }

  /** Notes what a row says of an account. */
  account({ hash, name, is_verified: isVerified }: Account): void {
    if (name !== null) this.named(hash, name);
    if (isVerified === false) this.#unverified.set(hash, true);
  }

  /** Notes the name of a contract. */
  named(address: Hex, name: string): void {
    this.#names.set(address, name);
  }

  /** Whether a recent row said that the source of a contract is not verified. */
  isUnverified(address: Hex): boolean {
    return this.#unverified.has(address);
  }

  /** Notes the price of the chain's own currency, in dollars; null where an answer does not say it. */
  native(usd: number | null): void {
    if (usd !== null) this.#native = { usd, at: this.#now() };
  }

  find(address: Hex): Kept | null {
    return this.#tokens.get(address) ?? null;
  }

  nameOf(address: Hex): string | null {
    return this.#names.get(address) ?? this.find(address)?.name ?? null;
  }

  /** Explorers know the prices of now alone. */
  priceOf(token: Hex | null, time: number): number | null {
    const price = token === null ? this.#native : (this.find(token)?.price ?? null);
    return price !== null && Math.abs(time - price.at) <= PRICE_MS ? price.usd : null;
  }
}

const tokenOf = (
  chain: Chain,
  { address_hash: address, type, symbol, name, decimals, circulating_market_cap }: ExplorerToken,
  isFlagged: boolean | null,
): Token | null => {
  const standard = STANDARDS.get(type);
  if (standard === undefined || symbol === null || name === null) return null;
  if (standard === 'erc20' && decimals === null) return null;
  return {
    ...{ chain, address, standard, symbol, name },
    decimals: standard === 'erc20' ? (decimals ?? 0) : 0,
    ...(isFlagged !== null && { flagged: isFlagged }),
    ...(circulating_market_cap !== null && { marketCapUsd: circulating_market_cap }),
  };
};
