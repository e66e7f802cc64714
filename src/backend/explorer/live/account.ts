import type { Log } from '../../dispatch/log.ts';
import { Refused } from '../../http/query.ts';
import type { Hex } from '../../types.ts';
import type { Lookup } from '../client/chain.ts';
import { OPERATIONS } from '../client/operations.ts';
import type { LiveConfig } from '../config.ts';
import { type Explorer, HOSTED } from '../explorer.ts';
import type { OpenExplorer } from '../source.ts';
import { Budget, instanceIntervalMs } from './pace.ts';
import type { Progress } from './progress.ts';

/** Polls of explorers with one limit at a time. */
const CONCURRENCY = 3;
/** Addresses of one chain share its newest block for so long. */
const HEAD_MS = 2_000;

/** One address on one chain. */
export type Watched = {
  readonly chain: WatchedChain;
  readonly address: Hex;
  /** Whether a webhook wants whole transactions. */
  withTransactions: boolean;
  /** Asks for what is new of it. */
  readonly poll: (withTransactions: boolean) => Promise<void>;
  dueAt: number;
  isRunning: boolean;
  /** Why its last poll failed; null when it did not. */
  problem: string | null;
};

/** What is said of the polls of an explorer to its operator. */
export type LiveFigures = {
  /** The addresses that are watched, counted once for each chain. */
  readonly addresses: number;
  readonly everySeconds: number;
  /** Null where it counts no credits. */
  readonly credits: { readonly left: number; readonly resetAt: number } | null;
  /** The addresses whose last poll failed. */
  readonly failing: number;
  /** How often events of blocks could not be told, since the service was started. */
  readonly gaps: number;
};

type AccountOptions = {
  readonly config: LiveConfig;
  readonly progress: Progress;
  readonly log: Log;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** The chains of explorers with one limit of requests, and what is watched on them. */
export class Account {
  /** As figures call it. */
  readonly name: string;
  /** By chain and address. */
  readonly watched = new Map<string, Watched>();
  gaps = 0;
  readonly #budget: Budget | null;
  readonly #options: AccountOptions;
  #running = 0;
  #isEnded = false;

  constructor(first: Explorer, options: AccountOptions) {
    const { config, progress, now } = options;
    const isHosted = first.account === HOSTED;
    this.name = isHosted ? HOSTED : String(first.chain.id);
    this.#budget = isHosted ? new Budget(config, progress, now) : null;
    this.#options = options;
  }

  /** A lookup of a poll. Throws Refused where the credits of the day are used up. */
  lookup(explorer: Explorer, subject: string): Lookup {
    const budget = this.#budget;
    if (budget !== null && !budget.isEnough)
      throw new Refused(503, 'The credits for watched addresses are used up for today');
    return explorer.lookup(subject, { spend: (credits) => budget?.spend(credits) }, this.#options.signal);
  }

  /** Milliseconds between two polls of the same address on a day without events, and whether polls cost credits. */
  get pace(): { readonly everyMs: number; readonly takesCredits: boolean } {
    const addresses = Math.max(1, this.watched.size);
    return {
      everyMs: this.#budget?.evenIntervalMs(addresses) ?? instanceIntervalMs(addresses),
      takesCredits: this.#budget !== null,
    };
  }

  get figures(): LiveFigures {
    const budget = this.#budget;
    return {
      addresses: this.watched.size,
      everySeconds: Math.ceil(this.#intervalMs / 1000),
      credits: budget && { left: Math.max(0, budget.left), resetAt: budget.resetAt },
      failing: [...this.watched.values()].filter(({ problem }) => problem !== null).length,
      gaps: this.gaps,
    };
  }

  /** Begins the polls that are due, those first that have been for the longest time. */
  begin(): readonly Promise<void>[] {
    if (this.watched.size === 0 || !this.#mayAsk()) return [];
    const now = this.#options.now();
    return [...this.watched.values()]
      .filter(({ isRunning, dueAt }) => !isRunning && dueAt <= now)
      .sort((one, other) => one.dueAt - other.dueAt)
      .slice(0, CONCURRENCY - this.#running)
      .map((watched) => this.#ask(watched));
  }

  get #intervalMs(): number {
    return this.#budget?.intervalMs(this.watched.size) ?? instanceIntervalMs(this.watched.size);
  }

  async #ask(watched: Watched): Promise<void> {
    const { log, now, signal } = this.#options;
    const { address, chain } = watched;
    const startedAt = now();
    watched.isRunning = true;
    this.#running += 1;
    const named = { chain: chain.explorer.chain.id, address };
    try {
      await watched.poll(watched.withTransactions);
      if (watched.problem !== null) log('a watched address is asked for again', named);
      watched.problem = null;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (watched.problem === null && !signal.aborted)
        log('a watched address could not be asked for', { ...named, problem });
      watched.problem = problem;
    }
    this.#running -= 1;
    watched.isRunning = false;
    watched.dueAt = startedAt + this.#intervalMs;
  }

  /** Whether credits are left. Says so once when none are, and when there are again. */
  #mayAsk(): boolean {
    const { log } = this.#options;
    const isEnded = this.#budget !== null && !this.#budget.isEnough;
    if (isEnded && !this.#isEnded) {
      const until = new Date(this.#budget.resetAt).toISOString();
      const problem = 'BLOCKSCOUT_LIVE_CREDITS are used up for today';
      log('watched addresses are not asked for', { until, problem });
    }
    if (!isEnded && this.#isEnded) log('watched addresses are asked for again', {});
    this.#isEnded = isEnded;
    return !isEnded;
  }
}

/** A chain of an explorer, as the polls of its addresses share it. */
export class WatchedChain {
  readonly explorer: Explorer;
  readonly lists: Pick<OpenExplorer, 'ofWallets' | 'transactions'>;
  readonly account: Account;
  readonly #now: () => number;
  #head: { readonly at: number; readonly number: Promise<number> } | null = null;

  constructor({ explorer, ...lists }: OpenExplorer, account: Account, now: () => number) {
    this.explorer = explorer;
    this.lists = lists;
    this.account = account;
    this.#now = now;
  }

  /** The number of the newest block, which may be of a moment ago. */
  head(): Promise<number> {
    const at = this.#now();
    if (this.#head !== null && at - this.#head.at < HEAD_MS) return this.#head.number;
    const number = readHead(this.explorer, this.account.lookup(this.explorer, 'blocks'));
    this.#head = { at, number };
    number.catch(() => {
      this.#head = null;
    });
    return number;
  }
}

/** The number of the newest block that an explorer lists. */
const readHead = async (explorer: Explorer, lookup: Lookup): Promise<number> => {
  const { items } = await explorer.page(OPERATIONS.blocks, {}, null, lookup, 1);
  const [newest] = items;
  if (newest === undefined)
    throw new Refused(503, `The explorer of chain ${explorer.chain.id} lists no block`);
  return newest.height;
};
