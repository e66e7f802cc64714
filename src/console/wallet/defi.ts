import { compareDecimals, sumDecimals } from 'evm-graphql-gateway/client';
import { useMemo, useState } from 'preact/hooks';
import {
  type DefiAssetRole,
  type DefiPositionType,
  type PositionAssetFragment,
  type PositionRowFragment,
  WalletPositions,
} from '../__generated__/operations.ts';
import { useChainNames } from '../chains.ts';
import { Address, Empty, Facts, html, Time } from '../components.ts';
import { PriceTag } from '../cost/prices.ts';
import {
  counted,
  formatDecimal,
  formatUsd,
  formatUsdBriefly,
  inWords,
  shorten,
  shortHex,
} from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { isKept, ListBody, ListHead, type PanelProps, useWalletList, walletList } from './list.ts';
import { RawJson } from './transaction-details.ts';

type Position = PositionRowFragment;

/** All positions come in one request, whatever is asked for. */
const POSITIONS = walletList(1000, WalletPositions, ({ wallet }) => wallet.defiPositions);

/** The wallet's positions in protocols. They are the dearest list, so they are read when they are asked for. */
export const DefiPositions = ({ address, chainIds }: PanelProps) => {
  const [asked, setAsked] = useState(() => (isKept(POSITIONS, { address, chainIds }) ? chainIds : null));
  if (asked === chainIds) return html`<${Positions} address=${address} chainIds=${chainIds} />`;
  return html`<${Empty} title="Positions in protocols cost 4 CU for each chain">
    ${chainIds.length === 0 ? 'Choose chains above to pay for those alone, or read all main ones.' : 'The chosen chains are read together.'}
    <span class="bar"><button type="button" class="primary" onClick=${() => setAsked(chainIds)}>Read DeFi positions: <${PriceTag} of=${['defiPositions']} chainIds=${chainIds} /></button></span>
  <//>`;
};

type Group = {
  readonly protocol: string;
  readonly logo: string | null;
  readonly total: string;
  readonly positions: readonly Position[];
};

const OWNED: readonly DefiAssetRole[] = ['SUPPLIED', 'COLLATERAL', 'LOCKED'];

/** Whether all of it is owed: the service does not say which sign the value of such a debt has. */
const isDebt = ({ assets }: Position): boolean =>
  assets.some(({ role }) => role === 'BORROWED') && !assets.some(({ role }) => OWNED.includes(role));

/** What a position adds to a sum: a debt takes from it. */
const worthOf = (position: Position): string => {
  const value = position.valueUsd ?? '0';
  return isDebt(position) && compareDecimals(value, '0') > 0 ? `-${value}` : value;
};

const totalOf = (positions: readonly Position[]): string => sumDecimals(positions.map(worthOf));

/** `UniswapV3` as `Uniswap V3`. */
const spaced = (name: string): string => name.replace(/_/g, ' ').replace(/([a-z\d])([A-Z])/g, '$1 $2');

/** Positions by their protocol, the protocol with the largest value first. */
const groupsOf = (positions: readonly Position[]): readonly Group[] =>
  [...Map.groupBy(positions, ({ protocol, typeName }) => protocol ?? typeName)]
    .map(([protocol, own]) => ({
      protocol,
      logo: own.find(({ logo }) => logo !== null)?.logo ?? null,
      total: totalOf(own),
      positions: own.toSorted((one, other) => compareDecimals(worthOf(other), worthOf(one))),
    }))
    .toSorted((one, other) => compareDecimals(other.total, one.total));

const Positions = ({ address, chainIds }: PanelProps) => {
  const positions = useWalletList(POSITIONS, { address, chainIds });
  const { nodes } = positions;
  const said = positions.pages[0]?.totalValueUsd ?? null;
  const [groups, symbols] = useMemo(() => [groupsOf(nodes), symbolsIn(nodes)] as const, [nodes]);
  const [total, debts] = [totalOf(nodes), totalOf(nodes.filter(isDebt))];
  const isOther = said !== null && compareDecimals(said, total) !== 0;
  return html`<div class="stack defi">
    <${ListHead} list=${positions} />
    <${ListBody} list=${positions} what="positions" kind="row" empty="No position in a protocol" isPaused=${true}>
      <p><strong class="total">${formatUsdBriefly(total)}</strong> <span class="quiet">in ${counted(nodes.length, 'position', 'positions')}, net of debts${compareDecimals(debts, '0') !== 0 && html`: <span class="bad">${formatUsdBriefly(debts)}</span> are owed without a deposit beside them`}. ${isOther && `The service’s own sum, which may count debts in another way, is ${formatUsdBriefly(said)}. `}Receipt tokens are listed under Tokens as well: do not add the two sums.</span></p>
      <div class="protocols">${groups.map((group) => html`<${Protocol} key=${group.protocol} ...${group} symbols=${symbols} />`)}</div>
    <//>
  </div>`;
};

