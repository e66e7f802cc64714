import { isDeepStrictEqual } from 'node:util';
import type { BlockRef } from '../../node/answers.ts';
import type { Effect, Hex } from '../../types.ts';
import { type Balances, withBalances } from '../blocks/balances.ts';
import {
  effectsOf,
  type ParsedBlock,
  type ParsedTransaction,
  partiesOf,
  transactionOf,
} from '../blocks/parse.ts';
import type { Readings } from '../blocks/readings.ts';
import type { Approvals } from './approvals.ts';
import { blockId, blockOf, transactionId } from './database.ts';
import { type Ledger, STANDARDS } from './ledger.ts';
import { receiptOf } from './receipt.ts';
import {
  concerns,
  type IndexedChain,
  NEWEST,
  NONE,
  oldReadings,
  type ReadingsIn,
  type Revision,
  type Revisions,
  type Underway,
} from './revisions.ts';
import type { StoredBlocks } from './stored-blocks.ts';
import type { LateListener } from './traced.ts';
import type { Unsettled } from './unsettled.ts';

type Options = {
  readonly blocks: StoredBlocks;
  readonly ledger: Ledger;
  readonly unsettled: Unsettled;
  readonly approvals: Approvals;
  readonly revisions: Revisions;
  readonly chainOf: (chainId: number) => IndexedChain;
  readonly transaction: (work: () => void) => void;
  /** Writes what waits for the end of the transaction. */
  readonly flush: () => void;
  /** The effects that are read at a time, about. Default: 2,000. */
  readonly most?: number | undefined;
};

/** Nothing is answered in a turn, and a contract may have logged any number of effects before it says what its logs mean. */
const MOST = 2_000;

/**
 * Reads stored transactions again once it is known how the logs of a contract are read, in turns. What the tables have in the end
 * is as if that had been known from the first block on.
 */
export class Rereading {
  readonly #options: Options;
  /** The balances at the ends of announced blocks, by contracts whose revision is under way. */
  readonly #known = new Map<string, ReadonlyMap<Hex, Balances>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Changes how the logs of a contract are read, within the transaction that stores it: the transactions of which that was not
   * settled are read again, as many as one turn has time for. While it is `underway`, some are left for `goOn`. The listener
   * hears of those in announced blocks, which are delivered in part already; `known` has the balances at the ends of these by the
   * hashes of the blocks. Default: they are not delivered.
   * @throws when another revision of the contract is under way.
   */
  revise(
    chainId: number,
    contract: Hex,
    revision: Revision,
    listener: LateListener,
    known: ReadonlyMap<Hex, Balances> = new Map(),
  ): void {
    const { chainOf, transaction: inTransaction, blocks, unsettled, revisions } = this.#options;
    const { before, after, isSettled } = revision;
    inTransaction(() => {
      const { slot } = chainOf(chainId);
      if (before.coin !== after.coin || before.nft !== after.nft) {
        const head = blocks.range(slot)?.head.number ?? -1;
        revisions.begin(slot, contract, revision, transactionId(blockId(slot, head + 1), 0));
        this.#known.set(`${chainId}/${contract}`, known);
        this.goOn(chainId, contract, listener);
      } else if (isSettled) unsettled.settle(slot, contract);
      else unsettled.told(slot, contract);
    });
  }

