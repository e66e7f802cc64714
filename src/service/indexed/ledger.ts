import type { DatabaseSync } from 'node:sqlite';
import { ZERO_ADDRESS } from '../evm/address.ts';
import type { AssetType, Effect, Hex } from '../types.ts';
import { amountBytes, amountOf, bytesOf } from './encoding.ts';

/** The standards as the table `holdings` has them. */
export const STANDARDS = { erc20: 0, erc721: 721, erc1155: 1155 } as const satisfies Record<
  Exclude<AssetType, 'native'>,
  number
>;

/** One of the sums of an account. */
export type Holding = {
  readonly account: Hex;
  readonly standard: (typeof STANDARDS)[keyof typeof STANDARDS];
  readonly token: Hex;
  /** 0 for an ERC-20. */
  readonly tokenId: bigint;
};

/** What the transfers of a block change of a holding. */
export type Change = Holding & {
  amount: bigint;
  receipts: number;
  sends: number;
  /** Whether the first of them sends: what was sent was there before. */
  readonly opensWithSend: boolean;
};

/**
 * The changes of holdings by transfers, one for each holding. Transfers of nothing change nothing: anyone can make a token log
 * them for any account. The zero address has no NFTs, but a sum of each ERC-20, which is the negative of its supply.
 */
export const changesOf = (effects: Iterable<Effect>): readonly Change[] => {
  const changes = new Map<string, Change>();
  const changeOf = (
    account: Hex,
    standard: Holding['standard'],
    token: Hex,
    tokenId: bigint,
    opensWithSend: boolean,
  ): Change => {
    const key = standard === 0 ? account + token : `${account}${token}${standard}/${tokenId}`;
    const known = changes.get(key);
    if (known !== undefined) return known;
    const change = { account, standard, token, tokenId, amount: 0n, receipts: 0, sends: 0, opensWithSend };
    changes.set(key, change);
    return change;
  };
  for (const effect of effects) {
    if (effect.kind !== 'transfer' || effect.asset === 'native' || effect.token === null) continue;
    const { from, to, token, value } = effect;
    const standard = STANDARDS[effect.asset];
    if (value === 0n) continue;
    if (from !== ZERO_ADDRESS || standard === 0) {
      const sent = changeOf(from, standard, token, effect.tokenId ?? 0n, true);
      sent.amount -= value;
      sent.sends += 1;
    }
    if (to !== ZERO_ADDRESS || standard === 0) {
      const received = changeOf(to, standard, token, effect.tokenId ?? 0n, false);
      received.amount += value;
      received.receipts += 1;
    }
  }
  return [...changes.values()];
};

type Row = {
  readonly amount: bigint;
  readonly time: number | null;
  readonly receipts: number;
  readonly sends: number;
};

const KEY = 'account = ? AND slot = ? AND standard = ? AND token = ? AND token_id = ?';

/** Keeps the table `holdings`. Its writes must run in a transaction. */
export class Ledger {
  readonly #select;
  readonly #insert;
  readonly #update;
  readonly #delete;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(`SELECT amount, time, receipts, sends FROM holdings WHERE ${KEY}`);
    this.#insert = database.prepare('INSERT INTO holdings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#update = database.prepare(
      `UPDATE holdings SET amount = ?, time = ?, receipts = ?, sends = ? WHERE ${KEY}`,
    );
    this.#delete = database.prepare(`DELETE FROM holdings WHERE ${KEY}`);
  }

  /** The sum of a holding; 0 without one. */
  amount(slot: number, holding: Holding): bigint {
    return this.#row(keyOf(slot, holding))?.amount ?? 0n;
  }

  /** Adds the changes of a block above or below all others, at a time in milliseconds since 1970. */
  apply(slot: number, where: 'above' | 'below', time: number, changes: readonly Change[]): void {
    for (const change of changes) {
      const key = keyOf(slot, change);
      const row = this.#row(key);
      const received = change.receipts === 0 ? null : time;
      const isFirst = row === undefined || where === 'below';
      const opening = isFirst ? openingOf(change) : 0n;
      if (row === undefined)
        this.#insert.run(
          ...key,
          amountBytes(change.amount + opening),
          received,
          change.receipts,
          change.sends,
        );
      else
        this.#store(key, {
          amount: row.amount + change.amount + opening - (isFirst ? openingIn(change, row) : 0n),
          time: chosen(change.standard, row.time, received),
          receipts: row.receipts + change.receipts,
          sends: row.sends + change.sends,
        });
    }
  }

  /**
   * Takes back the changes of the newest block. `lastReceipt` finds when an NFT was last received in the blocks that are left:
   * it is asked only for those that were.
   */
  revert(slot: number, changes: readonly Change[], lastReceipt: (holding: Holding) => number | null): void {
    for (const change of changes) {
      const key = keyOf(slot, change);
      const row = this.#row(key);
      if (row === undefined)
        throw new Error(`expected a holding of ${change.token} by ${change.account}, got none`);
      const receipts = row.receipts - change.receipts;
      const sends = row.sends - change.sends;
      if (receipts + sends === 0) {
        this.#delete.run(...key);
        continue;
      }
      // The first receipt of an ERC-20 is in an older block, as long as one is left.
      const isLast = change.standard !== 0 && change.receipts > 0;
      const time = receipts === 0 ? null : isLast ? lastReceipt(change) : row.time;
      this.#store(key, { amount: row.amount - change.amount, time, receipts, sends });
    }
  }

  #row(key: Key): Row | undefined {
    const row = this.#select.get(...key);
    if (row === undefined || !(row.amount instanceof Uint8Array)) return undefined;
    return {
      amount: amountOf(row.amount),
      time: row.time === null ? null : Number(row.time),
      receipts: Number(row.receipts),
      sends: Number(row.sends),
    };
  }

  #store(key: Key, { amount, time, receipts, sends }: Row): void {
    this.#update.run(amountBytes(amount), time, receipts, sends, ...key);
  }
}

/**
 * Who sends an ERC-721 had it before, also where the index lacks the block in which it came: the sum of its transfers is one
 * too low.
 */
const openingOf = ({ standard, opensWithSend }: Change): bigint =>
  standard === STANDARDS.erc721 && opensWithSend ? 1n : 0n;

/** What was added to a sum as its opening: the rest is one for each transfer. */
const openingIn = ({ standard }: Holding, { amount, receipts, sends }: Row): bigint =>
  standard === STANDARDS.erc721 ? amount - BigInt(receipts - sends) : 0n;

type Key = readonly [
  account: Uint8Array,
  slot: number,
  standard: number,
  token: Uint8Array,
  tokenId: Uint8Array,
];

const keyOf = (slot: number, { account, standard, token, tokenId }: Holding): Key => [
  bytesOf(account),
  slot,
  standard,
  bytesOf(token),
  amountBytes(tokenId),
];

/** The first receipt of an ERC-20, the last one of an NFT. */
const chosen = (standard: Holding['standard'], one: number | null, other: number | null): number | null => {
  if (one === null || other === null) return one ?? other;
  return standard === 0 ? Math.min(one, other) : Math.max(one, other);
};
