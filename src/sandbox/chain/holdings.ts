import type { Hex, Token } from '../types.ts';

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
