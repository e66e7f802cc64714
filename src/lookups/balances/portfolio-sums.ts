import type { BigNumber } from 'bignumber.js';
import { slicesOf } from '../../graph/pagination/walk.ts';
import { Decimal } from '../../lib/decimal.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import { type Page, type PartialErrors, partialErrorsOf } from '../../upstream/page.ts';
import { MalformedFieldError } from '../../upstream/parse/fields.ts';
import { troublesIn } from './balance-reader.ts';
import { hasPoolOf, type ListedBalance } from './balances-rest.ts';

/** A page costs as much as the first, so a wallet of endless dust is summed in part. */
export const MAX_PAGES = 5;

export type PortfolioPartRecord = {
  /** Null for all chains. */
  readonly chainId: number | null;
  readonly balances: number;
  readonly totalUsd: string;
  /** Of the total; null where it is zero, and for what is not in it. */
  readonly share: string | null;
};

export type PortfolioChangeRecord = {
  readonly hoursAgo: number;
  readonly totalUsd: string;
  readonly changeUsd: string;
  readonly changeRatio: string | null;
  readonly unpricedBalances: number;
};

export type PortfolioRecord = {
  readonly totalUsd: string;
  readonly countedBalances: number;
  readonly excluded: PortfolioPartRecord;
  readonly unpricedBalances: number;
  readonly byChain: readonly PortfolioPartRecord[];
  readonly top: (first: number) => readonly ListedBalance[];
  readonly change: readonly PortfolioChangeRecord[] | null;
  readonly isComplete: boolean;
  readonly unavailableChainIds: readonly number[];
  readonly partialErrors: PartialErrors | null;
  readonly asOf: string | null;
};

/** Other work runs between slices of this length. */
const SLICE_MS = 5;

/**
 * Sums the balances of a list, of its first MAX_PAGES pages. Rejects with the UpstreamError of the first page; a later page
 * that can't be read leaves the portfolio incomplete.
 */
export const readPortfolio = async (
  read: ReadPage<ListedBalance>,
  minPoolSizeUsd: string | null,
  hoursAgo: readonly number[] | null,
): Promise<PortfolioRecord> => {
  const sums = new PortfolioSums(minPoolSizeUsd, hoursAgo);
  const pages: Page<ListedBalance>[] = [];
  const slices = createTimeSlices(SLICE_MS);
  try {
    const walk = await slicesOf(read, Number.POSITIVE_INFINITY, null);
    for (let slice = await walk?.next(); slice; slice = await walk?.next()) {
      const { page, runs } = slice;
      pages.push(page);
      for (const { visit, from, to } of runs)
        for (let index = from; index < to; index += 1) {
          if (slices.isOver()) await slices.next();
          sums.add(visit.page.items.value(index));
        }
      if (pages.length === MAX_PAGES) break;
    }
  } catch (error) {
    if (pages.length === 0 || !(error instanceof UpstreamError)) throw error;
  }
  return sums.result(pages);
};

/** What is summed of some balances. */
class Part {
  balances = 0;
  totalUsd = new Decimal(0);

  add(valueUsd: string): void {
    this.balances += 1;
    this.totalUsd = this.totalUsd.plus(valueUsd);
  }
}

/** What balances were worth at an earlier hour, and what the same ones are worth now. */
class Change {
  now = new Decimal(0);
  before = new Decimal(0);
  unpriced = 0;

  add({ amount, decimals, valueUsd }: ListedBalance, priceUsd: string | null): void {
    if (priceUsd === null || decimals === null || valueUsd === null) {
      this.unpriced += 1;
      return;
    }
    this.now = this.now.plus(valueUsd);
    this.before = this.before.plus(new Decimal(amount).times(priceUsd).shiftedBy(-decimals));
  }
}

type Counted = { readonly balance: ListedBalance; readonly value: BigNumber };

class PortfolioSums {
  readonly #hasPool: (balance: ListedBalance) => boolean;
  readonly #hoursAgo: readonly number[] | null;
  readonly #counted = new Part();
  readonly #excluded = new Part();
  readonly #byChain = new Map<number, Part>();
  readonly #changes: readonly { readonly hours: number; readonly change: Change }[];
  readonly #balances: Counted[] = [];
  #unpriced = 0;
  #malformed = 0;

