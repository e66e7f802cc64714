import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { AssetType, Effect, Hex } from '../../types.ts';
import { amountBytes, amountOf, bytesOf } from '../blocks/encoding.ts';
import type { Accounts } from './accounts.ts';
import type { IndexDatabase } from './database.ts';

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

/** What the transfers of some blocks change of a holding. Times are in milliseconds since 1970. */
type Change = Holding & {
  amount: bigint;
  receipts: number;
  sends: number;
  firstReceipt: number | null;
  lastReceipt: number | null;
  /** Whether the first of them sends: what was sent was there before. */
  opensWithSend: boolean;
  /** The last block that was added to it, counted in the order in which they are added. */
  block: number;
};

/** Where blocks are added: above or below all others. */
export type End = 'above' | 'below';

/** The changes of one chain by blocks that are added at one end, by the numbers of their accounts. */
class Changes {
  readonly slot: number;
  readonly end: End;
  readonly #accounts: Accounts;
  readonly #changes = new Map<number, Map<string, Change>>();
  #blocks = 0;
  /** The holdings that were changed, also those that were taken since. */
  size = 0;

  constructor(accounts: Accounts, slot: number, end: End) {
    this.#accounts = accounts;
    this.slot = slot;
    this.end = end;
  }

  /** The accounts of which something changes. */
  get accounts(): Iterable<number> {
    return this.#changes.keys();
  }

  /**
   * Adds what the transfers of a block change. Transfers of nothing change nothing: anyone can make a token log them for any
   * account. The zero address has no NFTs, but a sum of each ERC-20, which is the negative of its supply.
   */
  add(effects: Iterable<Effect>, time: number): void {
    this.#blocks += 1;
    for (const effect of effects) {
      if (effect.kind !== 'transfer' || effect.asset === 'native' || effect.token === null) continue;
      const { from, to, token, value, tokenId } = effect;
      const standard = STANDARDS[effect.asset];
      if (value === 0n) continue;
      if (from !== ZERO_ADDRESS || standard === 0) {
        const sent = this.#of(from, standard, token, tokenId ?? 0n, true);
        sent.amount -= value;
        sent.sends += 1;
      }
      if (to !== ZERO_ADDRESS || standard === 0) {
        const received = this.#of(to, standard, token, tokenId ?? 0n, false);
        received.amount += value;
        received.receipts += 1;
        received.firstReceipt = Math.min(received.firstReceipt ?? time, time);
        received.lastReceipt = Math.max(received.lastReceipt ?? time, time);
      }
    }
  }

  /** Takes what changes of an account, in the order of the table: neighbours are in one page of the file. */
  take(account: number): readonly Change[] {
    const changes = this.#changes.get(account);
    if (changes === undefined) return [];
    this.#changes.delete(account);
    return changes.size === 1
      ? [...changes.values()]
      : [...changes.keys()].sort().flatMap((key) => changes.get(key) ?? []);
  }

  #of(account: Hex, standard: Holding['standard'], token: Hex, tokenId: bigint, sends: boolean): Change {
    const number = this.#accounts.numberOf(account);
    let changes = this.#changes.get(number);
    if (changes === undefined) {
      changes = new Map();
      this.#changes.set(number, changes);
    }
    const key = standard === 0 ? token : `${token}${standard}/${tokenId}`;
    const block = this.#blocks;
    const known = changes.get(key);
    if (known === undefined) {
      const change: Change = {
        ...{ account, standard, token, tokenId, amount: 0n, receipts: 0, sends: 0 },
        ...{ firstReceipt: null, lastReceipt: null, opensWithSend: sends, block },
      };
      changes.set(key, change);
      this.size += 1;
      return change;
    }
    // The first transfer of a block below all others is the first of all.
    if (this.end === 'below' && known.block !== block) known.opensWithSend = sends;
    known.block = block;
    return known;
  }
}

type Row = {
  readonly amount: bigint;
  readonly time: number | null;
  readonly receipts: number;
  readonly sends: number;
};

const KEY = 'account = ? AND slot = ? AND standard = ? AND token = ? AND token_id = ?';

/**
 * Keeps the table `holdings`. Its writes must run in a transaction. What blocks change is written by `flush`, before the end of
 * the transaction: what an account has of a token is written once, however many blocks move it.
 */
export class Ledger {
  readonly #accounts: Accounts;
  readonly #select;
  readonly #insert;
  readonly #update;
  readonly #delete;
  readonly #unlisted;
  readonly #list;
  readonly #setUnlisted;
  #pending: Changes[] = [];