const Protocol = ({ protocol, logo, total, positions, symbols }: Group & { symbols: Symbols }) =>
  html`<section class="panel protocol stack">
    <h3 class="bar"><${TokenLogo} token=${{ logo, symbol: protocol }} size=${24} /> ${spaced(shorten(protocol, 40))} <span class="push">${formatUsdBriefly(total)}</span></h3>
    <ul class="rows">${positions.map((position) => html`<${PositionCard} key=${position.id} position=${position} symbols=${symbols} />`)}</ul>
  </section>`;

const TYPES: Readonly<Record<DefiPositionType, string>> = {
  CONCENTRATED_POOL: 'Concentrated liquidity',
  DEBT: 'Debt with collateral',
  LENDING: 'Lending',
  LEVERAGED_VAULT: 'Leveraged vault',
  LOCK: 'Locked for votes',
  OTHER: 'Other',
  POOL: 'Share of a pool',
  RECEIPT: 'Receipt of a deposit or a debt',
  STABILITY_POOL: 'Stability pool',
  VAULT: 'Vault',
  YIELD: 'Principal or yield',
};

/** What the loaded positions call their tokens: a position may leave it out. */
const symbolsIn = (positions: readonly Position[]): ReadonlyMap<string, string> =>
  new Map(
    positions.flatMap(({ assets }) =>
      assets.flatMap(({ token }) => (token.symbol === null ? [] : [[keyOf(token), token.symbol] as const])),
    ),
  );

type Symbols = ReadonlyMap<string, string>;

const keyOf = ({ chainId, address }: PositionAssetFragment['token']): string => `${chainId}:${address}`;

const PositionCard = ({ position, symbols }: { position: Position; symbols: Symbols }) => {
  const { type, typeName, chainId, contract, positionId, valueUsd, lockedUntil, assets, ranges, details } =
    position;
  const worth = worthOf(position);
  const nameOf = useChainNames();
  return html`<li class="stack position" data-position=${position.id}>
    <div class="bar"><strong>${TYPES[type]}</strong><span class="tag">${nameOf(chainId)}</span><span class=${worth.startsWith('-') ? 'push bad' : 'push'}>${valueUsd === null ? 'no value stated' : formatUsdBriefly(worth)}</span></div>
    ${assets.length > 0 ? html`<ul class="stack tight position-assets">${assets.map((asset, index) => html`<${AssetLine} key=${index} asset=${asset} symbols=${symbols} />`)}</ul>` : html`<p class="quiet">The service sends it in a form that this gateway does not know: see the JSON.</p>`}
    <details>
      <summary>More</summary>
      <div class="details stack">
        <${Facts} facts=${[
          ['Type', shorten(typeName, 80)],
          ['Contract', contract && html`<${Address} value=${contract} />`],
          ['Its id', positionId && shorten(positionId, 80)],
          ['Locked until', lockedUntil && html`<${Time} value=${lockedUntil} />`],
          ...(ranges ?? []).map(
            ({ tickLower, tickUpper, tokenId }) =>
              [`Range of #${shorten(tokenId, 20)}`, `tick ${tickLower} to ${tickUpper}`] as const,
          ),
        ]} />
        <${RawJson} value=${details} />
      </div>
    </details>
  </li>`;
};

const AssetLine = ({ asset, symbols }: { asset: PositionAssetFragment; symbols: Symbols }) => {
  const { role, amount, valueUsd, priceUsd, token } = asset;
  const symbol = symbols.get(keyOf(token)) ?? token.name ?? shortHex(token.address ?? 'unnamed token');
  return html`<li class="bar">
    <span class=${`tag ${role === 'BORROWED' ? 'bad' : role === 'REWARD' ? 'good' : ''}`}>${inWords(role)}</span>
    <span class="asset"><${TokenLogo} token=${{ logo: null, symbol }} size=${18} /><strong>${amount === null ? '' : formatDecimal(amount)} ${shorten(symbol, 24)}</strong></span>
    <span class="push quiet">${valueUsd !== null ? formatUsd(valueUsd) : priceUsd !== null && priceUsd !== '0' ? `at ${formatUsd(priceUsd)}` : ''}</span>
  </li>`;
};
