import { setTimeout as wait, setImmediate as yieldToEvents } from 'node:timers/promises';
import { askNear, CONTROL } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import { backoffMs } from '../../node/rpc.ts';
import type { Hex } from '../../types.ts';
import type { Balances } from '../blocks/balances.ts';
import type { ParsedBlock } from '../blocks/parse.ts';
import { FORMS, type Readings } from '../blocks/readings.ts';
import type { Revision } from '../database/revisions.ts';
import { questionsTo } from './answers.ts';
import type { Row } from './contract-table.ts';
import type { KnownContracts, Seen } from './known-contracts.ts';
import {
  type Asked,
  answerIn,
  isAnswered,
  isFulfilled,
  outcomeOf,
  readingsAfter,
  saidIn,
} from './outcome.ts';
import { formsIn, NO_SAMPLE, type Sample, sampleOf } from './seen.ts';
import { judge, openOf, openQuestions } from './verdict.ts';

/** The balances at the ends of blocks, by their hashes. */
type BalancesAt = ReadonlyMap<Hex, Balances>;

const NOTHING: BalancesAt = new Map();

type MetadataOptions = {
  readonly contracts: KnownContracts;
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'calls' | 'balances' | 'find'>>;
  /** Is told when a node begins to fail when it is asked for contracts, and with null when it answers again. */
  readonly report?: (chainId: number, problem: unknown) => void;
  /** Asks for what must be known before the logs of a contract are read in another way. */
  readonly prepare?: (chainId: number, contract: Hex, after: Readings) => Promise<BalancesAt>;
  /** What a contract is asked about, of its logs that are not settled; null where none of these is in the index any more. */
  readonly sample?: (chainId: number, contract: Hex, row: Row) => Sample | null;
  /** Called when the logs of a contract are read in another way than before, or that is settled, in the transaction that stores it. */
  readonly revise?: (chainId: number, contract: Hex, revision: Revision, known: BalancesAt) => void;
  /** Goes on with what `revise` has left, for a turn. Returns the contracts of which something is left: they are not asked. */
  readonly goOn?: (chainId: number) => readonly Hex[];
  /** Is told when contracts of blocks that are in the index already have said something. */
  readonly onAnswer?: (chainId: number) => void;
  /** Milliseconds that a new block waits for what its new tokens say. Default: 500. */
  readonly patienceMs?: number;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
};

/** Between two looks for contracts that are to be asked again. */
const ROUND_MS = 30_000;
/** Contracts that are asked together, each for three things. */
const BATCH = 16;
/** A contract that takes the node long holds up only its own batch. */
const BATCHES_AT_ONCE = 4;
/** The longest pause after a failure of the node, or of the disk. */
const MAX_FAILURE_PAUSE_MS = 10_000;

/**
 * What tokens are called and how they count, which their contracts are asked once, soon after they are first seen. They may
 * answer anything, or nothing: then they are asked again only later. One that the node fails to ask is asked again soon.
 */
