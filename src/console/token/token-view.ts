import { useCallback, useMemo } from 'preact/hooks';
import { TokenPage as Operation, type TokenPageQuery } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useChains } from '../chain-filter.ts';
import { CopyButton, Empty, type Fact, Facts, html, ProblemNotice, Skeleton } from '../components.ts';
import { formatUnits, formatUsd, inWords, nativeSymbol, shorten } from '../format.ts';
import { hrefOf, navigate, route } from '../route.ts';
import { Search } from '../start/search.ts';
import { useStore } from '../state.ts';
import { TokenLogo } from '../token-logo.ts';
import { Holders } from './holders.ts';
import { ChangeOf, PriceHistory } from './price-history.ts';
import { inputOf, placeText, readPlace, type TokenPlace } from './token-of.ts';

/** The token in the address bar: its price, the price's history, and who holds it. */
export const TokenView = () => {
  const [text = ''] = useStore(route).path;
  const place = useMemo(() => readPlace(text), [text]);
  return html`<div class="stack token">
    <${Search} name="token-search" label="Look up another token or a wallet" />
    ${
      place
        ? html`<${TokenPage} key=${placeText(place)} place=${place} />`
        : html`<${Empty} title="This link names no token">Expected the id of a chain and an address, 8453:0x…, or 8453:native for the chain’s own currency, got “${shorten(text, 60)}”. Search for the token above.<//>`
    }
  </div>`;
};

const TokenPage = ({ place }: { place: TokenPlace }) => {
  const load = useCallback(
    (signal: AbortSignal) => send(Operation, { token: inputOf(place) }, signal),
    [place],
  );
  const { data, problems, isLoading, retry } = useAnswer(load);
  const [problem] = problems;
  if (isLoading) return html`<${Head} place=${place} market=${null} /><${Skeleton} rows=${3} />`;
  const market = data?.token?.market ?? null;
  if (market === null && problem)
    return html`<${Head} place=${place} market=${null} /><${ProblemNotice} problem=${problem} onRetry=${retry} />`;
  if (market === null)
    return html`<${Head} place=${place} market=${null} />
      <${Empty} title="The service does not know this token on this chain">Choose another chain above, or search for the token by its name.<//>`;
  return html`<${Head} place=${place} market=${market} />
    <${Price} market=${market} />
    <${PriceHistory} place=${place} />
    ${place.address !== null && html`<${Holders} place=${place} supply=${market.totalSupply} decimals=${market.decimals} symbol=${shorten(market.symbol ?? '', 20)} />`}`;
};

type Market = NonNullable<NonNullable<TokenPageQuery['token']>['market']>;

type HeadProps = { place: TokenPlace; market: Market | null };

const Head = ({ place, market }: HeadProps) => {
  const { chainId, address } = place;
  const chains = useChains();
  const symbol = market?.symbol ?? (address === null ? nativeSymbol(chainId) : 'Token');
  const known = chains.some((chain) => chain.chainId === chainId);
  const onChain = (event: Event) => {
    if (event.currentTarget instanceof HTMLSelectElement)
      navigate(hrefOf('token', [placeText({ chainId: Number(event.currentTarget.value), address })]));
  };
  return html`<header class="panel token-head">
    <${TokenLogo} token=${{ logo: market?.logo ?? null, symbol, id: placeText(place) }} size=${48} />
    <div class="token-name">
      <h2>${shorten(symbol, 40)}</h2>
      <p class="quiet">${market?.name ? shorten(market.name, 80) : address === null && 'the chain’s own currency'}</p>
    </div>
    <label class="token-chain">Chain, 2 CU each
      <select value=${chainId} onChange=${onChain}>
        ${!known && html`<option value=${chainId}>chain ${chainId}</option>`}
        ${chains.map((chain) => html`<option key=${chain.chainId} value=${chain.chainId}>${inWords(chain.name)}</option>`)}
      </select>
    </label>
    ${address !== null && html`<p class="token-address"><span class="hex">${address}<${CopyButton} text=${address} label="address of the token" /></span> <a href=${hrefOf('wallet', [address])}>Open as a wallet</a></p>`}
  </header>`;
};

/** Below this, in US dollars, the gateway leaves a price out of totals. */
const SMALL_POOL_USD = 10_000;

const poolFact = ({ poolSizeUsd }: Market): Fact => {
  if (poolSizeUsd === null) return ['Pools behind the price', null];
  const isSmall = Number(poolSizeUsd) < SMALL_POOL_USD;
  return [
    'Pools behind the price',
    html`${formatUsd(poolSizeUsd)} ${isSmall && html`<span class="tag is-warn">thin: the price says little, and totals leave it out</span>`}`,
  ];
};

const Price = ({ market }: { market: Market }) => {
  const { priceUsd, priceHistory, decimals, totalSupply, marketCapUsd, fullyDilutedValueUsd } = market;
  return html`<section class="panel stack" aria-labelledby="token-price">
    <h3 id="token-price" class="visually-hidden">Price</h3>
    <div class="token-price">
      <p class="figure">${priceUsd === null ? 'No price' : formatUsd(priceUsd)}</p>
      <ul class="changes">${priceHistory.map(({ hoursAgo, changeRatio }) => html`<li key=${hoursAgo}><${ChangeOf} hoursAgo=${hoursAgo} ratio=${changeRatio} /></li>`)}</ul>
    </div>
    <${Facts} facts=${[
      ['Market capitalization', marketCapUsd && formatUsd(marketCapUsd)],
      ['Value of the whole supply', fullyDilutedValueUsd && formatUsd(fullyDilutedValueUsd)],
      [
        'Supply',
        totalSupply &&
          (decimals === null ? `${totalSupply} of the smallest unit` : formatUnits(totalSupply, decimals)),
      ],
      poolFact(market),
    ]} />
  </section>`;
};
