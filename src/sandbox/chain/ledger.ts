import { ZERO_ADDRESS } from '../evm/address.ts';
import { UNLISTED_PRICE } from '../evm/contracts.ts';
import { Random } from '../evm/random.ts';
import type { Chain, Hex, Token, Transfer } from '../types.ts';
import type { Holdings } from './holdings.ts';

type Move = { readonly from: Hex; readonly to: Hex; readonly value: bigint };

/**
 * Who has how much on one chain. Fees are left out: an account's balance changes by what its transfers say and by
 * nothing else, so that they add up. The accounts are the demo wallets, a fixed crowd and the contracts, so it does
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

  /** In the smallest unit; a null token is the native asset. */
  balance(account: Hex, token: Token | null): bigint {
    if (account === ZERO_ADDRESS) return 0n;
    const key = `${account}/${token?.address ?? 'native'}`;
    const known = this.#balances.get(key);
    if (known !== undefined) return known;
    const opening = this.#opening(account, token);
    this.#balances.set(key, opening);
    return opening;
  }

  /** Moves a native asset or an ERC-20. The zero address has all that is minted and takes all that is burned. */
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
   * Moves an NFT at a time (milliseconds since 1970). Of an account that no holdings are kept of, the transfer says
   * that it had, or has, just what moved.
   */
  moveNft(token: Token, tokenId: bigint, { from, to, value }: Move, time: number): Transfer {
    const fromBefore = from === ZERO_ADDRESS ? 0n : (this.holdings.balance(from, token, tokenId) ?? value);
    this.holdings.give(from, token, tokenId, value);
    const toBefore = this.holdings.balance(to, token, tokenId) ?? 0n;
    this.holdings.take(to, { token, tokenId, value, time });
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

  /** Counts an account's transactions from 0. */
  nextNonce(account: Hex): number {
    const nonce = this.#nonces.get(account) ?? 0;
    this.#nonces.set(account, nonce + 1);
    return nonce;
  }

  /** A token id that the collection has not given out yet. */
  nextTokenId(collection: Hex): bigint {
    const id = (this.#minted.get(collection) ?? 0n) + 1n;
    this.#minted.set(collection, id);
    return id;
  }

  #set(account: Hex, token: Token | null, balance: bigint): bigint {
    if (account === ZERO_ADDRESS) return 0n;
    if (balance < 0n)
      throw new Error(`expected ${account} to have enough, got ${balance} of ${token?.symbol ?? 'native'}`);
    this.#balances.set(`${account}/${token?.address ?? 'native'}`, balance);
    return balance;
  }

  /** What an account has when it is first seen: thousands of dollars' worth, or far more for a reserve that all trade with. */
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