export class Metadata {
  readonly #options: Required<MetadataOptions>;
  readonly #stopping = new AbortController();
  /** Ends the pause between two rounds of a chain. */
  readonly #wake = new Map<number, () => void>();
  /** Waiters, which check whether their contracts were asked. */
  readonly #waiting = new Set<() => void>();
  /** The newest block of each chain that contracts were seen in. They are asked at it: a node may be behind it. */
  readonly #newest = new Map<number, number>();
  /** How often each failing node has failed. */
  readonly #failing = new Map<number, number>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: MetadataOptions) {
    this.#options = {
      ...{ patienceMs: 500, now: Date.now, report: () => {}, revise: () => {}, onAnswer: () => {} },
      ...{
        prepare: async () => NOTHING,
        goOn: () => [],
        sample: (_chainId, _contract, { sample }) => sample,
      },
      ...options,
    };
  }

  /** Asks contracts in the background, those that were left by the last run first. */
  start(): void {
    this.#running = Promise.all([...this.#options.nodes.keys()].map((chainId) => this.#askAll(chainId)));
  }

  /** Resolves when no call of a contract is under way. Close the nodes first, or it waits for their answers. */
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
    this.#newest.set(chainId, Math.max(number, this.#newest.get(chainId) ?? 0));
    const unknown: Seen[] = [];
    const earlier: Hex[] = [];
    for (const [address, forms] of formsIn(block)) {
      const known = this.#options.contracts.row(chainId, address);
      // What older blocks have is found in the index when a contract is asked.
      if (known === null || (forms & ~known.forms) !== 0 || (isNew && (forms & ~known.settled) !== 0))
        unknown.push({ address, forms, sample: sampleOf([block], address) });
      else if (known.block > number) earlier.push(address);
    }
    if (earlier.length > 0) this.#options.contracts.seenEarlier(chainId, earlier, number);
    if (unknown.length === 0) return;
    this.#add(chainId, unknown, number);
    if (isNew)
      await this.#untilAsked(
        chainId,
        unknown.map(({ address }) => address),
      );
  }

  /**
   * Remembers a contract that answers as an ERC-20 does, though no log of it was seen up to this block, or none but those that may
   * mean nothing. Resolves when it was asked what it is called, but soon in any case.
   */
  async meet(chainId: number, address: Hex, block: number): Promise<void> {
    const known = this.#options.contracts.row(chainId, address);
    if (known !== null && (known.decimals === null || (known.forms & ~FORMS.wrapping) !== 0)) return;
    this.#add(chainId, [{ address, forms: FORMS.asked, sample: { ...NO_SAMPLE, block } }], block);
    await this.#untilAsked(chainId, [address]);
  }

  #add(chainId: number, seen: readonly Seen[], block: number): void {
    this.#options.contracts.add(chainId, seen, block, this.#options.now());
    this.#wake.get(chainId)?.();
  }

  /** Forgets the blocks of a chain from this number on, with the contracts that were first seen in them. */
  forget(chainId: number, fromBlock: number): void {
    this.#options.contracts.forget(chainId, fromBlock, this.#options.now());
    if ((this.#newest.get(chainId) ?? 0) >= fromBlock) this.#newest.delete(chainId);
  }

  /** Asks the contracts of a chain that are due. */
  async #askAll(chainId: number): Promise<void> {
    const batches = new Set<Promise<void>>();
    const asking = new Set<Hex>();
    const begin = (batch: readonly Hex[]): void => {
      for (const address of batch) asking.add(address);
      const asked = this.#askSeveral(chainId, batch).finally(() => {
        batches.delete(asked);
        for (const address of batch) asking.delete(address);
        this.#wake.get(chainId)?.();
      });
      batches.add(asked);
    };
    while (!this.#stopping.signal.aborted) {
      try {
        const revising = this.#options.goOn(chainId);
        const batch = batches.size < BATCHES_AT_ONCE ? this.#due(chainId, [...asking, ...revising]) : [];
        if (batch.length > 0) begin(batch);
        if (revising.length > 0) await yieldToEvents();
        else if (batch.length === 0) await this.#pause(chainId, this.#untilDue(chainId));
      } catch {
        // The disk's problem, which the follower of the chain reports.
        await this.#pause(chainId, MAX_FAILURE_PAUSE_MS);
      }
    }
    await Promise.all(batches);
  }

  #due(chainId: number, except: readonly Hex[]): readonly Hex[] {
    return this.#options.contracts.due(chainId, this.#options.now(), new Set(except), BATCH);
  }

  /** Milliseconds until a contract is due that is not yet. */
  #untilDue(chainId: number): number {
    const now = this.#options.now();
    const next = this.#options.contracts.nextDue(chainId, now);
    return next === null ? ROUND_MS : Math.min(ROUND_MS, next - now);
  }

  /** Asks contracts, and pauses when the node fails, or the disk. */
  async #askSeveral(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#ask(chainId, addresses);
      if (this.#failing.delete(chainId)) this.#options.report(chainId, null);
    } catch (problem) {
      if (signal.aborted) return;
      const failures = (this.#failing.get(chainId) ?? 0) + 1;
      this.#failing.set(chainId, failures);
      if (failures === 1) this.#options.report(chainId, problem);
      const pauseMs = backoffMs(failures, MAX_FAILURE_PAUSE_MS);
      await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Rejects when the node fails, with what it said of some contracts kept. */
  async #ask(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const { contracts, prepare, sample } = this.#options;
    const node = this.#options.nodes.get(chainId);
    if (node === undefined) return;
    const block = this.#newest.get(chainId);
    const asked = addresses.flatMap((address) => {
      const found = contracts.row(chainId, address);
      if (found === null) return [];
      const open = openOf(found);
      const about = open === 0 ? NO_SAMPLE : sample(chainId, address, found);
      if (about === null) {
        contracts.unsee(chainId, address);
        return [];
      }
      const row = { ...found, sample: about };
      return {
        address,
        row,
        open,
        calls: [...questionsTo(address), ...openQuestions(address, open, row.sample)],
      };
    });
    const answers = await Promise.allSettled(
      askNear(
        node,
        asked.flatMap(({ calls }) => calls),
        block,
      ),
    );
    const all = await Promise.all(
      asked.map(async ({ address, row, open, calls }) => {
        const outcomes = answers.splice(0, calls.length);
        const said = saidIn(outcomes, row);
        const more = outcomes.slice(questionsTo(address).length).map(answerIn);
        const judged = { ...row, node, address, open, said, known: row, answers: more };
        const verdict = outcomes.every(isFulfilled) ? await judge(judged).catch(() => null) : null;
        const read = { ...row, ...readingsAfter(row, open, verdict) };
        const isRevised = read.coin !== row.coin || read.nft !== row.nft;
        const known = isRevised ? await prepare(chainId, address, read) : NOTHING;
        return { address, open, outcomes, verdict, known };
      }),
    );
    const isUnanswered = !all.every(isAnswered);
    const control = isUnanswered ? await Promise.allSettled(askNear(node, [CONTROL], block)) : [];
    const problem = control.find((outcome) => outcome.status === 'rejected');
    contracts.change(chainId, addresses, () => {
      for (const each of all) this.#keep(chainId, each, problem === undefined);
    });
    for (const waiting of this.#waiting) waiting();
    this.#options.onAnswer(chainId);
    if (problem !== undefined) throw problem.reason;
  }

  /** `isNodeWell` says that the node answers, whatever the contract does. */
  #keep(chainId: number, asked: Asked & { readonly known: BalancesAt }, isNodeWell: boolean): void {
    const { contracts, now, revise } = this.#options;
    const row = contracts.row(chainId, asked.address);
    // Its block may be gone.
    const outcome = row === null ? null : outcomeOf(row, asked, isNodeWell, now());
    if (row === null || outcome === null) return;
    const { row: after, isVerdict } = outcome;
    contracts.keep(chainId, asked.address, after);
    if (!isVerdict) return;
    const isSettled = (row.forms & ~after.settled) === 0;
    revise(chainId, asked.address, { before: row, after, isSettled }, asked.known);
  }

  /** Resolves when the contracts were asked, or the patience is at its end. */
  async #untilAsked(chainId: number, addresses: readonly Hex[]): Promise<void> {
    const done = Promise.withResolvers<void>();
    const timer = setTimeout(done.resolve, this.#options.patienceMs);
    const look = () => {
      const now = this.#options.now();
      const isDue = (address: Hex) => this.#options.contracts.isDue(chainId, address, now);
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