  constructor(database: IndexDatabase, accounts: Accounts) {
    this.#accounts = accounts;
    this.#select = database.prepare(`SELECT amount, time, receipts, sends FROM holdings WHERE ${KEY}`);
    this.#select.setReadBigInts(false);
    this.#insert = database.prepare(
      `INSERT INTO holdings SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ifnull(?1 < unlisted, 1) FROM chains WHERE slot = ?2`,
    );
    this.#update = database.prepare(
      `UPDATE holdings SET amount = ?, time = ?, receipts = ?, sends = ? WHERE ${KEY}`,
    );
    this.#delete = database.prepare(`DELETE FROM holdings WHERE ${KEY}`);
    this.#unlisted = database.prepare(
      `SELECT unlisted, (SELECT account + 1 FROM holdings WHERE account >= unlisted LIMIT 1 OFFSET ?2) AS next
       FROM chains WHERE slot = ?1`,
    );
    this.#list = database.prepare(
      'UPDATE holdings SET listed = 1 WHERE account >= ? AND account < ? AND slot = ?',
    );
    this.#setUnlisted = database.prepare('UPDATE chains SET unlisted = ? WHERE slot = ?');
  }

  /** Whether the index `holders` has all holders of a chain's tokens. */
  isListed(slot: number): boolean {
    return this.#unlisted.get(slot, 0)?.unlisted === null;
  }

  /** Lists the holdings of further accounts, about as many as are wanted. */
  list(slot: number, most: number): void {
    const { unlisted = null, next = null } = this.#unlisted.get(slot, most) ?? {};
    if (unlisted === null) return;
    this.#list.run(unlisted, next ?? Number.MAX_SAFE_INTEGER, slot);
    this.#setUnlisted.run(next, slot);
  }

  /** The sum of a holding; 0 without one. */
  amount(slot: number, holding: Holding): bigint {
    const account = this.#accounts.find(holding.account);
    if (account === null) return 0n;
    this.flush(account);
    return this.#row(keyOf(slot, account, holding))?.amount ?? 0n;
  }

  /** Adds the effects of a block at a time in milliseconds since 1970. */
  add(slot: number, end: End, effects: Iterable<Effect>, time: number): void {
    let pending = this.#pending.find((each) => each.slot === slot && each.end === end);
    if (pending === undefined) {
      pending = new Changes(this.#accounts, slot, end);
      this.#pending.push(pending);
    }
    pending.add(effects, time);
  }

  /** The changes since everything was written. */
  get size(): number {
    return this.#pending.reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether changes of a chain wait. */
  waitsFor(slot: number): boolean {
    return this.#pending.some((each) => each.slot === slot && each.size > 0);
  }

  /** The accounts for which changes wait. */
  waiting(): readonly number[] {
    return this.#pending.flatMap(({ accounts }) => [...accounts]);
  }

  /** Writes what an account waits for. */
  flush(account: number): void {
    for (const pending of this.#pending)
      for (const change of pending.take(account)) this.#apply(pending.slot, pending.end, account, change);
  }

  /** Discards what waits, as after a rollback. */
  clear(): void {
    this.#pending = [];
  }

  /**
   * Takes back effects that were added, of which none waits. `receipt` finds when what is left of a holding was received, the first
   * time for an ERC-20 and the last time for an NFT: it is asked only for those of which a receipt is taken back, with the time so
   * far.
   */
  revert(
    slot: number,
    effects: Iterable<Effect>,
    receipt: (holding: Holding, known: number | null) => number | null,
  ): void {
    const changes = new Changes(this.#accounts, slot, 'above');
    changes.add(effects, 0);
    for (const account of [...changes.accounts].sort(byNumber))
      for (const change of changes.take(account)) {
        const key = keyOf(slot, account, change);
        const row = this.#row(key);
        if (row === undefined)
          throw new Error(`expected a holding of ${change.token} by ${change.account}, got none`);
        const receipts = row.receipts - change.receipts;
        const sends = row.sends - change.sends;
        if (receipts + sends === 0) {
          this.#delete.run(...key);
          continue;
        }
        const time = receipts === 0 ? null : change.receipts > 0 ? receipt(change, row.time) : row.time;
        this.#store(key, { amount: row.amount - change.amount, time, receipts, sends });
      }
  }

  #apply(slot: number, end: End, account: number, change: Change): void {
    const key = keyOf(slot, account, change);
    const row = this.#row(key);
    const opening = openingOf(change);
    const amount = change.amount + opening;
    const received = change.standard === 0 ? change.firstReceipt : change.lastReceipt;
    if (row === undefined)
      this.#insert.run(...key, amountBytes(amount), received, change.receipts, change.sends);
    else
      this.#store(key, {
        amount: row.amount + (end === 'below' ? amount - openingIn(change, row) : change.amount),
        time: chosen(change.standard, row.time, received),
        receipts: row.receipts + change.receipts,
        sends: row.sends + change.sends,
      });
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

type Key = readonly [account: number, slot: number, standard: number, token: Uint8Array, tokenId: Uint8Array];

const keyOf = (slot: number, account: number, { standard, token, tokenId }: Holding): Key => [
  account,
  slot,
  standard,
  bytesOf(token),
  amountBytes(tokenId),
];

const byNumber = (one: number, other: number): number => one - other;

/** The first receipt of an ERC-20, the last one of an NFT. */
const chosen = (standard: Holding['standard'], one: number | null, other: number | null): number | null => {
  if (one === null || other === null) return one ?? other;
  return standard === 0 ? Math.min(one, other) : Math.max(one, other);
};