  /** The contracts of a chain whose revision is under way. */
  underway(chainId: number): readonly Hex[] {
    return [...this.#options.revisions.of(this.#options.chainOf(chainId).slot).keys()];
  }

  /** Goes on with the revision of a contract, for one turn. */
  goOn(chainId: number, contract: Hex, listener: LateListener): void {
    const { chainOf, transaction: inTransaction, revisions, unsettled } = this.#options;
    inTransaction(() => {
      const indexed = chainOf(chainId);
      const { slot } = indexed;
      for (let left = this.#options.most ?? MOST; left > 0; ) {
        const revision = revisions.of(slot).get(contract);
        if (revision === undefined) return;
        const { isAdding, isSettled } = revision;
        const { taken, work, mark, isAll } = this.#take(indexed, revision, left);
        left -= work;
        revisions.advance(slot, { contract, isAdding, mark });
        if (isAdding) this.#add(indexed, revision, taken, listener);
        else this.#takeOut(indexed, contract, taken);
        if (!isAll) continue;
        if (!isAdding) {
          revisions.advance(slot, { contract, isAdding: true, mark: NEWEST });
          continue;
        }
        revisions.end(slot, contract);
        this.#known.delete(`${chainId}/${contract}`);
        if (isSettled) unsettled.settle(slot, contract);
        else unsettled.told(slot, contract);
      }
    });
  }

  /**
   * The newest announced blocks with logs of a contract that are read as soon as it is known how: of each, the transactions with
   * these logs, and with nothing else.
   */
  announced(chainId: number, contract: Hex): readonly ParsedBlock[] {
    const { chainOf, unsettled, blocks } = this.#options;
    const rows = unsettled.announced(chainOf(chainId).slot, contract, MAX_ANNOUNCED);
    const ids = new Set(rows.map(blockOf));
    return [...ids].map((id) => ({
      ...blocks.reference(id),
      chainId,
      transactions: blocks.transactions(id).map(({ transaction }) => ({
        ...transaction,
        ...{ value: 0n, internal: [] },
        logs: transaction.logs.filter(({ address }) => address === contract),
      })),
    }));
  }

  /** The newest blocks with logs of a contract that are not settled, the newest first. */
  unread(chainId: number, contract: Hex): readonly (BlockRef & Pick<ParsedBlock, 'transactions'>)[] {
    const { chainOf, unsettled, blocks } = this.#options;
    const ids = new Set<bigint>();
    for (const { id } of unsettled.below(chainOf(chainId).slot, contract, NEWEST)) {
      ids.add(blockOf(id));
      if (ids.size === MAX_UNREAD) break;
    }
    return [...ids].map((id) => ({
      ...blocks.reference(id),
      transactions: blocks.transactions(id).map(({ transaction }) => transaction),
    }));
  }

  /** The next transactions of a revision, the newest first, and whole blocks: a block is announced at once. */
  #take(indexed: IndexedChain, revision: Underway, most: number): Turn {
    const { unsettled, blocks } = this.#options;
    const { contract, isAdding } = revision;
    const { slot, readingsOf } = indexed;
    const readings = this.#options.revisions.readings(indexed);
    const taken: Taken[] = [];
    let [work, mark] = [0, revision.mark];
    for (const { id, isAnnounced } of unsettled.below(slot, contract, mark)) {
      if (work >= most && blockOf(mark) !== blockOf(id)) return { taken, work, mark, isAll: false };
      work += 1;
      mark = id;
      const stored = blocks.transaction(id);
      if (stored === undefined || !concerns(revision, stored.transaction)) continue;
      const { transaction, block } = stored;
      const others = readings(id, transaction);
      const read = (own: Readings) =>
        effectsOf(transaction, (each) => (each === contract ? own : others(each)));
      const [was, is] = [read(oldReadings(revision, id)), isAdding ? read(readingsOf(contract)) : []];
      work += transaction.logs.length + was.length + is.length;
      taken.push({ id, isAnnounced, transaction, block, before: was, none: read(NONE), after: is });
    }
    return { taken, work, mark, isAll: true };
  }