  constructor(minPoolSizeUsd: string | null, hoursAgo: readonly number[] | null) {
    this.#hasPool = minPoolSizeUsd === null ? () => true : hasPoolOf(minPoolSizeUsd);
    this.#hoursAgo = hoursAgo;
    this.#changes = (hoursAgo ?? []).map((hours) => ({ hours, change: new Change() }));
  }

  add(balance: ListedBalance | MalformedFieldError): void {
    if (balance instanceof MalformedFieldError) {
      this.#malformed += 1;
      return;
    }
    const { valueUsd } = balance;
    if (valueUsd === null) {
      this.#unpriced += 1;
      return;
    }
    if (this.#hasPool(balance)) this.#count(balance, valueUsd);
    else this.#excluded.add(valueUsd);
  }

  #count(balance: ListedBalance, valueUsd: string): void {
    const { chainId, priceHistory } = balance;
    const ofChain = this.#byChain.get(chainId) ?? new Part();
    this.#byChain.set(chainId, ofChain);
    ofChain.add(valueUsd);
    this.#counted.add(valueUsd);
    this.#balances.push({ balance, value: new Decimal(valueUsd) });
    for (const { hours, change } of this.#changes)
      change.add(balance, priceHistory?.find(({ hoursAgo }) => hoursAgo === hours)?.priceUsd ?? null);
  }

  result(pages: readonly Page<ListedBalance>[]): PortfolioRecord {
    const total = this.#counted.totalUsd;
    const troubles = pages.map(({ partialErrors }) => troublesIn(partialErrors));
    const unavailable = new Set(troubles.flatMap(({ chainIds }) => [...chainIds]));
    const isWhole = pages.at(-1)?.nextOffset === null && this.#malformed === 0;
    const times = pages.flatMap(({ requestTime }) => requestTime ?? []);
    let sorted: readonly Counted[] | null = null;
    return {
      totalUsd: total.toFixed(),
      countedBalances: this.#counted.balances,
      excluded: {
        chainId: null,
        balances: this.#excluded.balances,
        totalUsd: this.#excluded.totalUsd.toFixed(),
        share: null,
      },
      unpricedBalances: this.#unpriced,
      byChain: [...this.#byChain]
        .toSorted(
          ([chainId, part], [otherId, other]) => compare(other.totalUsd, part.totalUsd) || chainId - otherId,
        )
        .map(([chainId, { balances, totalUsd }]) => ({
          chainId,
          balances,
          totalUsd: totalUsd.toFixed(),
          share: total.isZero() ? null : totalUsd.div(total).toFixed(),
        })),
      top: (first) => {
        sorted ??= this.#balances.toSorted(byValue);
        return sorted.slice(0, first).map(({ balance }) => balance);
      },
      change: this.#hoursAgo && this.#changes.map(({ hours, change }) => shownChange(hours, change)),
      isComplete:
        isWhole && unavailable.size === 0 && troubles.every(({ isOfUnknownChain }) => !isOfUnknownChain),
      unavailableChainIds: [...unavailable].toSorted((one, other) => one - other),
      partialErrors: partialErrorsOf(pages),
      asOf: times.toSorted()[0] ?? null,
    };
  }
}

const compare = (one: BigNumber, other: BigNumber): number => one.comparedTo(other) ?? 0;

/** Balances of equal value are in the order of their chains and tokens, so that the order depends on the balances alone. */
const byValue = (one: Counted, other: Counted): number =>
  compare(other.value, one.value) ||
  one.balance.chainId - other.balance.chainId ||
  ((one.balance.address ?? '') < (other.balance.address ?? '') ? -1 : 1);

const shownChange = (hoursAgo: number, { now, before, unpriced }: Change): PortfolioChangeRecord => ({
  hoursAgo,
  totalUsd: before.toFixed(),
  changeUsd: now.minus(before).toFixed(),
  changeRatio: before.isZero() ? null : now.minus(before).div(before).toFixed(),
  unpricedBalances: unpriced,
});
