import { UNLISTED_PRICE } from '../evm/contracts.ts';
import { Random, ZERO_ADDRESS } from '../evm/random.ts';
import type { Chain, Hex, Token, Transfer } from '../types.ts';

type Move = { readonly from: Hex; readonly to: Hex; readonly value: bigint };

/**
 * The balances of one chain's accounts. Fees are left out: only transfers change a balance, so that transfers and
 * balances add up. The accounts are the demo wallets, their fixed counterparties and the contracts, so the ledger does
 * not grow with time.
 */
export class Ledger {
  readonly chain: Chain;
  readonly holdings: Holdings;
  readonly #seed: string;
  readonly #isReserve: (account: Hex) => boolean;
  readonly #balances = new Map<string, bigint>();
  readonly #nonces = new Map<Hex, number>();
  readonly #minted = new Map<Hex, bigint>();

  constructor(chain: Chain, holdings: Holdings, seed: string, isReserve: (account: Hex) => boolean) {
    this.chain = chain;
    this.holdings = holdings;
    this.#seed = seed;
    this.#isReserve = isReserve;
  }

  /** The account's balance in the asset's smallest unit. A null token is the native asset. */
  balance(account: Hex, token: Token | null): bigint {
    if (account === ZERO_ADDRESS) return 0n;
    const key = `${account}/${token?.address ?? 'native'}`;
    const known = this.#balances.get(key);
    if (known !== undefined) return known;
    const opening = this.#opening(account, token);
    this.#balances.set(key, opening);
    return opening;
  }

  /**
   * Moves the native asset or an ERC-20. Minted amounts come from the zero address, and burned amounts go to it.
   * @throws when the sender's balance is too small.
   */
  move(token: Token | null, { from, to, value }: Move): Transfer {
    const fromBefore = this.balance(from, token);
    const fromAfter = this.#set(from, token, fromBefore - value);
    const toBefore = this.balance(to, token);
    const toAfter = this.#set(to, token, toBefore + value);
    const asset = token?.standard ?? 'native';
    const base = { kind: 'transfer', asset, token: token?.address ?? null, tokenId: null } as const;
    return { ...base, from, to, value, fromBefore, fromAfter, toBefore, toAfter };
  }

  /**
   * Moves an NFT at a time in milliseconds since 1970. For an account that is no demo wallet, the transfer's balances
   * hold only what moves.
   */
  moveNft(token: Token, tokenId: bigint, { from, to, value }: Move, time: number): Transfer {
    const fromBefore = from === ZERO_ADDRESS ? 0n : (this.holdings.balance(from, token, tokenId) ?? value);
    this.holdings.remove(from, token, tokenId, value);
    const toBefore = this.holdings.balance(to, token, tokenId) ?? 0n;
    this.holdings.add(to, { token, tokenId, value, time });
    return {
      kind: 'transfer',
      asset: token.standard,
      token: token.address,
      tokenId,
      from,
      to,
      value,
      fromBefore,
      fromAfter: from === ZERO_ADDRESS ? 0n : fromBefore - value,
      toBefore,
      toAfter: to === ZERO_ADDRESS ? 0n : toBefore + value,
    };
  }

  /** The account's next nonce, from 0. */
  nextNonce(account: Hex): number {
    const nonce = this.#nonces.get(account) ?? 0;
    this.#nonces.set(account, nonce + 1);
    return nonce;
  }

  /** The next token id that the collection has not minted yet. */
  nextTokenId(collection: Hex): bigint {
    const id = (this.#minted.get(collection) ?? 0n) + 1n;
    this.#minted.set(collection, id);
    return id;
  }

  #set(account: Hex, token: Token | null, balance: bigint): bigint {
    if (account === ZERO_ADDRESS) return 0n;
    if (balance < 0n)
      throw new Error(
        `expected a balance of at least 0 for ${account}, got ${balance} ${token?.symbol ?? 'native'}`,
      );
    this.#balances.set(`${account}/${token?.address ?? 'native'}`, balance);
    return balance;
  }