  #takeOut(indexed: IndexedChain, contract: Hex, taken: readonly Taken[]): void {
    const { blocks, ledger, flush } = this.#options;
    const { slot } = indexed;
    for (const { id, transaction, before, none } of taken) {
      const left = partiesOf(transaction, none);
      for (const party of partiesOf(transaction, before)) if (!left.has(party)) blocks.dropParty(party, id);
    }
    flush();
    const readings = this.#options.revisions.readings(indexed);
    const [first, last] = [taken.at(-1)?.block.time ?? 0, taken[0]?.block.time ?? 0];
    ledger.revert(
      slot,
      taken.flatMap(({ before }) => before.filter(isReadAs(contract))),
      (holding, known) => {
        const isCoin = holding.standard === STANDARDS.erc20;
        const isAnother = known !== null && (isCoin ? known < first : known > last);
        return isAnother ? known : receiptOf(blocks, slot, holding, readings, known);
      },
    );
  }

  #add(
    indexed: IndexedChain,
    { contract, isSettled }: Underway,
    taken: readonly Taken[],
    listener: LateListener,
  ): void {
    const { blocks, ledger, approvals, unsettled, flush } = this.#options;
    const { chain, slot } = indexed;
    for (const { id, transaction, block, none, after } of taken) {
      const had = partiesOf(transaction, none);
      for (const party of partiesOf(transaction, after)) if (!had.has(party)) blocks.addParty(party, id);
      ledger.add(slot, 'below', after.filter(isReadAs(contract)), block.time);
      approvals.add(slot, after);
      if (isSettled) unsettled.delete(contract, id);
    }
    flush();
    const told = taken
      .filter((each) => each.isAnnounced && !isDeepStrictEqual(each.before, each.after))
      .toReversed();
    const known = this.#known.get(`${chain.id}/${contract}`);
    const readings = this.#options.revisions.readings(indexed);
    for (const [id, each] of Map.groupBy(told, (one) => blockOf(one.id))) {
      const [first] = each;
      if (first === undefined) continue;
      const { block } = first;
      const balances = known?.get(block.hash);
      const effects = balances === undefined ? null : this.#withBalances(id, readings, balances);
      const transactions = each.map((one) =>
        transactionOf(chain, block, one.transaction, newIn(one.before, effects?.get(one.id) ?? one.after)),
      );
      listener(
        { chain, ...block, transactions },
        each.map((one) => transactionOf(chain, block, one.transaction, one.before)),
      );
    }
  }

  /** The effects of the transactions of a block with what is known of balances at its end. */
  #withBalances(id: bigint, readings: ReadingsIn, known: Balances): ReadonlyMap<bigint, readonly Effect[]> {
    const stored = this.#options.blocks.transactions(id);
    const effects = stored.map((each) => effectsOf(each.transaction, readings(each.id, each.transaction)));
    const told = withBalances(effects, known, () => null);
    return new Map(stored.map((each, at) => [each.id, told[at] ?? []]));
  }
}

/** The announced transactions of one contract whose balances are asked for. */
const MAX_ANNOUNCED = 100;
/** The blocks that are looked through for what a contract can be asked about. */
const MAX_UNREAD = 20;

/** A transaction that is read again, with the effects that it had, those without the logs of the contract, and those that it gets. */
type Taken = {
  readonly id: bigint;
  readonly isAnnounced: boolean;
  readonly transaction: ParsedTransaction;
  readonly block: { readonly number: number; readonly hash: Hex; readonly time: number };
  readonly before: readonly Effect[];
  readonly none: readonly Effect[];
  readonly after: readonly Effect[];
};

type Turn = {
  readonly taken: readonly Taken[];
  readonly work: number;
  /** The id of the last one that was looked at. */
  readonly mark: bigint;
  readonly isAll: boolean;
};

/** Whether an effect is what a contract's logs say by their reading. */
const isReadAs = (contract: Hex) => (effect: Effect) =>
  effect.kind === 'transfer' && effect.token === contract && effect.asset !== 'erc1155';

/** The effects of a transaction, with balances only for those that it did not have before. */
const newIn = (before: readonly Effect[], after: readonly Effect[]): readonly Effect[] => {
  const had = Map.groupBy(before, nameOf);
  return after.map((effect) =>
    effect.kind === 'transfer' && had.get(nameOf(effect))?.pop() !== undefined
      ? { ...effect, balances: null }
      : effect,
  );
};

const nameOf = (effect: Effect): string =>
  effect.kind === 'transfer'
    ? [effect.asset, effect.token, effect.tokenId, effect.from, effect.to, effect.value].join(' ')
    : effect.kind;
