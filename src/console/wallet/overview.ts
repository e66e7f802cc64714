import { compareDecimals, sumDecimals } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { WalletBalances, WalletOverview } from '../__generated__/operations.ts';
import { amountOf, symbolOf } from '../activity/activity-model.ts';
import { useOperation } from '../api/use-answer.ts';
import { NoPrices } from '../chain-filter.ts';
import { isSupported, useChainNames, useChains } from '../chains.ts';
import { ShareBar } from '../charts.ts';
import { Empty, html, Placeholder, PricesOfNow, Time, useNow } from '../components.ts';
import { PriceTag } from '../cost/prices.ts';
import { counted, formatChange, formatUsdBriefly, isZero, shorten, toneOf } from '../format.ts';
import { nameOfAddress } from '../labels.ts';
import { colourOf, TokenLogo } from '../picture.ts';
import { setParams } from '../route.ts';
import { createStore, useStore } from '../state.ts';
import type { PanelProps } from './list.ts';
import { type Held, type Portfolio, type Told, useLivePortfolio } from './live-portfolio.ts';
import { isUnpriced } from './thin-pools.ts';

/** What the wallets that are shown are worth, as far as it is known. */
const totals = createStore<ReadonlyMap<string, string>>(new Map());

const useTotal = (address: string, total: string | null): void =>
  useEffect(() => {
    const others = () => [...totals.get()].filter(([other]) => other !== address);
    if (total !== null) totals.set(new Map([...others(), [address, total]]));
    return () => totals.set(new Map(others()));
  }, [address, total]);

/** What wallets side by side are worth together, and how much more the richest has than each other. */
export const Together = ({ addresses }: { addresses: readonly string[] }) => {
  const known = useStore(totals);
  if (addresses.length < 2 || !addresses.every((address) => known.has(address))) return null;
  const [most, ...others] = addresses
    .map((address) => ({ name: nameOfAddress(address), total: known.get(address) ?? '0' }))
    .toSorted((one, other) => compareDecimals(other.total, one.total));
  const than = others.map(
    ({ name, total }) =>
      `${formatUsdBriefly(sumDecimals([most?.total ?? '0', `-${total}`]))} more than ${name}`,
  );
  return html`<p>Together <strong>${formatUsdBriefly(sumDecimals(addresses.map((address) => known.get(address) ?? '0')))}</strong>. ${most?.name} has ${than.join(', ')}.</p>`;
};

/** What a wallet is worth, what makes up the total, and what the total leaves out. */
export const Overview = ({ address, chainIds }: PanelProps) => {
  const { data, problems, isLoading, retry } = useOperation(WalletOverview, { address, chainIds });
  const portfolio = data?.wallet.portfolio;
  if (!portfolio)
    return html`<${Placeholder} rows=${4} isLoading=${isLoading} problem=${problems[0]} onRetry=${retry}>
      <${Empty} title="The service has nothing on this wallet">Choose other chains above, or look at another wallet.<//>
    <//>`;
  return html`<${Worth} key=${portfolio.asOf} address=${address} chainIds=${chainIds} portfolio=${portfolio} onRefresh=${retry} />`;
};

type WorthProps = PanelProps & { portfolio: Portfolio; onRefresh: () => void };

