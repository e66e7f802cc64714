import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { Holder } from '../../source.ts';
import type { Hex, Token, Transfer } from '../../types.ts';
import type { SandboxChain } from '../chains.ts';
import { type NftToken, type SandboxToken, UNLISTED_PRICE } from '../contracts.ts';
import { Random } from '../random.ts';

type Move = { readonly from: Hex; readonly to: Hex; readonly value: bigint };

/** A contract of a token; nothing of its metadata need be known. */
export type TokenContract = Pick<Token, 'address' | 'standard'>;

/** The balances that exist before the first transaction. */
export type Genesis = {
  /** In milliseconds since 1970. */
  readonly time: number;
  /** The ERC-20s that accounts start with, beside the native asset. */
  readonly coins: readonly SandboxToken[];
  /** The accounts that start with a balance of each. */
  readonly accounts: ReadonlySet<Hex>;
  /** Those of them that all others trade with, which start with far more. */
  readonly reserves: ReadonlySet<Hex>;
};

type Account = { amount: bigint; acquiredAt: number; hasSent: boolean };

/** The key of the native asset among the tokens' addresses. */
const NATIVE = 'native';
type Asset = Hex | typeof NATIVE;

const assetOf = (token: TokenContract | null): Asset => token?.address ?? NATIVE;

/**
 * The balances of one chain's accounts: what an account starts with, and the sum of its transfers since. Fees are left
 * out, so that transfers and balances add up. The accounts are the demo wallets, their fixed counterparties and the
 * contracts, so the ledger does not grow with time.
 */
export class Ledger {
  readonly holdings: Holdings;
  readonly #chain: SandboxChain;
  readonly #seed: string;
  readonly #genesis: Genesis;
  readonly #coins: ReadonlyMap<Asset, SandboxToken>;
  readonly #accounts = new Map<Hex, Map<Asset, Account>>();
  /** What was minted since the genesis, less what was burned. */
  readonly #issued = new Map<Asset, bigint>();
  readonly #nonces = new Map<Hex, number>();
  readonly #minted = new Map<Hex, bigint>();

  constructor(chain: SandboxChain, holdings: Holdings, seed: string, genesis: Genesis) {
    this.#chain = chain;
    this.holdings = holdings;
    this.#seed = seed;
    this.#genesis = genesis;
    this.#coins = new Map(genesis.coins.map((coin) => [coin.address, coin]));
  }

  /** The account's balance in the asset's smallest unit. A null token is the native asset. */
  balance(account: Hex, token: TokenContract | null): bigint {
    return this.#find(account, assetOf(token))?.amount ?? 0n;
  }

  /** Everything fungible that the account has some of, by the tokens' addresses; null is the native asset. */
  balances(account: Hex): readonly (readonly [token: Hex | null, amount: bigint])[] {
    this.#open(account);
    const held = this.#accounts.get(account)?.entries().toArray() ?? [];
    return held.flatMap(([asset, { amount }]) =>
      amount > 0n ? [[asset === NATIVE ? null : asset, amount] as const] : [],
    );
  }