  /** The account's opening balance: thousands of dollars, or far more for a reserve that all accounts trade with. */
  #opening(account: Hex, token: Token | null): bigint {
    const random = new Random(
      `${this.#seed}/opening/${this.chain.id}/${account}/${token?.address ?? 'native'}`,
    );
    const dollars = random.between(2_000, 60_000) * (this.#isReserve(account) ? 20_000 : 1);
    const price = (token === null ? this.chain.native.priceUsd : token.priceUsd) || UNLISTED_PRICE;
    const decimals = token?.decimals ?? 18;
    return BigInt(Math.round((dollars / price) * 1e4)) * 10n ** BigInt(decimals - 4);
  }
}

/** One NFT, or several of one ERC-1155 id, that a demo wallet holds. */
export type Holding = {
  readonly token: Token;
  readonly tokenId: bigint;
  readonly balance: bigint;
  /** When the wallet last received it, in milliseconds since 1970. */
  readonly acquiredAt: number;
  /** Its last price on the marketplace, in the native asset's smallest unit; null when it was never sold there. */
  readonly soldFor: bigint | null;
  /** Its position among all holdings, by when the wallet first received it: later is greater. */
  readonly slot: number;
};

type Incoming = {
  readonly token: Token;
  readonly tokenId: bigint;
  readonly value: bigint;
  readonly time: number;
};

const keyOf = (token: Token, tokenId: bigint) => `${token.chain.id}/${token.address}/${tokenId}`;

/**
 * The NFTs of the demo wallets. Other addresses' NFTs are not stored, so that the memory is bounded: an NFT that leaves
 * the demo wallets is deleted.
 */
export class Holdings {
  readonly #wallets: ReadonlyMap<Hex, Map<string, Holding>>;
  #slots = 0;

  constructor(wallets: readonly Hex[]) {
    this.#wallets = new Map(wallets.map((wallet) => [wallet, new Map<string, Holding>()]));
  }

  /** The wallet's holdings that pass the filter, by ascending slot: a map iterates in the order of insertion. */
  of(wallet: Hex, filter: (holding: Holding) => boolean = () => true): readonly Holding[] {
    return this.#wallets.get(wallet)?.values().filter(filter).toArray() ?? [];
  }

  count(wallet: Hex): number {
    return this.#wallets.get(wallet)?.size ?? 0;
  }

  /** Null for an address that is no demo wallet. */
  balance(wallet: Hex, token: Token, tokenId: bigint): bigint | null {
    const held = this.#wallets.get(wallet);
    return held === undefined ? null : (held.get(keyOf(token, tokenId))?.balance ?? 0n);
  }

  add(wallet: Hex, { token, tokenId, value, time }: Incoming): void {
    const held = this.#wallets.get(wallet);
    if (held === undefined) return;
    const key = keyOf(token, tokenId);
    const before = held.get(key);
    this.#slots += 1;
    held.set(key, {
      token,
      tokenId,
      balance: (before?.balance ?? 0n) + value,
      acquiredAt: time,
      soldFor: before?.soldFor ?? null,
      slot: before?.slot ?? this.#slots,
    });
  }

  remove(wallet: Hex, token: Token, tokenId: bigint, value: bigint): void {
    const held = this.#wallets.get(wallet);
    const key = keyOf(token, tokenId);
    const before = held?.get(key);
    if (held === undefined || before === undefined) return;
    if (before.balance <= value) held.delete(key);
    else held.set(key, { ...before, balance: before.balance - value });
  }

  /** Records the price that a holding was bought for. */
  recordSale(wallet: Hex, token: Token, tokenId: bigint, soldFor: bigint): void {
    const held = this.#wallets.get(wallet);
    const key = keyOf(token, tokenId);
    const holding = held?.get(key);
    if (holding !== undefined) held?.set(key, { ...holding, soldFor });
  }
}
