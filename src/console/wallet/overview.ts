import { sumDecimals } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { WalletBalances, WalletOverview, type WalletOverviewQuery } from '../__generated__/operations.ts';
import { symbolOf } from '../activity/activity-model.ts';
import { amountOf } from '../activity/activity-words.ts';
import type { Delivery, FeedItem } from '../api/live-feed.ts';
import { useOperation } from '../api/use-answer.ts';
import { NoPrices } from '../chain-filter.ts';
import { useChainNames, useChains } from '../chains.ts';
import { ShareBar } from '../charts.ts';
import { Empty, html, Placeholder, PricesOfNow, Time, useNow } from '../components.ts';
import { PriceTag } from '../cost/prices.ts';
import { counted, formatChange, formatUsdBriefly, shorten } from '../format.ts';
import { colourOf, TokenLogo } from '../picture.ts';
import { setParams } from '../route.ts';
import { isThin, isUnpriced } from './thin-pools.ts';
import type { PanelProps } from './use-wallet-list.ts';
import { useIsWatched } from './watched.ts';

type Portfolio = NonNullable<NonNullable<WalletOverviewQuery['wallet']>['portfolio']>;

/** What a wallet is worth, what makes up the total, and what the total leaves out. */
export const Overview = ({ address, chainIds }: PanelProps) => {
  const { data, problems, isLoading, retry } = useOperation(WalletOverview, { address, chainIds });
  const portfolio = data?.wallet?.portfolio;
  if (!portfolio)
    return html`<${Placeholder} rows=${4} isLoading=${isLoading} problem=${problems[0]} onRetry=${retry}>
      <${Empty} title="The service has nothing on this wallet">Choose other chains above, or look at another wallet.<//>
    <//>`;
  return html`<${Worth} key=${portfolio.asOf} address=${address} chainIds=${chainIds} portfolio=${portfolio} onRefresh=${retry} />`;
};

type WorthProps = PanelProps & { portfolio: Portfolio; onRefresh: () => void };

