import { useEffect, useMemo } from 'preact/hooks';
import { TokenPage as Operation, type TokenInput, type TokenPageQuery } from '../__generated__/operations.ts';
import { useOperation } from '../api/use-answer.ts';
import { OnChain, useChainNames, useChains, useExplorer } from '../chains.ts';
import { CopyButton, Empty, ExplorerLink, Facts, html, Placeholder, PricesOfNow } from '../components.ts';
import { amountIn, formatPrice, formatUsd, nativeSymbol, shorten } from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { hrefOf, isAddress, navigate, route } from '../route.ts';
import { Search } from '../start/search.ts';
import { useStore } from '../state.ts';
import { isThin } from '../wallet/thin-pools.ts';
import { Holders } from './holders.ts';
import { ChangeOf, PriceHistory } from './price-history.ts';

/** A token as the address bar names it: `8453:0x…`, or `8453:native` for the chain's own currency. */
type TokenPlace = {
  readonly chainId: number;
  /** As it was written, so that the gateway checks its checksum; null for the chain's own currency. */
  readonly address: string | null;
};

const PLACE = /^(\d{1,15}):(native|0x[\da-f]{40})$/i;

const readPlace = (text: string): TokenPlace | null => {
  const [, chain = '', token = ''] = PLACE.exec(text) ?? [];
  if (chain === '') return null;
  return { chainId: Number(chain), address: isAddress(token) ? token : null };
};

const placeText = ({ chainId, address }: TokenPlace): string => `${chainId}:${address ?? 'native'}`;

const inputOf = ({ chainId, address }: TokenPlace): TokenInput =>
  address === null ? { nativeOf: chainId } : { contract: { chainId, address } };

/** The token in the address bar: its price, the price's history, and who holds it. */
export const TokenView = () => {
  const [text = ''] = useStore(route).path;
  const place = useMemo(() => readPlace(text), [text]);
  return html`<div class="stack token">
    ${
      place
        ? html`<${OnChain} chainId=${place.chainId}><${TokenPage} key=${placeText(place)} place=${place} /><//>`
        : html`<${Empty} title="This link names no token">Expected the id of a chain and an address, 8453:0x…, or 8453:native for the chain’s own currency, got ${text === '' ? 'nothing' : `“${shorten(text, 60)}”`}. Search for it here.<//>
            <${LookUp} />`
    }
  </div>`;
};

const LookUp = () => html`<${Search} name="token-search" label="A token by its name or address" />`;

const TokenPage = ({ place }: { place: TokenPlace }) => {
  const token = useMemo(() => inputOf(place), [place]);
  const { data, problems, isLoading, retry } = useOperation(Operation, { token });
  const market = data?.token?.market ?? null;
  const hasHistory = useExplorer() === null;
  const symbol = market?.symbol;
  useEffect(() => {
    if (symbol) document.title = `${shorten(symbol, 40)} · EVM gateway`;
  }, [symbol]);
  if (market === null)
    return html`<${Head} place=${place} market=${null} />
      <${Placeholder} rows=${3} isLoading=${isLoading} problem=${problems[0]} onRetry=${retry}>
        <${Empty} title="The service does not know this token on this chain">Choose another chain above, or search for the token by its name.<//>
        <${LookUp} />
      <//>`;
  return html`<${Head} place=${place} market=${market} />
    <${Price} market=${market} />
    ${hasHistory ? html`<${PriceHistory} token=${token} />` : html`<${PricesOfNow} chainIds=${[place.chainId]} />`}
    ${place.address !== null && html`<${Holders} token=${token} supply=${market.totalSupply} decimals=${market.decimals} symbol=${shorten(market.symbol ?? '', 20)} />`}`;
};

type Market = NonNullable<NonNullable<TokenPageQuery['token']>['market']>;

type HeadProps = { place: TokenPlace; market: Market | null };

const Head = ({ place, market }: HeadProps) => {
  const { chainId, address } = place;
  const chains = useChains();
  const nameOf = useChainNames();
  const symbol = market?.symbol ?? (address === null ? nativeSymbol(chainId) : 'Token');
  const known = chains.some((chain) => chain.chainId === chainId);
  const onChain = (event: Event) => {
    if (event.currentTarget instanceof HTMLSelectElement)
      navigate(hrefOf('token', [placeText({ chainId: Number(event.currentTarget.value), address })]));
  };
  return html`<header class="panel token-head">
    <${TokenLogo} token=${{ logo: market?.logo ?? null, symbol }} size=${48} />
    <div class="line">
      <h2>${shorten(symbol, 40)}</h2>
      <p class="quiet">${market?.name ? shorten(market.name, 80) : address === null && 'the chain’s own currency'}</p>
    </div>
    <label class="token-chain">Chain, 2 CU each
      <select value=${chainId} onChange=${onChain}>
        ${!known && html`<option value=${chainId}>${nameOf(chainId)}</option>`}
        ${chains.map((chain) => html`<option key=${chain.chainId} value=${chain.chainId}>${nameOf(chain.chainId)}</option>`)}
      </select>
    </label>
    ${address !== null && html`<p class="bar token-address"><span class="hex">${address}<${CopyButton} text=${address} label="address of the token" /><${ExplorerLink} path=${`token/${address}`} /></span> <a href=${hrefOf('wallet', [address])}>Open as a wallet</a></p>`}
  </header>`;
};

const Price = ({ market }: { market: Market }) => {
  const { priceUsd, priceHistory, decimals, totalSupply, marketCapUsd, fullyDilutedValueUsd, poolSizeUsd } =
    market;
  const supply = totalSupply === null ? null : amountIn(totalSupply, decimals ?? 0);
  const thin =
    isThin({ isNative: false, poolSizeUsd, lowLiquidity: null }) &&
    html`<span class="tag warn" title="The price says little, and totals leave the token out">thin, not in totals</span>`;
  return html`<section class="panel stack" aria-labelledby="token-price">
    <h3 id="token-price" class="visually-hidden">Price</h3>
    <div class="bar token-price">
      <p class="figure">${priceUsd === null ? 'No price' : formatPrice(priceUsd)}</p>
      ${priceHistory.some(({ changeRatio }) => changeRatio !== null) && html`<ul class="bar changes">${priceHistory.map(({ hoursAgo, changeRatio }) => html`<li key=${hoursAgo}><${ChangeOf} hoursAgo=${hoursAgo} ratio=${changeRatio} /></li>`)}</ul>`}
    </div>
    <${Facts} facts=${[
      ['Market capitalization', marketCapUsd && formatUsd(marketCapUsd)],
      ['Value of the whole supply', fullyDilutedValueUsd && formatUsd(fullyDilutedValueUsd)],
      [
        'Supply',
        supply &&
          html`<span title=${supply.exact}>${supply.shown}${decimals === null && ' of the smallest unit'}</span>`,
      ],
      ['Pools behind the price', poolSizeUsd && html`${formatUsd(poolSizeUsd)} ${thin}`],
    ]} />
  </section>`;
};
