import { sumDecimals } from 'evm-graphql-gateway/client';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { WalletOverview, type WalletOverviewQuery } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { type Delivery, followDeliveries } from '../api/live-feed.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useChainNames, useChains } from '../chain-filter.ts';
import { ShareBar } from '../charts.ts';
import { Empty, html, Placeholder, PricesOfNow, Time, useNow } from '../components.ts';
import { PriceTag } from '../cost/prices.ts';
import { counted, formatChange, formatUsdBriefly, shorten } from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { setParams } from '../route.ts';
import { isThin, isUnpriced } from './thin-pools.ts';
import type { PanelProps } from './use-wallet-list.ts';
import { useIsWatched } from './watched.ts';

type Portfolio = NonNullable<NonNullable<WalletOverviewQuery['wallet']>['portfolio']>;

/** What a wallet is worth, what makes up the total, and what the total leaves out. */
export const Overview = ({ address, chainIds }: PanelProps) => {
  const load = useCallback(
    (signal: AbortSignal) =>
      send(WalletOverview, { address, chainIds: chainIds.length > 0 ? chainIds : null }, signal),
    [address, chainIds],
  );
  const { data, problems, isLoading, retry } = useAnswer(load);
  const portfolio = data?.wallet?.portfolio;
  if (!portfolio)
    return html`<${Placeholder} rows=${4} isLoading=${isLoading} problem=${problems[0]} onRetry=${retry}>
      <${Empty} title="The service has nothing on this wallet">Choose other chains above, or look at another wallet.<//>
    <//>`;
  return html`<${Worth} key=${portfolio.asOf} address=${address} chainIds=${chainIds} portfolio=${portfolio} onRefresh=${retry} />`;
};

type WorthProps = PanelProps & { portfolio: Portfolio; onRefresh: () => void };