const Worth = ({ address, chainIds, portfolio, onRefresh }: WorthProps) => {
  const { live, changed } = useLivePortfolio({ address, chainIds }, portfolio);
  const now = useNow();
  const { totalUsd: total, asOf, isComplete, top, byChain } = live;
  const chains = useChains();
  const nameOf = useChainNames();
  // One token on several chains is one part.
  const tokens = [...Map.groupBy(top, ({ token }) => token?.symbol ?? token?.name ?? 'unknown')].map(
    ([symbol, balances]) => {
      const value = sumDecimals(balances.map(({ valueUsd }) => valueUsd ?? '0'));
      const place =
        balances.length === 1
          ? nameOf(balances[0]?.chainId ?? null)
          : counted(balances.length, 'balance', 'balances');
      return {
        name: html`<${TokenLogo} token=${balances[0]?.token ?? {}} size=${18} /> ${shorten(symbol, 20)} <span class="quiet">${place}</span>`,
        colour: colourOf(symbol),
        share: Number(value),
        text: formatUsdBriefly(value),
      };
    },
  );
  const places = byChain.map(({ chainId, totalUsd, balances }) => ({
    name: html`${nameOf(chainId)} <span class="quiet">${counted(balances, 'token', 'tokens')}</span>`,
    share: Number(totalUsd),
    text: formatUsdBriefly(totalUsd),
  }));
  const hasNoPrice = changed === 0 && isUnpriced(portfolio);
  const read = asOf !== null && html`<${Time} value=${asOf} now=${now} />`;
  return html`<div class="stack overview">
    <div class="stack tight wallet-total">
      ${
        hasNoPrice
          ? html`<${Amounts} address=${address} chainIds=${chainIds} /><p class="quiet"><${NoPrices} /></p>`
          : html`<p class="quiet">Worth</p>
            <p class="total" aria-live="polite" data-total=${total}>${!isComplete && html`<span class="quiet">at least</span> `}${formatUsdBriefly(total)}</p>`
      }
      ${!hasNoPrice && html`<${Changes} changes=${portfolio.change ?? []} older=${changed > 0 && html`of the balances read ${read}, before they moved`} />`}
      <p class="quiet">
        ${changed > 0 ? html`Moved by ${counted(changed, 'balance', 'balances')} since it was read ${read}, network fees aside` : read && html`As of ${read}`},
        without DeFi positions.${' '}
        <button type="button" onClick=${onRefresh}>Refresh <${PriceTag} of=${['balances']} chainIds=${chainIds} /></button>
      </p>
      <${PricesOfNow} chainIds=${byChain.map(({ chainId }) => chainId)} />
      <${LeftOut} portfolio=${portfolio} nameOf=${nameOf} />
    </div>
    ${
      hasNoPrice
        ? null
        : tokens.length === 0
          ? html`<${Empty} title="No balance with a price">${counted(portfolio.unpricedBalances + portfolio.excluded.balances, 'balance of this wallet counts', 'balances of this wallet count')} for nothing here: see the tab Tokens.${chains.length > 1 && ' Other chains may have more: choose them above.'}<//>`
          : html`<div class="shares"><${ShareBar} label="By token" parts=${tokens} /><${ShareBar} label="By chain" parts=${places} /></div>`
    }
  </div>`;
};

const MOST_AMOUNTS = 8;

/** What a wallet holds without any price: the chains' own currencies first. The portfolio has read the same page. */
const Amounts = ({ address, chainIds }: PanelProps) => {
  const asked = { address, first: MOST_BALANCES, chainIds };
  const { data, problems, isLoading, retry } = useOperation(WalletBalances, asked);
  const held = (data?.wallet.balances?.edges ?? [])
    .flatMap((edge) => edge?.node ?? [])
    .toSorted((one, other) => Number(other.token.isNative) - Number(one.token.isNative));
  if (held.length === 0)
    return html`<${Placeholder} rows=${1} isLoading=${isLoading} problem=${problems[0]} onRetry=${retry} />`;
  return html`<p class="quiet">Holds</p>
    ${held.slice(0, MOST_AMOUNTS).map(({ id, amount, token, chainId }, index) => {
      const { shown, exact } = amountOf(amount, token, chainId);
      return html`<p key=${id} class=${index === 0 ? 'total' : ''} title=${exact}>${shown} ${shorten(symbolOf(token, chainId), 20)}</p>`;
    })}
    ${held.length > MOST_AMOUNTS && html`<p class="quiet">and ${held.length - MOST_AMOUNTS} more: see the tab Tokens.</p>`}`;
};

/** The service's largest page. */
const MOST_BALANCES = 1000;

const SPANS: Readonly<Record<number, string>> = { 24: '24 hours', 168: '7 days' };

type ChangesProps = {
  changes: NonNullable<Portfolio['change']>;
  /** Says that they are older than the total beside them. */
  older: ComponentChildren;
};

/** What the amounts of now were worth at earlier prices. */
const Changes = ({ changes, older }: ChangesProps) => {
  // Without a ratio, nothing of it had a price then.
  const known = changes.filter(({ hoursAgo, changeRatio }) => hoursAgo in SPANS && changeRatio !== null);
  if (known.length === 0) return null;
  return html`<ul class="bar changes">
    ${known.map(({ hoursAgo, changeUsd, changeRatio, unpricedBalances }) => {
      const isDown = changeUsd.startsWith('-');
      const hint = `The amounts of now at the prices of ${SPANS[hoursAgo]} ago${unpricedBalances > 0 ? `; ${counted(unpricedBalances, 'balance has', 'balances have')} no price of then and is on neither side` : ''}.`;
      return html`<li key=${hoursAgo} title=${hint}>
        <span class="quiet">${SPANS[hoursAgo]}</span>${' '}
        <span class=${/^-?0(\.0*)?$/.test(changeUsd) ? '' : isDown ? 'bad' : 'good'}>${formatChange(changeRatio ?? '0')} <span class="amount">${isDown ? '−' : '+'}${formatUsdBriefly(changeUsd.replace('-', ''))}</span></span>
      </li>`;
    })}
    ${older && html`<li class="quiet">${older}</li>`}
  </ul>`;
};

type LeftOutProps = { portfolio: Portfolio; nameOf: (chainId: number) => string };

/** What the total leaves out, and why. */
const LeftOut = ({ portfolio, nameOf }: LeftOutProps) => {
  const { unpricedBalances, excluded, unavailableChainIds, isComplete, countedBalances } = portfolio;
  const reasons = [
    excluded.balances > 0 &&
      `${counted(excluded.balances, 'balance', 'balances')} with too little liquidity, which ${excluded.balances === 1 ? 'claims' : 'claim'} to be worth ${formatUsdBriefly(excluded.totalUsd)}: a pool below $10,000 makes no price to rely on`,
    unpricedBalances > 0 &&
      `${counted(unpricedBalances, 'balance', 'balances')} without a price: no market is known`,
    unavailableChainIds.length > 0
      ? `${unavailableChainIds.map(nameOf).join(', ')}: the service could not read them`
      : !isComplete && 'What the service could not read',
  ].filter(Boolean);
  if (reasons.length === 0)
    return html`<p class="quiet">All ${counted(countedBalances, 'balance', 'balances')} are in it.</p>`;
  const sum = excluded.balances + unpricedBalances;
  return html`<details class="left-out">
    <summary title=${reasons.join('. ')}>${sum > 0 ? `${counted(sum, 'balance', 'balances')} left out` : 'Not complete'}: why?</summary>
    <ul>${reasons.map((reason) => html`<li key=${reason}>${reason}.</li>`)}</ul>
    <button type="button" onClick=${() => setParams({ tab: 'tokens', only: 'left', open: '' }, true)}>Show them among the tokens</button>
  </details>`;
};

type Held = Portfolio['top'][number];
type HeldById = ReadonlyMap<string, Held>;

type Change = Extract<Delivery['events'][number], { __typename: 'BalanceChange' }>;

/** A balance as an event leaves it; null where the total does not count it, for its price is not one to rely on. */
const heldAfter = (event: Change, chainId: number, held: HeldById): Held | null => {
  const { balance, assetType, lowLiquidity, poolSizeUsd, valueUsdDelta, tokenSymbol, tokenName } = event;
  const isNative = assetType === 'NATIVE';
  const known = isNative
    ? [...held.values()].find((each) => each.chainId === chainId && each.token?.isNative)
    : held.get(balance?.id ?? '');
  // Of natives most services say only by how much they changed.
  const moved =
    isNative && valueUsdDelta !== null ? sumDecimals([known?.valueUsd ?? '0', valueUsdDelta]) : null;
  const valueUsd = balance?.valueUsd ?? moved;
  if (valueUsd === null || (!known && isThin({ isNative, poolSizeUsd, lowLiquidity }))) return null;
  const token = { isNative, symbol: tokenSymbol, name: tokenName, logo: null };
  return { id: balance?.id ?? `native of ${chainId}`, chainId, token, ...known, valueUsd };
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
const useLivePortfolio = ({ address, chainIds }: PanelProps, portfolio: Portfolio) => {
  const isWatched = useIsWatched(address);
  const [moved, setMoved] = useState<HeldById>(new Map());
  useEffect(() => {
    if (!isWatched) return;
    const held = new Map(portfolio.top.map((each) => [each.id, each]));
    const after = new Map<string, Held>();
    const seen = new Set<string>();
    const take = (item: FeedItem): void => {
      if (item.kind !== 'delivery' || seen.has(item.cursor)) return;
      seen.add(item.cursor);
      const { chainId, events } = item.delivery;
      if (chainId === null || (chainIds.length > 0 && !chainIds.includes(chainId))) return;
      for (const event of events) {
        const next = event.__typename === 'BalanceChange' ? heldAfter(event, chainId, held) : null;
        if (next === null) continue;
        held.set(next.id, next);
        after.set(next.id, next);
      }
      setMoved(new Map(after));
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
  return { live, changed: moved.size };
};
