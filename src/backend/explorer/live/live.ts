import type { Log } from '../../dispatch/log.ts';
import type { Store } from '../../dispatch/store.ts';
import { delivers, type Webhook } from '../../dispatch/webhook.ts';
import { Refused } from '../../http/query.ts';
import type { Finding, Hex } from '../../types.ts';
import type { LiveConfig } from '../config.ts';
import { type Explorer, HOSTED } from '../explorer.ts';
import { ExplorerTransactions } from '../transactions.ts';
import { Budget, creditsPerDay, instanceIntervalMs } from './pace.ts';
import { AddressPoll, readHead } from './poll.ts';
import type { Progress } from './progress.ts';

/** How often it is looked for what is due, in milliseconds. */
const TICK_MS = 500;
/** Polls of explorers with one limit at a time. */
const CONCURRENCY = 3;
/** Addresses of one chain share its newest block for so long. */
const HEAD_MS = 2_000;
const MAX_ADDRESSES = 1_000_000;

/** How a webhook learns of the events of explorers' chains, as its resource says it. */
export type Polling = {
  readonly chain_ids: readonly number[];
  readonly every_seconds: number;
  /** Of each of its addresses, while nothing happens; null where no explorer counts credits. */
  readonly credits_per_day: number | null;
  readonly confirmations: number;
};

/** What is said of the polls of an explorer to its operator. */
export type LiveFigures = {
  /** The addresses that are watched, counted once for each chain. */
  readonly addresses: number;
  readonly everySeconds: number;
  /** Null where it counts no credits. */
  readonly credits: { readonly left: number; readonly resetAt: number } | null;
  /** Those whose last poll failed. */
  readonly failing: number;
  /** How often events of blocks could not be told, since the service was started. */
  readonly gaps: number;
};

/** Hears of what happens at watched addresses on the chains of explorers. */
export type Live = {
  /** Begins to ask, and tells of what it finds. */
  start(tell: (finding: Finding) => void): void;
  /** Null for a webhook that no explorer's chain is for. */
  pollingOf(webhook: Webhook): Polling | null;
  /** By the name of the explorer, as its other figures have it. */
  figuresOf(explorer: string): LiveFigures | null;
  /** Resolves once nothing is asked for, and nothing will be told. */
  stop(): Promise<void>;
};

type Options = {
  readonly explorers: readonly Explorer[];
  readonly config: LiveConfig;
  readonly store: Pick<Store, 'page' | 'addresses'>;
  readonly progress: Progress;
  readonly log: Log;
  /** Default: that of the system. */
  readonly now?: () => number;
};

/** What explorers with one limit of requests are asked for. */
type Account = {
  /** Null where no credits are counted. */
  readonly budget: Budget | null;
  /** As figures call it. */
  readonly name: string;
  readonly watched: Map<string, Watched>;
  running: number;
  gaps: number;
  isEnded: boolean;
};

/** One address on one chain. */
type Wanted = {
  readonly explorer: Explorer;
  readonly address: Hex;
  /** Whether a webhook wants whole transactions. */
  withTransactions: boolean;
};

type Watched = Wanted & {
  readonly account: Account;
  poll: AddressPoll | null;
  dueAt: number;
  isRunning: boolean;
  problem: string | null;
};