const Worth = ({ address, chainIds, portfolio, onRefresh }: WorthProps) => {
  const live = useLiveTotal({ address, chainIds }, portfolio);
  const now = useNow();
  const { asOf, isComplete, top } = portfolio;
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
        share: Number(value),
        text: formatUsdBriefly(value),
      };
    },
  );
  const places = portfolio.byChain.map(({ chainId, totalUsd, balances }) => ({
    name: html`${nameOf(chainId)} <span class="quiet">${counted(balances, 'token', 'tokens')}</span>`,
    share: Number(totalUsd),
    text: formatUsdBriefly(totalUsd),
  }));
  const hasNoPrice = live.changed === 0 && isUnpriced(portfolio);
  return html`<div class="stack overview">
    <div class="wallet-total">
      <p class="quiet">Worth</p>
      <p class="total" aria-live="polite" data-total=${live.total}>${
        hasNoPrice
          ? 'Unpriced'
          : html`${!isComplete && html`<span class="quiet">at least</span> `}${formatUsdBriefly(live.total)}`
      }</p>
      ${!hasNoPrice && html`<${Changes} changes=${portfolio.change ?? []} />`}
      <p class="quiet">
        ${live.changed > 0 ? html`Moved by ${counted(live.changed, 'balance', 'balances')} since it was read` : asOf !== null && html`As of <${Time} value=${asOf} now=${now} />`},
        without DeFi positions.${' '}
        <button type="button" onClick=${onRefresh}>Refresh <${PriceTag} of=${['balances']} chainIds=${chainIds} /></button>
      </p>
      <${PricesOfNow} chainIds=${portfolio.byChain.map(({ chainId }) => chainId)} />
      <${LeftOut} portfolio=${portfolio} nameOf=${nameOf} />
    </div>
    ${
      tokens.length === 0
        ? html`<${Empty} title="No balance with a price">${counted(portfolio.unpricedBalances + portfolio.excluded.balances, 'balance of this wallet counts', 'balances of this wallet count')} for nothing here: see the tab Tokens.${chains.length > 1 && ' Other chains may have more: choose them above.'}<//>`
        : html`<div class="shares"><${ShareBar} label="By token" parts=${tokens} /><${ShareBar} label="By chain" parts=${places} /></div>`
    }
  </div>`;
};

const SPANS: Readonly<Record<number, string>> = { 24: '24 hours', 168: '7 days' };

/** What the amounts of now were worth at earlier prices. */
const Changes = ({ changes }: { changes: NonNullable<Portfolio['change']> }) => {
  // Without a ratio, nothing of it had a price then.
  const known = changes.filter(({ hoursAgo, changeRatio }) => hoursAgo in SPANS && changeRatio !== null);
  if (known.length === 0) return null;
  return html`<ul class="changes">
    ${known.map(({ hoursAgo, changeUsd, changeRatio, unpricedBalances }) => {
      const isDown = changeUsd.startsWith('-');
      const hint = `The amounts of now at the prices of ${SPANS[hoursAgo]} ago${unpricedBalances > 0 ? `; ${counted(unpricedBalances, 'balance has', 'balances have')} no price of then and is on neither side` : ''}.`;
      return html`<li key=${hoursAgo} title=${hint}>
        <span class="quiet">${SPANS[hoursAgo]}</span>${' '}
        <span class=${/^-?0(\.0*)?$/.test(changeUsd) ? '' : isDown ? 'bad' : 'good'}>${formatChange(changeRatio ?? '0')} <span class="amount">${isDown ? '−' : '+'}${formatUsdBriefly(changeUsd.replace('-', ''))}</span></span>
      </li>`;
    })}
  </ul>`;
};

type LeftOutProps = { portfolio: Portfolio; nameOf: (chainId: number) => string };

/** What the total leaves out, and why. */
const LeftOut = ({ portfolio, nameOf }: LeftOutProps) => {
  const { unpricedBalances, excluded, unavailableChainIds, isComplete, countedBalances } = portfolio;
  const reasons = [
    ...(excluded.balances > 0
      ? [
          `${counted(excluded.balances, 'balance', 'balances')} with too little liquidity, which ${excluded.balances === 1 ? 'claims' : 'claim'} to be worth ${formatUsdBriefly(excluded.totalUsd)}: a pool below $10,000 makes no price to rely on`,
        ]
      : []),
    ...(unpricedBalances > 0
      ? [`${counted(unpricedBalances, 'balance', 'balances')} without a price: no market is known`]
      : []),
    ...(unavailableChainIds.length > 0
      ? [`${unavailableChainIds.map(nameOf).join(', ')}: the service could not read them`]
      : []),
    ...(!isComplete && unavailableChainIds.length === 0 ? ['What the service could not read'] : []),
  ];
  if (reasons.length === 0)
    return html`<p class="quiet">All ${counted(countedBalances, 'balance', 'balances')} are in it.</p>`;
  const sum = excluded.balances + unpricedBalances;
  return html`<details class="left-out">
    <summary title=${reasons.join('. ')}>${sum > 0 ? `${counted(sum, 'balance', 'balances')} left out` : 'Not complete'}: why?</summary>
    <ul>${reasons.map((reason) => html`<li key=${reason}>${reason}.</li>`)}</ul>
    <button type="button" onClick=${() => setParams({ tab: 'tokens', only: 'left', open: '' }, true)}>Show them among the tokens</button>
  </details>`;
};

type Moved = readonly [id: string, valueUsd: string];

/** The balances of the wallet after a delivery. One that the total did not count joins it if its price is one to rely on. */
const movedBy = (
  { chainId, events }: Delivery,
  chainIds: readonly number[],
  counts: (id: string) => boolean,
): readonly Moved[] => {
  if (chainIds.length > 0 && !chainIds.includes(chainId ?? 0)) return [];
  return events.flatMap((event): Moved[] => {
    if (event.__typename !== 'BalanceChange') return [];
    const { balance, lowLiquidity, poolSizeUsd, tokenAddress } = event;
    if (!balance?.valueUsd) return [];
    const isReliable = !isThin({ isNative: tokenAddress === null, poolSizeUsd, lowLiquidity });
    return counts(balance.id) || isReliable ? [[balance.id, balance.valueUsd]] : [];
  });
};

type LiveTotal = {
  readonly total: string;
  /** The number of balances that have changed the total. */
  readonly changed: number;
};

/** The total, moved by the balances that come with the events of a watched wallet, without a request. */
const useLiveTotal = ({ address, chainIds }: PanelProps, portfolio: Portfolio): LiveTotal => {
  const isWatched = useIsWatched(address);
  const before = useMemo(
    () => new Map(portfolio.top.map(({ id, valueUsd }) => [id, valueUsd ?? '0'])),
    [portfolio],
  );
  const [after, setAfter] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    if (!isWatched) return;
    const counts = (id: string) => before.has(id);
    const { close } = followDeliveries(
      { filter: { address, types: ['BALANCES'] }, address },
      {
        stored() {},
        connection() {},
        arrived(item) {
          if (item.kind !== 'delivery') return;
          const moved = movedBy(item.delivery, chainIds, counts);
          setAfter((values) => new Map([...values, ...moved]));
        },
      },
    );
    return close;
  }, [address, isWatched, chainIds, before]);
  const changes = [...after].flatMap(([id, valueUsd]) => [valueUsd, `-${before.get(id) ?? '0'}`]);
  return { total: sumDecimals([portfolio.totalUsd, ...changes]), changed: after.size };
};
