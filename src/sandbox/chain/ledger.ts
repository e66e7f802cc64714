import { ZERO_ADDRESS } from '../evm/address.ts';
import { UNLISTED_PRICE } from '../evm/contracts.ts';
import { Random } from '../evm/random.ts';
import type { Chain, Hex, Token, Transfer } from '../types.ts';
import type { Holdings } from './holdings.ts';

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
