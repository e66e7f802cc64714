import { address, asset, bareFlag, chainChoice, hoursAgo, limit, oneChain, words } from '../http/query.ts';
import type { AssetBalance, FailedChain } from '../source.ts';
import type { Chain, ChainLookup, Hex } from '../types.ts';
import { isoNanoseconds, type KnownAsset, knownAsset, worth } from './assets.ts';
import {
  type Answer,
  type Asked,
  because,
  beginnings,
  type Lookup,
  paged,
  type Service,
  scopeOf,
  unread,
  type Warning,
  warnings,
} from './lookup.ts';

const MAX_LIMIT = 1_000;
const HOUR_MS = 3_600_000;
/** Tokens with less liquidity count as spam. */
const SPAM_POOL_USD = 100;
const COVERED: ChainLookup = 'balances';
const BAD_ADDRESS = 'Failed to parse address';

type Held = AssetBalance & { readonly asset: KnownAsset | null };

/** What a request wants to know of each balance, beside its amount and its price. */
type Details = { readonly metadata: readonly string[]; readonly hours: readonly number[] | null };

const detailsOf = (query: URLSearchParams): Details => ({
  metadata: words(query, 'metadata', ['logo', 'url', 'pools']) ?? [],
  hours: hoursAgo(query),
});

const held = ({ data, now }: Service, balance: AssetBalance): Held => ({
  ...balance,
  asset: knownAsset(data, balance.chain, balance.token, now()),
});

/** The prices of an asset at earlier hours. Those before its first price are left out. */
export const priceHistory = (
  { data, now }: Service,
  chain: Chain,
  token: Hex | null,
  hours: readonly number[] | null,
): object => {
  if (hours === null) return {};
  const prices = hours.flatMap((hour) => {
    const price_usd = knownAsset(data, chain, token, now() - hour * HOUR_MS)?.priceUsd ?? null;
    return price_usd === null ? [] : [{ offset_hours: hour, price_usd }];
  });
  return { historical_prices: prices };
};

/** A balance in the lookup's format. What is unknown is left out; the native asset has no name and no pool. */
const balanceItem = (service: Service, { chain, token, amount, asset }: Held, details: Details) => {
  const { metadata, hours } = details;
  const known = {
    logo: metadata.includes('logo') && asset?.logo,
    url: metadata.includes('url') && asset?.site,
  };
  const tokenMetadata = Object.fromEntries(Object.entries(known).filter(([, value]) => Boolean(value)));
  return {
    chain: chain.name,
    chain_id: chain.id,
    address: token ?? 'native',
    amount: amount.toString(),
    ...(asset !== null && {
      symbol: asset.symbol,
      ...(token !== null && { name: asset.name }),
      decimals: asset.decimals,
    }),
    ...(asset !== null &&
      asset.priceUsd !== null && {
        price_usd: asset.priceUsd,
        value_usd: worth(amount, asset, asset.priceUsd),
        ...priceHistory(service, chain, token, hours),
      }),
    ...(token !== null && asset !== null && asset.poolSizeUsd !== null && poolFields(asset)),
    ...(Object.keys(tokenMetadata).length > 0 && { token_metadata: tokenMetadata }),
    ...(metadata.includes('pools') && token !== null && poolOf(service, chain, token)),
  };
};

/** Low liquidity is stated where it applies, its absence only for stablecoins. */
const poolFields = ({ poolSizeUsd, lowLiquidity, isStable }: KnownAsset) => ({
  pool_size: poolSizeUsd,
  ...((lowLiquidity === true || isStable) && { low_liquidity: lowLiquidity }),
});

const poolOf = ({ data }: Service, chain: Chain, token: Hex): object => {
  const pool = data.pool(chain.id, token);
  if (pool === null) return {};
  return { pool: { pool_type: pool.type, address: pool.address, chain_id: chain.id, tokens: pool.tokens } };
};

type Filters = {
  readonly kinds: readonly string[] | null;
  readonly onlyStable: boolean;
  readonly excludeSpam: boolean;
  readonly excludeUnpriced: boolean;
};

/** What the source flags, and a token of which no pool is known, unless the source knows of no pools at all. */
const isSpam = (asset: KnownAsset | null): boolean =>
  asset?.isFlagged === true || (asset?.lowLiquidity !== null && (asset?.poolSizeUsd ?? 0) < SPAM_POOL_USD);

const passes = ({ token, asset }: Held, filters: Filters): boolean => {
  const { kinds, onlyStable, excludeSpam, excludeUnpriced } = filters;
  if (kinds !== null && !kinds.includes(token === null ? 'native' : 'erc20')) return false;
  if (onlyStable && asset?.isStable !== true) return false;
  if (excludeSpam && token !== null && isSpam(asset)) return false;
  return !(excludeUnpriced && (asset === null || asset.priceUsd === null));
};