  holders(token: Hex): readonly Holder[] {
    for (const account of this.#genesis.accounts) this.#find(account, token);
    return this.#accounts
      .entries()
      .flatMap(([account, held]): readonly Holder[] => {
        const found = held.get(token);
        return found === undefined || found.amount === 0n
          ? []
          : [{ account, ...found, place: [found.amount.toString(), account] }];
      })
      .toArray();
  }

  /** What all accounts start with, and what was minted since, less what was burned. */
  supply(token: Hex): bigint {
    const initial = this.#genesis.accounts
      .values()
      .reduce((sum, account) => sum + this.#opening(account, token), 0n);
    return initial + (this.#issued.get(token) ?? 0n);
  }

  /**
   * Moves the native asset or an ERC-20 at a time in milliseconds since 1970. Minted amounts come from the zero
   * address, and burned amounts go to it.
   * @throws when the sender's balance is too small.
   */
  move(token: TokenContract | null, { from, to, value }: Move, time: number): Transfer {
    const asset = assetOf(token);
    const fromBefore = this.balance(from, token);
    const fromAfter = from === ZERO_ADDRESS ? this.#issue(asset, value) : this.#take(from, asset, value);
    const toBefore = this.balance(to, token);
    const toAfter = to === ZERO_ADDRESS ? this.#issue(asset, -value) : this.#give(to, asset, value, time);
    const kind = token?.standard ?? 'native';
    const base = { kind: 'transfer', asset: kind, token: token?.address ?? null, tokenId: null } as const;
    const balances = {
      from: { before: fromBefore, after: fromAfter },
      to: { before: toBefore, after: toAfter },
    };
    return { ...base, from, to, value, balances };
  }

  /**
   * Moves an NFT at a time in milliseconds since 1970. For an account that is not a demo wallet, the transfer's balances
   * hold only what moves.
   */
  moveNft(token: NftToken, tokenId: bigint, { from, to, value }: Move, time: number): Transfer {
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
      balances: {
        from: { before: fromBefore, after: from === ZERO_ADDRESS ? 0n : fromBefore - value },
        to: { before: toBefore, after: to === ZERO_ADDRESS ? 0n : toBefore + value },
      },
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

  /** The zero address has no balance: what leaves it is new, and what reaches it is gone. */
  #issue(asset: Asset, value: bigint): bigint {
    this.#issued.set(asset, (this.#issued.get(asset) ?? 0n) + value);
    return 0n;
  }

  #take(from: Hex, asset: Asset, value: bigint): bigint {
    const account = this.#find(from, asset);
    const before = account?.amount ?? 0n;
    if (account === undefined || before < value)
      throw new Error(`expected ${from} to have at least ${value} of ${asset}, got ${before}`);
    account.amount = before - value;
    account.hasSent = true;
    return account.amount;
  }

  #give(to: Hex, asset: Asset, value: bigint, time: number): bigint {
    const account = this.#find(to, asset) ?? this.#add(to, asset, 0n, time);
    account.amount += value;
    return account.amount;
  }

  #find(account: Hex, asset: Asset): Account | undefined {
    const known = this.#accounts.get(account)?.get(asset);
    if (known !== undefined) return known;
    const opening = this.#opening(account, asset);
    return opening === 0n ? undefined : this.#add(account, asset, opening, this.#genesis.time);
  }

  /** Adds all that the account starts with, which is computed when it is first needed. */
  #open(account: Hex): void {
    if (!this.#genesis.accounts.has(account)) return;
    for (const asset of [NATIVE, ...this.#coins.keys()] as const) this.#find(account, asset);
  }

  #add(account: Hex, asset: Asset, amount: bigint, acquiredAt: number): Account {
    const added = { amount, acquiredAt, hasSent: false };
    const held = this.#accounts.get(account);
    if (held === undefined) this.#accounts.set(account, new Map([[asset, added]]));
    else held.set(asset, added);
    return added;
  }

  /** What the account starts with: thousands of dollars of each asset, or far more for a reserve. */
  #opening(account: Hex, asset: Asset): bigint {
    const { accounts, reserves } = this.#genesis;
    const coin = this.#coins.get(asset);
    if (!accounts.has(account) || (coin === undefined && asset !== NATIVE)) return 0n;
    const random = new Random(`${this.#seed}/opening/${this.#chain.id}/${account}/${asset}`);
    const dollars = random.between(2_000, 60_000) * (reserves.has(account) ? 20_000 : 1);
    const { priceUsd, decimals } = coin ?? this.#chain.native;
    return BigInt(Math.round((dollars / (priceUsd || UNLISTED_PRICE)) * 1e4)) * 10n ** BigInt(decimals - 4);
  }
}

/** One NFT, or several of one ERC-1155 id, that a demo wallet holds. */
export type OwnedNft = {
  readonly token: NftToken;
  readonly tokenId: bigint;
  readonly balance: bigint;
  /** When the wallet last received it, in milliseconds since 1970. */
  readonly acquiredAt: number;
  /** Its last price on the marketplace, in the native asset's smallest unit; null when it was never sold there. */
  readonly soldFor: bigint | null;
  /** Its position among all of them, by when the wallet first received it: later is greater. */
  readonly slot: number;
};

type Incoming = {
  readonly token: NftToken;
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
  readonly #wallets: ReadonlyMap<Hex, Map<string, OwnedNft>>;
  #slots = 0;

  constructor(wallets: readonly Hex[]) {
    this.#wallets = new Map(wallets.map((wallet) => [wallet, new Map<string, OwnedNft>()]));
  }

  /** The wallet's holdings that pass the filter, by ascending slot: a map iterates in the order of insertion. */
  of(wallet: Hex, filter: (holding: OwnedNft) => boolean = () => true): readonly OwnedNft[] {
    return this.#wallets.get(wallet)?.values().filter(filter).toArray() ?? [];
  }

  count(wallet: Hex): number {
    return this.#wallets.get(wallet)?.size ?? 0;
  }

  /** Null for an address that is not a demo wallet. */
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
