import { sumDecimals } from 'evm-graphql-gateway/client';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { WalletOverviewQuery } from '../__generated__/operations.ts';
import type { Delivery, FeedItem } from '../api/live-feed.ts';
import type { PanelProps } from './list.ts';
import { isThin } from './thin-pools.ts';
import { useIsWatched } from './watched.ts';

export type Portfolio = NonNullable<WalletOverviewQuery['wallet']['portfolio']>;
export type Held = Portfolio['top'][number];
/** What balances amount to, also those without a price. */
export type Told = ReadonlyMap<string, Pick<Held, 'id' | 'chainId' | 'token'> & { readonly amount: string }>;
type HeldById = ReadonlyMap<string, Held>;

type Change = Extract<Delivery['events'][number], { __typename: 'BalanceChange' }>;

const tokenIn = (event: Change, id: string, chainId: number): Held['token'] => {
  const { tokenAddress: address, tokenSymbol: symbol, tokenName: name, tokenDecimals: decimals } = event;
  const isNative = event.assetType === 'NATIVE';
  return { id, chainId, address, isNative, symbol, name, decimals, logo: null };
};

const toldBy = (event: Change, chainId: number): Told => {
  const { id, amount } = event.balance ?? {};
  return new Map(id && amount ? [[id, { id, amount, chainId, token: tokenIn(event, id, chainId) }]] : []);
};

/** The wallet's own: those of another watched one concern it too, where it was the counterparty. */
const changesOf = (events: Delivery['events'], own: string): readonly Change[] =>
  events.filter((each) => each.__typename === 'BalanceChange').filter((e) => e.subscribedAddress === own);

/** A balance as an event leaves it; null where the total does not count it, for its price is not one to rely on. */
const heldAfter = (event: Change, chainId: number, held: HeldById): Held | null => {
  const { balance, assetType, lowLiquidity, poolSizeUsd, valueUsdDelta } = event;
  const isNative = assetType === 'NATIVE';
  const known = isNative
    ? [...held.values()].find((each) => each.chainId === chainId && each.token.isNative)
    : held.get(balance?.id ?? '');
  // Of natives most services say only by how much they changed.
  const moved =
    isNative && valueUsdDelta !== null ? sumDecimals([known?.valueUsd ?? '0', valueUsdDelta]) : null;
  const valueUsd = balance?.valueUsd ?? moved;
  if (valueUsd === null || (!known && isThin({ isNative, poolSizeUsd, lowLiquidity }))) return null;
  const id = balance?.id ?? `native of ${chainId}`;
  return { id, chainId, token: tokenIn(event, id, chainId), priceHistory: [], ...known, valueUsd };
};

/** The portfolio with the values that balances have now: its total, its chains and its tokens. */
const withMoved = (portfolio: Portfolio, moved: HeldById): Portfolio => {
  if (moved.size === 0) return portfolio;
  const before = new Map(portfolio.top.map((held) => [held.id, held]));
  const deltaOf = ({ id, valueUsd }: Held) => [valueUsd ?? '0', `-${before.get(id)?.valueUsd ?? '0'}`];
  const byChain = Map.groupBy(moved.values(), ({ chainId }) => chainId);
  const chains = new Map(portfolio.byChain.map((part) => [part.chainId, part]));
  for (const [chainId, own] of byChain) {
    const { totalUsd = '0', balances = 0 } = chains.get(chainId) ?? {};
    chains.set(chainId, {
      chainId,
      totalUsd: sumDecimals([totalUsd, ...own.flatMap(deltaOf)]),
      balances: balances + own.filter(({ id }) => !before.has(id)).length,
    });
  }
  return {
    ...portfolio,
    totalUsd: sumDecimals([portfolio.totalUsd, ...[...moved.values()].flatMap(deltaOf)]),
    byChain: [...chains.values()],
    top: [...new Map([...before, ...moved]).values()],
  };
};

/** The portfolio, moved by the balances that come with the events of a watched wallet, without a request. */
export const useLivePortfolio = ({ address, chainIds }: PanelProps, portfolio: Portfolio) => {
  const isWatched = useIsWatched(address);
  const [moved, setMoved] = useState<HeldById>(new Map());
  const [amounts, setAmounts] = useState<Told>(new Map());
  useEffect(() => {
    if (!isWatched) return;
    const held = new Map(portfolio.top.map((each) => [each.id, each]));
    const after = new Map<string, Held>();
    let told: Told = new Map();
    const seen = new Set<string>();
    const take = (item: FeedItem): void => {
      if (item.kind !== 'delivery' || seen.has(item.cursor)) return;
      seen.add(item.cursor);
      const { chainId, events } = item.delivery;
      if (chainId === null || (chainIds.length > 0 && !chainIds.includes(chainId))) return;
      for (const event of changesOf(events, address)) {
        told = new Map([...told, ...toldBy(event, chainId)]);
        const next = heldAfter(event, chainId, held);
        if (next === null) continue;
        held.set(next.id, next);
        after.set(next.id, next);
      }
      setMoved(new Map(after));
      setAmounts(told);
    };
    const isLater = (item: FeedItem): boolean =>
      item.kind === 'delivery' && portfolio.asOf !== null && item.delivery.receivedAt > portfolio.asOf;
    let close: (() => void) | null = () => {};
    // The first number does not wait for what follows events.
    void import('../api/live-feed.ts').then(({ followDeliveries }) => {
      if (close === null) return;
      const asked = { filter: { address, types: ['BALANCES' as const] }, address };
      // What came since the balances were read, and before the first event, is stored.
      const stored = (items: readonly FeedItem[]) => items.filter(isLater).forEach(take);
      ({ close } = followDeliveries(asked, { stored, connection() {}, arrived: take }));
    });
    return () => {
      close?.();
      close = null;
    };
  }, [address, isWatched, chainIds, portfolio]);
  const live = useMemo(() => withMoved(portfolio, moved), [portfolio, moved]);
  return { live, changed: moved.size, amounts };
};
