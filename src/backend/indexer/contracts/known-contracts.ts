import { LRUCache } from 'lru-cache';
import type { Chain, Hex, Token } from '../../types.ts';
import { bytesOf } from '../blocks/encoding.ts';
import { type Readings, UNASKED } from '../blocks/readings.ts';
import { type IndexDatabase, inOwnTransaction, inTransaction } from '../database/database.ts';
import {
  addressOf,
  type Contract,
  createContracts,
  isCollection,
  prepareContracts,
  type Row,
  rowOf,
  tokenOf,
} from './contract-table.ts';
import type { Sample } from './seen.ts';

/** A contract with logs of these forms. */
export type Seen = { readonly address: Hex; readonly forms: number; readonly sample: Sample };

const MAX_CACHED = 20_000;

/** The contracts that were seen, what they are known to be, and which of them are to be asked. */
export class KnownContracts {
  readonly #database: IndexDatabase;
  readonly #chains: ReadonlyMap<number, Chain>;
  readonly #statements: ReturnType<typeof prepareContracts>;
  readonly #cache = new LRUCache<string, { readonly row: Row | null }>({ max: MAX_CACHED });

  /** The contracts have a table of their own in the file of the index. */
  constructor(database: IndexDatabase, chains: readonly Chain[]) {
    createContracts(database);
    this.#database = database;
    this.#chains = new Map(chains.map((chain) => [chain.id, chain]));
    this.#statements = prepareContracts(database);
    database.onRollback(() => this.#cache.clear());
  }

  /** Null for a contract that is not a token. */
  contract(chainId: number, address: Hex): Contract | null {
    return this.row(chainId, address);
  }

  /** Null for a contract that is not a token, or whose answers are not those of one. */
  token(chainId: number, address: Hex): Token | null {
    const chain = this.#chains.get(chainId);
    const row = this.row(chainId, address);
    return chain === undefined || row === null ? null : tokenOf(chain, address, row);
  }

  /** How the logs of a contract are read. */
  readings(chainId: number, address: Hex): Readings {
    return this.row(chainId, address) ?? UNASKED;
  }

  /** Whether a contract has NFTs, or several of an id. */
  isCollection(chainId: number, address: Hex): boolean {
    return isCollection(this.readings(chainId, address));
  }

  /** Whether a contract has logs of which it is not settled how they are read. */
  isOpen(chainId: number, address: Hex): boolean {
    const row = this.row(chainId, address);
    return row !== null && (row.forms & ~row.settled) !== 0;
  }

  /** Whether a chain has contracts of which it is not known yet whether their logs move NFTs. */
  mayHaveOtherNfts(chainId: number): boolean {
    return this.#statements.doubtful.get(chainId) !== undefined;
  }

  /** The known ERC-20s of a chain. */
  tokens(chainId: number): readonly Token[] {
    const chain = this.#chains.get(chainId);
    if (chain === undefined) return [];
    return this.#statements.coins.all(chainId).flatMap((found) => {
      const row = rowOf(found);
      const token = row === null ? null : tokenOf(chain, addressOf(found), row);
      return token === null ? [] : [token];
    });
  }

  row(chainId: number, address: Hex): Row | null {
    const key = keyOf(chainId, address);
    const known = this.#cache.get(key);
    if (known !== undefined) return known.row;
    const row = rowOf(this.#statements.find.get(chainId, bytesOf(address)));
    this.#cache.set(key, { row });
    return row;
  }

  /** Takes note of contracts whose logs are in a block that is older than those they were seen in. */
  seenEarlier(chainId: number, addresses: readonly Hex[], block: number): void {
    inTransaction(this.#database, () => {
      for (const address of addresses) {
        this.#statements.earlier.run(block, chainId, bytesOf(address));
        const key = keyOf(chainId, address);
        const { row = null } = this.#cache.peek(key) ?? {};
        if (row !== null && row.block > block) this.#cache.set(key, { row: { ...row, block } });
      }
    });
  }

  /** Adds contracts that were seen in a block, or more forms of their logs. They are due at a time in milliseconds since 1970. */
  add(chainId: number, seen: readonly Seen[], block: number, due: number): void {
    inTransaction(this.#database, () => {
      for (const { address, forms, sample } of seen) {
        const read = [forms, UNASKED.coin & forms, UNASKED.nft & forms];
        this.#statements.add.run(chainId, bytesOf(address), block, due, ...read, JSON.stringify(sample));
      }
    });
    for (const { address } of seen) this.#cache.delete(keyOf(chainId, address));
  }

  /** Runs `work`, which keeps what these contracts have said, in a transaction. */
  change(chainId: number, addresses: readonly Hex[], work: () => void): void {
    try {
      inOwnTransaction(this.#database, work);
    } finally {
      // Whether or not it is kept.
      for (const address of addresses) this.#cache.delete(keyOf(chainId, address));
    }
  }

  /** Within `change`. A contract that is due at null is not asked again. */
  keep(chainId: number, address: Hex, row: Row & { readonly due: number | null }): void {
    const { name, symbol, decimals, failures, due, attempts, coin, nft, settled } = row;
    const values = [name, symbol, decimals, failures, due, attempts, coin, nft, settled];
    this.#statements.keep.run(...values, chainId, bytesOf(address));
    this.#cache.delete(keyOf(chainId, address));
  }

  /**
   * Forgets the contracts that were first seen in a block from this number on. Others of which such a block left open what their
   * logs mean are due at a time in milliseconds since 1970.
   */
  forget(chainId: number, fromBlock: number, due: number): void {
    this.#statements.forget.run(chainId, fromBlock);
    this.#statements.doubt.run(due, chainId, fromBlock);
    this.#cache.clear();
  }

  /** Forgets the logs of a contract that are not settled, as where none of them is in the index any more. */
  unsee(chainId: number, address: Hex): void {
    this.change(chainId, [address], () => {
      for (const forget of this.#statements.unsee) forget.run(chainId, bytesOf(address));
    });
  }

  /** The contracts that are due at a time, but for some, the newest first: a flood of others does not hold up those of a new block. */
  due(chainId: number, now: number, except: ReadonlySet<Hex>, limit: number): readonly Hex[] {
    return this.#statements.due
      .all(chainId, now, limit + except.size)
      .map(addressOf)
      .filter((address) => !except.has(address))
      .slice(0, limit);
  }

  isDue(chainId: number, address: Hex, now: number): boolean {
    const due = this.#statements.find.get(chainId, bytesOf(address))?.due ?? null;
    return due !== null && Number(due) <= now;
  }

  /** When the next contract is due that is not yet; null for none. */
  nextDue(chainId: number, now: number): number | null {
    const { next = null } = this.#statements.next.get(chainId, now) ?? {};
    return next === null ? null : Number(next);
  }
}

const keyOf = (chainId: number, address: Hex): string => `${chainId}/${address}`;