const Worth = ({ address, chainIds, portfolio, onRefresh }: WorthProps) => {
  const { live, changed, amounts } = useLivePortfolio({ address, chainIds }, portfolio);
  const now = useNow();
  const { totalUsd: total, asOf, isComplete, top, byChain } = live;
  const chains = useChains();
  const nameOf = useChainNames();
  const hasNoPrice = changed === 0 && isUnpriced(portfolio);
  const moved = hasNoPrice ? amounts.size : changed;
  useTotal(address, hasNoPrice ? null : total);
  // One token on several chains is one part.
  const tokens = [...Map.groupBy(top, nameOfHeld)].map(([symbol, balances]) => {
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
  });
  const places = byChain.map(({ chainId, totalUsd, balances }) => ({
    name: html`${nameOf(chainId)} <span class="quiet">${counted(balances, 'token', 'tokens')}</span>`,
    share: Number(totalUsd),
    text: formatUsdBriefly(totalUsd),
  }));
  const read = asOf !== null && html`<${Time} value=${asOf} now=${now} />`;
  return html`<div class="stack overview">
    <div class="stack tight wallet-total">
      ${
        hasNoPrice
          ? html`<${Amounts} address=${address} chainIds=${chainIds} told=${amounts} /><p class="quiet"><${NoPrices} /></p>`
          : html`<p class="quiet">Worth</p>
            <p class="total" aria-live="polite" data-total=${total}>${!isComplete && html`<span class="quiet">at least</span> `}${formatUsdBriefly(total)}</p>`
      }
      ${!hasNoPrice && html`<${Changes} portfolio=${portfolio} older=${changed > 0 && html`as read ${read}, without later movements`} />`}
      <p class="quiet">
        ${moved > 0 ? html`Read ${read}; ${counted(moved, 'balance has', 'balances have')} changed since, network fees aside.` : read && html`As of ${read}.`}${' '}
        ${isSupported(chains, 'DEFI_POSITIONS') && 'Of DeFi positions, only tokens of the wallet are counted. '}
        <button type="button" onClick=${onRefresh}>Refresh <${PriceTag} of=${['balances']} chainIds=${chainIds} /></button>
      </p>
      <${PricesOfNow} chainIds=${byChain.map(({ chainId }) => chainId)} />
      ${!(hasNoPrice && live.isComplete) && html`<${LeftOut} portfolio=${portfolio} nameOf=${nameOf} />`}
    </div>
    ${
      hasNoPrice
        ? null
        : tokens.length === 0
          ? html`<${Empty} title="No balance with a price">${counted(portfolio.unpricedBalances + portfolio.excluded.balances, 'balance of this wallet is', 'balances of this wallet are')} not in the total: see the tab Tokens.${chains.length > 1 && ' Other chains may have more: choose them above.'}<//>`
          : html`<div class="grid"><${ShareBar} label="By token" parts=${tokens} /><${ShareBar} label="By chain" parts=${places} /></div>`
    }
  </div>`;
};

const MOST_AMOUNTS = 8;

/** What a wallet holds without any price: the chains' own currencies first. The portfolio has read the same page. */
const Amounts = ({ address, chainIds, told }: PanelProps & { told: Told }) => {
  const asked = { address, first: MOST_BALANCES, chainIds };
  const { data, problems, isLoading, retry } = useOperation(WalletBalances, asked);
  const read = data?.wallet.balances?.nodes.flatMap((node) => node ?? []) ?? [];
  const known: Told = new Map(read.map((node) => [node.id, node]));
  const held = [...new Map([...known, ...told]).values()]
    .map(({ amount, ...each }) => ({ ...each, ...known.get(each.id), amount }))
    .filter(({ amount }) => !isZero(amount))
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
  portfolio: Portfolio;
  /** Says that they are older than the total beside them. */
  older: ComponentChildren;
};

/** What the amounts of now were worth at earlier prices. Each opens to the tokens that made the difference. */
const Changes = ({ portfolio, older }: ChangesProps) => {
  // Without a ratio, nothing of it had a price then.
  const known = (portfolio.change ?? []).filter(
    ({ hoursAgo, changeRatio }) => hoursAgo in SPANS && changeRatio !== null,
  );
  if (known.length === 0) return null;
  return html`<ul class="bar changes">
    ${known.map(({ hoursAgo, changeUsd, changeRatio, unpricedBalances }) => {
      const hint = `What the wallet holds now, at the prices of ${SPANS[hoursAgo]} ago and of today${unpricedBalances > 0 ? `; ${counted(unpricedBalances, 'balance that had no price then is', 'balances that had no price then are')} left out` : ''}.`;
      const change = formatChange(changeRatio ?? '0');
      return html`<li key=${hoursAgo}><details>
        <summary><span class="quiet">${SPANS[hoursAgo]}</span> <span class=${toneOf(change)}>${change} <span class="amount">${signed(changeUsd)}</span></span></summary>
        <p class="quiet">${hint}</p>
        <${Movers} top=${portfolio.top} hoursAgo=${hoursAgo} />
      </details></li>`;
    })}
    ${older && html`<li class="quiet">${older}</li>`}
  </ul>`;
};

const signed = (usd: string): string =>
  `${usd.startsWith('-') ? '−' : '+'}${formatUsdBriefly(usd.replace('-', ''))}`;

const MOST_MOVERS = 100;

/** By how much the price of each token has changed what is held of it, the largest first. For the eye: nothing is added up from it. */
const Movers = ({ top, hoursAgo }: { top: Portfolio['top']; hoursAgo: number }) => {
  const changeOf = ({ valueUsd, priceHistory }: Held): number => {
    const ratio = Number(priceHistory.find((price) => price.hoursAgo === hoursAgo)?.changeRatio ?? 0);
    return (Number(valueUsd) * ratio) / (1 + ratio);
  };
  const movers = [...Map.groupBy(top, nameOfHeld)]
    .map(([symbol, held]) => {
      const usd = held.reduce((sum, each) => sum + changeOf(each), 0);
      const before = held.reduce((sum, { valueUsd }) => sum + Number(valueUsd), -usd);
      return { symbol, usd, change: formatChange(String(usd / before)) };
    })
    .filter(({ usd }) => Math.abs(usd) >= 0.01)
    .toSorted((one, other) => Math.abs(other.usd) - Math.abs(one.usd));
  const others = movers.length - MOST_MOVERS;
  return html`<ul aria-label="By token">
    ${movers.slice(0, MOST_MOVERS).map(({ symbol, usd, change }) => html`<li key=${symbol} class="bar">${shorten(symbol, 20)} <span class=${usd < 0 ? 'push bad' : 'push good'}>${change} <span class="amount">${signed(usd.toFixed(2))}</span></span></li>`)}
    ${others > 0 && html`<li class="quiet">and ${counted(others, 'smaller change', 'smaller changes')}</li>`}
  </ul>`;
};

type LeftOutProps = { portfolio: Portfolio; nameOf: (chainId: number) => string };

/** What the total leaves out, and why. */
const LeftOut = ({ portfolio, nameOf }: LeftOutProps) => {
  const { unpricedBalances, excluded, unavailableChainIds, isComplete, countedBalances } = portfolio;
  const reasons = [
    excluded.balances > 0 &&
      `${counted(excluded.balances, 'balance', 'balances')} with too little liquidity, which ${excluded.balances === 1 ? 'claims' : 'claim'} to be worth ${formatUsdBriefly(excluded.totalUsd)}: a pool below $10,000 makes no price to rely on`,
    unpricedBalances > 0 && `${counted(unpricedBalances, 'balance', 'balances')} without a market price`,
    unavailableChainIds.length > 0
      ? `${unavailableChainIds.map(nameOf).join(', ')}: the service could not read them`
      : !isComplete && 'What the service could not read',
  ].filter(Boolean);
  if (reasons.length === 0)
    return html`<p class="quiet">All ${counted(countedBalances, 'balance', 'balances')} are counted.</p>`;
  const sum = excluded.balances + unpricedBalances;
  return html`<details class="left-out">
    <summary title=${reasons.join('. ')}>${sum > 0 ? `${counted(sum, 'balance', 'balances')} left out` : 'Not complete'}: why?</summary>
    <ul>${reasons.map((reason) => html`<li key=${reason}>${reason}.</li>`)}</ul>
    <button type="button" onClick=${() => setParams({ tab: 'tokens', only: 'left', open: '' }, true)}>Show them among the tokens</button>
  </details>`;
};

/** One token has the same name on every chain. */
const nameOfHeld = ({ token }: Held): string => token.symbol ?? token.name ?? 'unknown';
