import type { Log } from '../../dispatch/log.ts';
import type { Store } from '../../dispatch/store.ts';
import { delivers, type Webhook } from '../../dispatch/webhook.ts';
import type { Finding, Hex } from '../../types.ts';
import type { LiveConfig } from '../config.ts';
import type { OpenExplorer } from '../source.ts';
import { Account, type LiveFigures, WatchedChain } from './account.ts';
import { creditsPerDay } from './pace.ts';
import { AddressPoll } from './poll.ts';
import type { Progress } from './progress.ts';

/** How often it is looked for what is due, in milliseconds. */
const TICK_MS = 500;
const MAX_ADDRESSES = 1_000_000;

/** How a webhook learns of the events of explorers' chains, as its resource says it. */
type Polling = {
  readonly chain_ids: readonly number[];
  readonly every_seconds: number;
  /** Of each of its addresses, while nothing happens; null where no explorer counts credits. */
  readonly credits_per_day: number | null;
  readonly confirmations: number;
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
  readonly explorers: readonly OpenExplorer[];
  readonly config: LiveConfig;
  readonly store: Pick<Store, 'page' | 'addresses'>;
  readonly progress: Progress;
  readonly log: Log;
  /** Default: that of the system. */
  readonly now?: () => number;
};

/** What webhooks want to hear of. */
type Wanted = { readonly chain: WatchedChain; readonly address: Hex; withTransactions: boolean };

export const createLive = ({ explorers, config, store, progress, log, now = Date.now }: Options): Live => {
  const stopping = new AbortController();
  const accounts = new Map<string, Account>();
  const chains = explorers.map((opened) => {
    const { explorer } = opened;
    const known = accounts.get(explorer.account);
    const account = known ?? new Account(explorer, { config, progress, log, now, signal: stopping.signal });
    accounts.set(explorer.account, account);
    return new WatchedChain(opened, account, now);
  });
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let tell: (finding: Finding) => void = () => {};
  /** The state of the webhooks that what is watched was read from. */
  let known = '';

  const chainsOf = ({ chain_ids: ids }: Webhook): readonly WatchedChain[] =>
    chains.filter(({ explorer }) => ids === null || ids.includes(explorer.chain.id));

  const wantedBy = (webhooks: readonly Webhook[]): ReadonlyMap<string, Wanted> => {
    const wanted = new Map<string, Wanted>();
    for (const webhook of webhooks.filter(delivers)) {
      const own = chainsOf(webhook);
      const addresses = own.length === 0 ? [] : store.addresses(webhook.id, 0, MAX_ADDRESSES);
      for (const { item: address } of addresses)
        for (const chain of own) {
          const key = keyOf(chain.explorer.chain.id, address);
          const each = wanted.get(key) ?? { chain, address, withTransactions: false };
          each.withTransactions ||= webhook.type === 'transactions';
          wanted.set(key, each);
        }
    }
    return wanted;
  };

  const watch = (key: string, { chain, ...wanted }: Wanted): void => {
    const { account } = chain;
    const poll = new AddressPoll({
      ...{ chain, progress, log, address: wanted.address, confirmations: config.confirmations },
      tell: (finding) => tell(finding),
      isWatched: () => account.watched.get(key) === watched,
    });
    const watched = {
      ...{ ...wanted, chain, dueAt: 0, isRunning: false, problem: null },
      poll: (withTransactions: boolean) => poll.run(withTransactions),
    };
    account.watched.set(key, watched);
  };

  /** Reads again which addresses are watched, where webhooks have changed. */
  const refresh = (): void => {
    const webhooks = store.page(0, Number.MAX_SAFE_INTEGER).map(({ item }) => item);
    const state = webhooks.map(({ id, updated_at }) => `${id} ${updated_at}`).join();
    if (state === known) return;
    const wanted = wantedBy(webhooks);
    progress.forgetOthers((chainId, address) => wanted.has(keyOf(chainId, address)));
    for (const { watched } of accounts.values())
      for (const key of watched.keys()) if (!wanted.has(key)) watched.delete(key);
    for (const [key, each] of wanted) {
      const before = each.chain.account.watched.get(key);
      if (before === undefined) watch(key, each);
      else before.withTransactions = each.withTransactions;
    }
    known = state;
  };

  const tick = (): void => {
    try {
      refresh();
      for (const account of accounts.values())
        for (const asking of account.begin()) {
          running.add(asking);
          void asking.finally(() => running.delete(asking));
        }
    } catch (problem) {
      log('watched addresses could not be read', { problem: String(problem) });
    }
  };

  return {
    start(listener) {
      tell = listener;
      timer = setInterval(tick, TICK_MS);
    },
    pollingOf(webhook) {
      const own = chainsOf(webhook);
      if (own.length === 0) return null;
      refresh();
      const paces = own.map(({ account }) => account.pace);
      const credits = paces.flatMap(({ everyMs, takesCredits }) =>
        takesCredits ? [creditsPerDay(everyMs)] : [],
      );
      return {
        chain_ids: own.map(({ explorer }) => explorer.chain.id),
        every_seconds: Math.ceil(Math.max(...paces.map(({ everyMs }) => everyMs)) / 1000),
        credits_per_day: credits.length === 0 ? null : credits.reduce((sum, each) => sum + each, 0),
        confirmations: config.confirmations,
      };
    },
    figuresOf: (explorer) => [...accounts.values()].find(({ name }) => name === explorer)?.figures ?? null,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all(running);
    },
  };
};

const keyOf = (chainId: number, address: Hex): string => `${chainId} ${address}`;
