import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Chain, Hex, Token } from '../../types.ts';
import { bytesOf, hexOf } from '../blocks/encoding.ts';
import { type ParsedBlock, TOPICS } from '../blocks/parse.ts';
import { inTransaction } from '../database/database.ts';
import type { EvmNode } from '../node/node.ts';
import { type ContractAnswers, questionsTo, readAnswers } from './answers.ts';

/** A contract whose logs are those of a token. */
export type Contract = ContractAnswers & { readonly standard: Token['standard'] };

type MetadataOptions = {
  /** The file of the index. The contracts have a table of their own in it. */
  readonly database: DatabaseSync;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'calls'>>;
  /** Milliseconds that a new block waits for what its new tokens say. Default: 500. */
  readonly patienceMs?: number;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
};

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS contracts (
    chain INTEGER NOT NULL,
    address BLOB NOT NULL,
    standard TEXT NOT NULL,
    name TEXT,
    symbol TEXT,
    decimals INTEGER,
    -- The block in which it was first seen: it may be gone when that is.
    block INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    -- When it is to be asked, in milliseconds since 1970; null for never again.
    due INTEGER,
    PRIMARY KEY (chain, address)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS contracts_by_due ON contracts (chain, due) WHERE due IS NOT NULL`;

const HOUR_MS = 3_600_000;
/** A contract that said nothing useful is asked again after an hour, two hours, four hours, and so on up to this. */
const MAX_PAUSE_MS = 7 * 24 * HOUR_MS;
/** Between two looks for contracts that are to be asked again. */
const ROUND_MS = 30_000;
/** Contracts that are asked at a time, each for three things. */
const BATCH = 16;
const MAX_CACHED = 20_000;
/** After a failure of the node, or of the disk. */
const FAILURE_PAUSE_MS = 5_000;
/** For a contract that the node can't ask now, such as one that takes the node too long. */
const POSTPONED_MS = 5 * 60_000;

/** The standard that a contract's logs look like. With logs of several standards, the first one in this list counts. */
const standardOf = ([topic, ...rest]: readonly Hex[]): Token['standard'] | null => {
  if (topic === TOPICS.single || topic === TOPICS.batch) return 'erc1155';
  if (topic === TOPICS.transfer) return rest.length === 3 ? 'erc721' : 'erc20';
  return topic === TOPICS.deposit || topic === TOPICS.withdrawal ? 'erc20' : null;
};

const tokensIn = ({ transactions }: ParsedBlock): ReadonlyMap<Hex, Token['standard']> => {
  const found = new Map<Hex, Token['standard']>();
  for (const { logs } of transactions)
    for (const { address, topics } of logs) {
      const standard = found.has(address) ? null : standardOf(topics);
      if (standard !== null) found.set(address, standard);
    }
  return found;
};

/** Whether what is known makes a token that can be shown: amounts of an ERC-20 mean nothing without decimals. */
const isKnown = ({ standard, name, symbol, decimals }: Contract): boolean =>
  (name !== null || symbol !== null) && (standard !== 'erc20' || decimals !== null);

type Row = Contract & { readonly block: number };

const rowOf = (row: Record<string, SQLOutputValue> | undefined): Row | null => {
  if (row === undefined) return null;
  const { standard, name, symbol, decimals, block } = row;
  if (standard !== 'erc20' && standard !== 'erc721' && standard !== 'erc1155') return null;
  return {
    standard,
    name: typeof name === 'string' ? name : null,
    symbol: typeof symbol === 'string' ? symbol : null,
    decimals: decimals === null ? null : Number(decimals),
    block: Number(block),
  };
};

/**
 * What tokens are called and how they count, which their contracts are asked once, soon after they are first seen. They may
 * answer anything, or not at all: then they are asked again only later.
 */
export class Metadata {
  readonly #options: Required<MetadataOptions>;
  readonly #chains: ReadonlyMap<number, Chain>;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #cache = new LRUCache<string, { readonly row: Row | null }>({ max: MAX_CACHED });
  readonly #stopping = new AbortController();
  /** Ends the pause between two rounds of a chain. */
  readonly #wake = new Map<number, () => void>();
  /** Look whether what they wait for was asked. */
  readonly #waiting = new Set<() => void>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: MetadataOptions) {
    this.#options = { patienceMs: 500, now: Date.now, ...options };
    options.database.exec(SCHEMA);
    this.#chains = new Map(options.chains.map((chain) => [chain.id, chain]));
    this.#statements = prepare(options.database);
  }

  /** Asks contracts in the background, those that were left by the last run first. */
  start(): void {
    this.#running = Promise.all([...this.#options.nodes.keys()].map((chainId) => this.#askAll(chainId)));
  }

  /** Resolves when no contract is asked any more. Nodes must be closed before, so that none is waited for. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const wake of this.#wake.values()) wake();
    await this.#running;
  }

  /**
   * Remembers the tokens of a block. For a new one, it resolves when they were asked, but soon in any case; older ones are asked
   * in the background.
   */
  async learn(block: ParsedBlock, isNew: boolean): Promise<void> {
    const { chainId, number } = block;
    const unknown = [...tokensIn(block)].filter(([address]) => {
      const known = this.#row(chainId, address);
      return known === null || known.block > number;
    });
    if (unknown.length === 0) return;
    const due = this.#options.now();
    inTransaction(this.#options.database, () => {
      for (const [address, standard] of unknown)
        this.#statements.add.run(chainId, bytesOf(address), standard, number, due);
    });
    for (const [address] of unknown) this.#cache.delete(keyOf(chainId, address));
    this.#wake.get(chainId)?.();
    if (isNew)
      await this.#untilAsked(
        chainId,
        unknown.map(([address]) => address),
      );
  }

  /** Forgets the contracts that were first seen in a block from this number on. */
  forget(chainId: number, fromBlock: number): void {
    this.#statements.forget.run(chainId, fromBlock);
    this.#cache.clear();
  }

  /** Null for a contract that is no token. */
  contract(chainId: number, address: Hex): Contract | null {
    return this.#row(chainId, address);
  }

  /** Null for a contract that is no token, or whose answers make none. */
  token(chainId: number, address: Hex): Token | null {
    const chain = this.#chains.get(chainId);
    const row = this.#row(chainId, address);
    return chain === undefined || row === null ? null : tokenOf(chain, address, row);
  }

  /** The known ERC-20s of a chain. */
  tokens(chainId: number): readonly Token[] {
    const chain = this.#chains.get(chainId);
    if (chain === undefined) return [];
    return this.#statements.erc20s.all(chainId).flatMap((found) => {
      const row = rowOf(found);
      const token = row === null ? null : tokenOf(chain, addressOf(found), row);
      return token === null ? [] : [token];
    });
  }

  #row(chainId: number, address: Hex): Row | null {
    const key = keyOf(chainId, address);
    const known = this.#cache.get(key);
    if (known !== undefined) return known.row;
    const row = rowOf(this.#statements.find.get(chainId, bytesOf(address)));
    this.#cache.set(key, { row });
    return row;
  }

  /** Asks the contracts of a chain that are due, the newest first: a flood of others does not hold up those of a new block. */
  async #askAll(chainId: number): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const due = this.#statements.due.all(chainId, this.#options.now(), BATCH).map(addressOf);
        if (due.length > 0) await this.#askSeveral(chainId, due);
        else await this.#pause(chainId, ROUND_MS);
      } catch {
        // The node's problem, or the disk's, which the follower of the chain reports.
        await wait(FAILURE_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  async #askSeveral(chainId: number, addresses: readonly Hex[]): Promise<void> {
    try {
      await this.#ask(chainId, addresses);
    } catch (problem) {
      if (this.#stopping.signal.aborted) throw problem;
      // One of them may be at fault.
      for (const address of addresses) {
        this.#statements.postpone.run(this.#options.now() + POSTPONED_MS, chainId, bytesOf(address));
        await this.#ask(chainId, [address]);
      }
    }
  }

  async #ask(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const answers = (await this.#options.nodes.get(chainId)?.calls(addresses.flatMap(questionsTo))) ?? [];
    const each = answers.length / addresses.length;
    inTransaction(this.#options.database, () => {
      for (const [at, address] of addresses.entries())
        this.#keep(chainId, address, readAnswers(answers.slice(at * each, (at + 1) * each)));
    });
    for (const address of addresses) this.#cache.delete(keyOf(chainId, address));
    for (const waiting of this.#waiting) waiting();
  }

  #keep(chainId: number, address: Hex, answers: ContractAnswers): void {
    const key = [chainId, bytesOf(address)] as const;
    const found = this.#statements.find.get(...key);
    const row = rowOf(found);
    // Its block may be gone.
    if (row === null) return;
    const { name, symbol, decimals } = answers;
    const failures = Number(found?.failures);
    const pause = Math.min(MAX_PAUSE_MS, HOUR_MS * 2 ** failures);
    const isDone = isKnown({ ...row, ...answers });
    const due = isDone ? null : this.#options.now() + pause;
    this.#statements.keep.run(name, symbol, decimals, failures + (isDone ? 0 : 1), due, ...key);
  }

  /** Resolves when the contracts were asked, or the patience is at its end. */
  async #untilAsked(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const done = Promise.withResolvers<void>();
    const timer = setTimeout(done.resolve, this.#options.patienceMs);
    const look = () => {
      const now = this.#options.now();
      const isDue = (address: Hex) => {
        const due = this.#statements.find.get(chainId, bytesOf(address))?.due ?? null;
        return due !== null && Number(due) <= now;
      };
      if (!addresses.some(isDue)) done.resolve();
    };
    this.#waiting.add(look);
    look();
    await done.promise;
    this.#waiting.delete(look);
    clearTimeout(timer);
  }

  /** Resolves after some time, or when there are new contracts of the chain. */
  async #pause(chainId: number, milliseconds: number): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake.set(chainId, woken.resolve);
    const timer = setTimeout(woken.resolve, milliseconds).unref();
    await woken.promise;
    clearTimeout(timer);
  }
}

const keyOf = (chainId: number, address: Hex): string => `${chainId}/${address}`;

const addressOf = ({ address }: Record<string, SQLOutputValue>): Hex =>
  hexOf(address instanceof Uint8Array ? address : new Uint8Array());

const tokenOf = (chain: Chain, address: Hex, contract: Contract): Token | null => {
  const { standard, name, symbol, decimals } = contract;
  const [shownName, shownSymbol] = [name ?? symbol, symbol ?? name];
  if (!isKnown(contract) || shownName === null || shownSymbol === null) return null;
  return {
    chain,
    address,
    standard,
    name: shownName,
    symbol: shownSymbol,
    decimals: standard === 'erc20' ? (decimals ?? 0) : 0,
  };
};

const prepare = (database: DatabaseSync) => ({
  find: database.prepare('SELECT * FROM contracts WHERE chain = ? AND address = ?'),
  add: database.prepare(
    `INSERT INTO contracts (chain, address, standard, block, failures, due) VALUES (?, ?, ?, ?, 0, ?)
     ON CONFLICT DO UPDATE SET block = min(block, excluded.block)`,
  ),
  due: database.prepare(
    'SELECT address FROM contracts WHERE chain = ? AND due <= ? ORDER BY due DESC LIMIT ?',
  ),
  keep: database.prepare(
    'UPDATE contracts SET name = ?, symbol = ?, decimals = ?, failures = ?, due = ? WHERE chain = ? AND address = ?',
  ),
  postpone: database.prepare('UPDATE contracts SET due = ? WHERE chain = ? AND address = ?'),
  forget: database.prepare('DELETE FROM contracts WHERE chain = ? AND block >= ?'),
  erc20s: database.prepare("SELECT * FROM contracts WHERE chain = ? AND standard = 'erc20' AND due IS NULL"),
});
