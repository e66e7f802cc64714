import type { DatabaseSync } from 'node:sqlite';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { Listed, Holder as ListedHolder, PageStart, Part, Place, Wanted } from '../../source.ts';
import type { Chain, Hex, MinedTransaction, Transaction } from '../../types.ts';
import { amountBytes, amountOf, bytesOf, hexOf } from '../blocks/encoding.ts';
import { blockId, blockOf, indexOf, numberOf, transactionId } from '../database/database.ts';
import { STANDARDS } from '../database/ledger.ts';
import type { Index, Read } from '../database/store.ts';

/** A sum of an ERC-20 that may be 0, or below. */
export type Coin = { readonly token: Hex; readonly amount: bigint };

/** What an account has of a token by the sum of its transfers. */
type Holder = Omit<ListedHolder, 'place'>;

/** An NFT, or several of one id. */
type Collectible = {
  readonly contract: Hex;
  readonly standard: 'erc721' | 'erc1155';
  readonly tokenId: bigint;
  readonly amount: bigint;
  /** Milliseconds since 1970. */
  readonly acquiredAt: number;
  readonly place: Place;
};

type AskedTransactions = readonly [
  wallet: Hex,
  chains: readonly Chain[],
  limit: number,
  start: PageStart | null,
];

/** The most bytes of transactions in a page, except for a single larger one: one log may have megabytes. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Reads pages of the lists of the index. However long a list is, a page is read from where it begins. */
export class Lists {
  readonly #index: Index;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync, index: Index) {
    this.#index = index;
    this.#statements = prepare(database);
  }

  /** The transactions of an address, by time, chain, block and index, the greatest first: that is a place as well. */
  transactions(...asked: AskedTransactions): Part<Listed<MinedTransaction>> {
    return this.#transactions(asked, (chain, id) => this.#index.mined(chain, id));
  }

  /** As `transactions`, with their effects. */
  effects(...asked: AskedTransactions): Part<Listed<Transaction>> {
    return this.#transactions(asked, (chain, id) => this.#index.read(chain, id));
  }

  #transactions<Found extends MinedTransaction>(
    [wallet, chains, limit, start]: AskedTransactions,
    read: (chain: Chain, id: bigint) => Read<Found> | undefined,
  ): Part<Listed<Found>> {
    const found = chains.flatMap((chain) => this.#transactionIds(wallet, chain, limit + 1, start));
    if (chains.length > 1) found.sort((one, other) => other.time - one.time || other.chain.id - one.chain.id);
    const page: Listed<Found>[] = [];
    let bytes = 0;
    for (const { chain, id, time } of found.slice(0, limit)) {
      const stored = read(chain, id);
      if (stored === undefined) continue;
      bytes += stored.bytes;
      if (bytes > MAX_BYTES && page.length > 0) break;
      const place = [time, chain.id, numberOf(blockOf(id)), indexOf(id)];
      page.push({ transaction: stored.transaction, place });
    }
    return { items: page, next: page.length < found.length ? (page.at(-1)?.place ?? null) : null };
  }

  /** The collectibles of an account on a chain, by time, chain, standard, contract and token id, the greatest first. */
  collectibles(account: Hex, chain: Chain, { after, limit }: Wanted): readonly Collectible[] {
    const slot = this.#index.slot(chain.id);
    const rows = this.#statements.collectibles.all(
      this.#account(account),
      slot,
      ...before(after, chain.id),
      limit,
    );
    return rows.flatMap(({ token, token_id: id, standard, amount, time }) => {
      if (!isBytes(token) || !isBytes(id) || !isBytes(amount)) return [];
      const [contract, acquiredAt] = [hexOf(token), Number(time)];
      const named = Number(standard) === STANDARDS.erc721 ? 'erc721' : 'erc1155';
      const place = [acquiredAt, chain.id, Number(standard), contract, hexOf(id)];
      // There is one of an ERC-721, whatever its contract logs.
      const count = named === 'erc721' ? 1n : amountOf(amount);
      const held = { contract, tokenId: amountOf(id), amount: count, acquiredAt, place };
      return [{ ...held, standard: named } as const];
    });
  }

  /** The ERC-20s of an account behind an address, by their addresses, with those whose balance is 0. */
  coins(account: Hex, chain: Chain, after: string, limit: number): readonly Coin[] {
    const slot = this.#index.slot(chain.id);
    return this.#statements.coins
      .all(this.#account(account), slot, bytesOf(`0x${after.slice(2)}`), limit)
      .flatMap(({ token, amount }) =>
        isBytes(token) && isBytes(amount) ? [{ token: hexOf(token), amount: amountOf(amount) }] : [],
      );
  }

  /** The sum of an ERC-20 of an account: below 0 where older blocks are missing. */
  coin(account: Hex, chain: Chain, token: Hex): bigint {
    return this.#index.sum(chain.id, { account, standard: STANDARDS.erc20, token, tokenId: 0n });
  }

  /** The holders of an ERC-20, the greatest first, and equal ones in the order in which they were first seen. */
  holders(chain: Chain, token: Hex, { after, limit }: Wanted): readonly Holder[] {
    const slot = this.#index.slot(chain.id);
    this.#index.writes.flushHoldings(slot);
    const of = [slot, bytesOf(token), this.#account(ZERO_ADDRESS)] as const;
    const { equals, less } = this.#statements;
    const [amount, account] = after ?? [];
    const most = after === null ? MOST : amountBytes(BigInt(amount ?? 0));
    const rows =
      typeof account === 'string' && account.startsWith('0x')
        ? equals.all(...of, most, this.#account(`0x${account.slice(2)}`), limit)
        : [];
    if (rows.length < limit) rows.push(...less.all(...of, most, limit - rows.length));
    return rows.flatMap((row) =>
      isBytes(row.address) && isBytes(row.amount)
        ? [
            {
              account: hexOf(row.address),
              amount: amountOf(row.amount),
              acquiredAt: Number(row.time),
              hasSent: Number(row.sends) > 0,
            },
          ]
        : [],
    );
  }

  /** The number of an account in the tables; −1, which has no rows, for an account that was never seen. */
  #account(address: Hex): number {
    return this.#index.writes.account(address) ?? -1;
  }

  /** The newest transactions of an address on a chain, or those from a place on. */
  #transactionIds(wallet: Hex, chain: Chain, limit: number, start: PageStart | null) {
    const slot = this.#index.slot(chain.id);
    const range = [transactionId(blockId(slot, 0), 0), this.#end(slot, chain.id, start)] as const;
    return this.#statements.transactions
      .all(this.#account(wallet), ...range, limit)
      .flatMap(({ id, time }) => (typeof id === 'bigint' ? [{ chain, id, time: Number(time) }] : []));
  }

  /** The id below which the transactions of a chain are that come from a place on. */
  #end(slot: number, chainId: number, start: PageStart | null): bigint {
    if (start === null) return transactionId(blockId(slot + 1, 0), 0);
    const [time = 0, placed = 0, block = 0, index = 0] = start.place.map(Number);
    if (placed === chainId) return transactionId(blockId(slot, block), index + (start.including ? 1 : 0));
    // Of blocks of one time, those of the chain with the greater id come first.
    const latest = chainId < placed ? time : time - 1;
    const { id } = this.#statements.until.get(slot, latest) ?? {};
    return transactionId(typeof id === 'bigint' ? id + 1n : blockId(slot, 0), 0);
  }
}

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

/** Greater than any encoded amount: none comes near 127 bytes. */
const MOST = Uint8Array.of(0xff);

const NOTHING = new Uint8Array();

/** The time, standard, token and token id before which the collectibles of a chain are that come behind a place. */
const before = (place: Place | null, chainId: number): readonly [number, number, Uint8Array, Uint8Array] => {
  if (place === null) return [Number.MAX_SAFE_INTEGER, 0, NOTHING, NOTHING];
  const [time = 0, placed = 0, standard = 0, contract = '', id = ''] = place;
  const bytes = (hex: string | number) => bytesOf(`0x${String(hex).slice(2)}`);
  if (placed === chainId) return [Number(time), Number(standard), bytes(contract), bytes(id)];
  return [Number(time) + (chainId < Number(placed) ? 1 : 0), 0, NOTHING, NOTHING];
};

const prepare = (database: DatabaseSync) => ({
  transactions: database.prepare(
    `SELECT by_account.id, time FROM by_account JOIN blocks ON blocks.id = by_account.id >> 20
     WHERE account = ? AND by_account.id >= ? AND by_account.id < ? ORDER BY by_account.id DESC LIMIT ?`,
  ),
  until: database.prepare(
    'SELECT id FROM blocks WHERE slot = ? AND time <= ? ORDER BY time DESC, id DESC LIMIT 1',
  ),
  collectibles: database.prepare(
    `SELECT token, token_id, standard, amount, time FROM holdings INDEXED BY collectibles
     WHERE account = ? AND slot = ? AND +standard > 0 AND amount > x'80' AND (time, standard, token, token_id) < (?, ?, ?, ?)
     ORDER BY time DESC, standard DESC, token DESC, token_id DESC LIMIT ?`,
  ),
  coins: database.prepare(
    `SELECT token, amount FROM holdings WHERE account = ? AND slot = ? AND standard = 0 AND token > ?
     ORDER BY token LIMIT ?`,
  ),
  equals: database.prepare(`${HOLDERS} AND amount = ? AND account > ? ORDER BY account LIMIT ?`),
  less: database.prepare(`${HOLDERS} AND amount < ? ORDER BY amount DESC, account LIMIT ?`),
});

/** The zero address does not count as a holder. */
const HOLDERS = `
  SELECT address, amount, time, sends FROM holdings INDEXED BY holders JOIN accounts ON accounts.id = account
  WHERE slot = ? AND token = ? AND listed = 1 AND +standard = 0 AND amount > x'80' AND account <> ?`;
