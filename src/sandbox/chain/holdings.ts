import type { Hex, Token } from '../types.ts';

/** One NFT, or several of one ERC-1155 id, in a demo wallet. */
export type Holding = {
  readonly token: Token;
  readonly tokenId: bigint;
  readonly balance: bigint;
  /** When it last came in; milliseconds since 1970. */
  readonly acquiredAt: number;
  /** What it last changed hands for on the marketplace, in the native asset's smallest unit; null when it never did. */
  readonly soldFor: bigint | null;
  /** Its place among all holdings, from when it was first acquired: later is greater. */
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
 * Which NFTs the demo wallets hold. What others hold is not kept, so that it can't grow without limit: an NFT that
 * leaves the demo wallets is forgotten.
 */
export class Holdings {
  readonly #wallets: ReadonlyMap<Hex, Map<string, Holding>>;
  #slots = 0;

  constructor(wallets: readonly Hex[]) {
    this.#wallets = new Map(wallets.map((wallet) => [wallet, new Map<string, Holding>()]));
  }

  /** Those that `keep` says, by slot, ascending: a map keeps the order in which its keys came. */
  of(wallet: Hex, keep: (holding: Holding) => boolean = () => true): readonly Holding[] {
    return this.#wallets.get(wallet)?.values().filter(keep).toArray() ?? [];
  }

  count(wallet: Hex): number {
    return this.#wallets.get(wallet)?.size ?? 0;
  }

  /** Null for a wallet that is not kept account of. */
  balance(wallet: Hex, token: Token, tokenId: bigint): bigint | null {
    const held = this.#wallets.get(wallet);
    return held === undefined ? null : (held.get(keyOf(token, tokenId))?.balance ?? 0n);
  }

  take(wallet: Hex, { token, tokenId, value, time }: Incoming): void {
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

  give(wallet: Hex, token: Token, tokenId: bigint, value: bigint): void {
    const held = this.#wallets.get(wallet);
    const key = keyOf(token, tokenId);
    const before = held?.get(key);
    if (held === undefined || before === undefined) return;
    if (before.balance <= value) held.delete(key);
    else held.set(key, { ...before, balance: before.balance - value });
  }

  /** Notes what a holding was bought for. */
  price(wallet: Hex, token: Token, tokenId: bigint, soldFor: bigint): void {
    const held = this.#wallets.get(wallet);
    const key = keyOf(token, tokenId);
    const holding = held?.get(key);
    if (holding !== undefined) held?.set(key, { ...holding, soldFor });
  }
}