/** The errors of chains that could not be read. */
const failures = (chains: readonly Chain[], failed: readonly FailedChain[] = []): object => {
  const token_errors = chains.flatMap(({ id, name }) => {
    const failure = failed.find(({ chainId, lasts }) => chainId === id && !lasts);
    if (failure === undefined) return [];
    const description = `The balances of ${name} could not be read${because(failure)}`;
    return [{ chain_id: id, address: 'native', description }];
  });
  if (token_errors.length === 0) return {};
  return { errors: { error_message: 'Some balances could not be read', token_errors } };
};

/** Warnings in place of errors, which would be asked for again at once. */
const notServed = (chains: readonly Chain[], failed: readonly FailedChain[] = []): readonly Warning[] =>
  unread(
    'The balances',
    chains,
    failed.filter(({ lasts }) => lasts),
  );

/** What is missing of a chain without its oldest blocks. A single balance is asked of the token itself. */
const UNSEEN = 'balances of tokens that have not moved since are missing';

const listOf = async (asked: Asked, stablecoins: boolean): Promise<Answer> => {
  const { data, now, path, query, fault } = asked;
  const requestedAt = now();
  const wallet = address(path.address, BAD_ADDRESS);
  const { chains, unsupported } = chainChoice(query, data.chains, COVERED);
  const filters: Filters = {
    kinds: words(query, 'filters', ['erc20', 'native']),
    onlyStable: stablecoins || words(query, 'asset_class', ['stablecoin']) !== null,
    excludeSpam: bareFlag(query, 'exclude_spam_tokens'),
    excludeUnpriced: bareFlag(query, 'exclude_unpriced'),
  };
  const details = detailsOf(query);
  const count = limit(query, MAX_LIMIT, MAX_LIMIT);
  const failing = fault?.failingChains ?? [];
  const readable = new Set(scopeOf(chains.filter(({ id }) => !failing.includes(id))));
  const scope = ['balances', wallet, ...scopeOf(chains), JSON.stringify(filters)];
  const { page, next, failed } = await paged(asked, scope, {
    limit: count,
    ask: (wanted) => data.balances(wallet, readable, wanted),
    choose: (balances) =>
      balances.map((balance) => held(asked, balance)).filter((balance) => passes(balance, filters)),
    placeOf: ({ place }) => place,
  });
  const body = {
    request_time: isoNanoseconds(requestedAt),
    response_time: isoNanoseconds(now()),
    wallet_address: wallet,
    balances: page.map((balance) => balanceItem(asked, balance, details)),
    ...next,
    ...failures(chains, [...failed, ...failing.map((chainId) => ({ chainId, reason: null }))]),
    ...warnings('Balances', unsupported, asked, [
      ...beginnings(asked, chains, UNSEEN),
      ...notServed(chains, failed),
    ]),
  };
  return { body, chains: chains.length };
};

const shared = { errors: 'message', numbers: 'fifteen digits' } as const;

/** A wallet's native and ERC-20 balances. Its pages are in the order of chains and tokens, which is not documented. */
export const balances: Lookup = {
  ...shared,
  path: '/v1/evm/balances/{address}',
  computeUnits: (chains) => chains,
  answer: (asked) => listOf(asked, false),
};

export const stablecoins: Lookup = {
  ...shared,
  path: '/v1/evm/balances/{address}/stablecoins',
  computeUnits: (chains) => chains,
  answer: (asked) => listOf(asked, true),
};

/** One balance of a wallet, as a list of one, or an empty one when it does not hold the token. */
export const balance: Lookup = {
  ...shared,
  path: '/v1/evm/balances/{address}/token/{token_address}',
  computeUnits: (chains) => Math.min(1, chains),
  async answer(asked) {
    const { data, now, path, query } = asked;
    const requestedAt = now();
    const wallet = address(path.address, BAD_ADDRESS);
    const token = asset(path.token_address, BAD_ADDRESS);
    const { chains, unsupported } = oneChain(query, data.chains, COVERED);
    const details = detailsOf(query);
    const { items, failed } = await data.balances(wallet, new Set(scopeOf(chains)), { asset: token });
    const found = items.filter((each) => each.token === token);
    const body = {
      request_time: isoNanoseconds(requestedAt),
      response_time: isoNanoseconds(now()),
      wallet_address: wallet,
      balances: found.map((each) => balanceItem(asked, held(asked, each), details)),
      ...failures(chains, failed),
      ...warnings('Balances', unsupported, asked, notServed(chains, failed)),
    };
    return { body, chains: chains.length };
  },
};