export const createLive = (options: Options): Live => {
  const { explorers, config, store, progress, log, now = Date.now } = options;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const accounts = new Map<Explorer, Account>();
  const heads = new Map<Explorer, { readonly at: number; readonly number: Promise<number> }>();
  const transactionsOf = new Map(explorers.map((each) => [each, new ExplorerTransactions(each)]));
  let timer: NodeJS.Timeout | undefined;
  let tell: (finding: Finding) => void = () => {};
  let known = '';

  const byName = new Map<string, Account>();
  for (const explorer of explorers) {
    const isHosted = explorer.account === HOSTED;
    const account = byName.get(explorer.account) ?? {
      name: isHosted ? HOSTED : String(explorer.chain.id),
      budget: isHosted ? new Budget(config, progress, now) : null,
      watched: new Map(),
      ...{ running: 0, gaps: 0, isEnded: false },
    };
    byName.set(explorer.account, account);
    accounts.set(explorer, account);
  }

  const intervalMs = ({ budget, watched }: Account): number =>
    budget?.intervalMs(watched.size) ?? instanceIntervalMs(watched.size);

  const lookupFor = ({ explorer, account: { budget } }: Watched, subject: string) => {
    if (budget !== null && !budget.isEnough)
      throw new Refused(503, 'The credits for watched addresses are used up for today');
    const spend = (credits: number) => budget?.spend(credits);
    return explorer.lookup(subject, { spend }, stopping.signal);
  };

  const headFor = (watched: Watched): Promise<number> => {
    const { explorer } = watched;
    const last = heads.get(explorer);
    if (last !== undefined && now() - last.at < HEAD_MS) return last.number;
    const number = readHead(explorer, lookupFor(watched, 'blocks'));
    heads.set(explorer, { at: now(), number });
    // It is read anew after a failure.
    number.catch(() => heads.delete(explorer));
    return number;
  };

  const pollOf = (watched: Watched): AddressPoll => {
    const { explorer, address, account } = watched;
    return new AddressPoll({
      ...{ explorer, address, progress, log, confirmations: config.confirmations },
      transactions: transactionsOf.get(explorer) ?? new ExplorerTransactions(explorer),
      lookup: () => lookupFor(watched, address),
      head: () => headFor(watched),
      tell: (finding) => tell(finding),
      isWatched: () => account.watched.get(keyOf(explorer.chain.id, address)) === watched,
      onGap: () => {
        account.gaps += 1;
      },
    });
  };

  /** What webhooks want to hear of. */
  const wantedBy = (webhooks: readonly Webhook[]): ReadonlyMap<string, Wanted> => {
    const wanted = new Map<string, Wanted>();
    for (const webhook of webhooks.filter(delivers)) {
      const own = explorers.filter((explorer) => isFor(webhook, explorer));
      const addresses = own.length === 0 ? [] : store.addresses(webhook.id, 0, MAX_ADDRESSES);
      for (const { item: address } of addresses)
        for (const explorer of own) {
          const key = keyOf(explorer.chain.id, address);
          const known = wanted.get(key) ?? { explorer, address, withTransactions: false };
          known.withTransactions ||= webhook.type === 'transactions';
          wanted.set(key, known);
        }
    }
    return wanted;
  };

  /** Reads again which addresses are watched, where webhooks have changed. */
  const refresh = (): void => {
    const webhooks = store.page(0, Number.MAX_SAFE_INTEGER).map(({ item }) => item);
    const state = webhooks.map(({ id, updated_at }) => `${id} ${updated_at}`).join();
    if (state === known) return;
    known = state;
    const wanted = wantedBy(webhooks);
    progress.forgetOthers((chainId, address) => wanted.has(keyOf(chainId, address)));
    for (const { watched } of byName.values())
      for (const key of watched.keys()) if (!wanted.has(key)) watched.delete(key);
    for (const [key, each] of wanted) {
      const account = accounts.get(each.explorer);
      const before = account?.watched.get(key);
      if (before !== undefined) before.withTransactions = each.withTransactions;
      else if (account !== undefined)
        account.watched.set(key, {
          ...each,
          ...{ account, poll: null, dueAt: 0, isRunning: false, problem: null },
        });
    }
  };

  const failed = (watched: Watched, problem: unknown): void => {
    if (stopping.signal.aborted) return;
    const { explorer, address } = watched;
    const message = problem instanceof Error ? problem.message : String(problem);
    if (watched.problem === null)
      log('a watched address could not be asked for', {
        chain: explorer.chain.id,
        address,
        problem: message,
      });
    watched.problem = message;
  };

  const ask = async (watched: Watched): Promise<void> => {
    const { account, explorer, address } = watched;
    const startedAt = now();
    watched.isRunning = true;
    account.running += 1;
    try {
      watched.poll ??= pollOf(watched);
      await watched.poll.run(watched.withTransactions);
      if (watched.problem !== null)
        log('a watched address is asked for again', { chain: explorer.chain.id, address });
      watched.problem = null;
    } catch (problem) {
      failed(watched, problem);
    }
    account.running -= 1;
    watched.isRunning = false;
    watched.dueAt = startedAt + intervalMs(account);
  };

  /** Whether the account may be asked now. Says so once when it may not, and when it may again. */
  const mayAsk = (account: Account): boolean => {
    const { budget } = account;
    const isEnded = budget !== null && !budget.isEnough;
    if (isEnded && !account.isEnded) {
      const until = new Date(budget.resetAt).toISOString();
      log('the credits for watched addresses are used up', { until, problem: 'BLOCKSCOUT_LIVE_CREDITS' });
    }
    if (!isEnded && account.isEnded) log('watched addresses are asked for again', {});
    account.isEnded = isEnded;
    return !isEnded;
  };

  const tick = (): void => {
    refresh();
    for (const account of byName.values()) {
      if (account.watched.size === 0 || !mayAsk(account)) continue;
      const due = [...account.watched.values()]
        .filter(({ isRunning, dueAt }) => !isRunning && dueAt <= now())
        .sort((one, other) => one.dueAt - other.dueAt);
      for (const watched of due.slice(0, CONCURRENCY - account.running)) {
        const asking = ask(watched).finally(() => running.delete(asking));
        running.add(asking);
      }
    }
  };

  return {
    start(listener) {
      tell = listener;
      timer = setInterval(() => {
        try {
          tick();
        } catch (problem) {
          log('watched addresses could not be read', { problem: String(problem) });
        }
      }, TICK_MS);
    },
    pollingOf(webhook) {
      const own = explorers.filter((explorer) => isFor(webhook, explorer));
      if (own.length === 0) return null;
      refresh();
      const paces = own.map((explorer) => {
        const { budget = null, watched } = accounts.get(explorer) ?? { watched: new Map() };
        const ms =
          budget === null
            ? instanceIntervalMs(Math.max(1, watched.size))
            : budget.evenIntervalMs(Math.max(1, watched.size));
        return { ms, credits: budget && creditsPerDay(ms) };
      });
      const credits = paces.flatMap((pace) => pace.credits ?? []);
      return {
        chain_ids: own.map(({ chain }) => chain.id),
        every_seconds: Math.ceil(Math.max(...paces.map(({ ms }) => ms)) / 1000),
        credits_per_day: credits.length === 0 ? null : credits.reduce((sum, each) => sum + each, 0),
        confirmations: config.confirmations,
      };
    },
    figuresOf(explorer) {
      const account = [...byName.values()].find(({ name }) => name === explorer);
      if (account === undefined) return null;
      const { budget, watched, gaps } = account;
      return {
        addresses: watched.size,
        everySeconds: Math.ceil(intervalMs(account) / 1000),
        credits: budget && { left: Math.max(0, budget.left), resetAt: budget.resetAt },
        failing: [...watched.values()].filter(({ problem }) => problem !== null).length,
        gaps,
      };
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all(running);
    },
  };
};

const keyOf = (chainId: number, address: Hex): string => `${chainId} ${address}`;

const isFor = ({ chain_ids: ids }: Webhook, { chain }: Explorer): boolean =>
  ids === null || ids.includes(chain.id);
