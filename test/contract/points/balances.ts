import type { ChainLookup } from '../chains.ts';
import { expecting, type Finding, itemsOf, membersOf, Skipped, shown } from '../finding.ts';
import { ask, findWallet, items, type Lookup, largest } from '../lookup.ts';
import { bodyOf, type Judged, type Point, refusal } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  amount,
  assetAddress,
  flag,
  integer,
  listOf,
  mixedAddress,
  number,
  openSet,
  record,
  text,
  time,
} from '../shape.ts';
import { UNUSED } from '../wallets.ts';
import { tolerantWarnings } from './transactions.ts';

type Item = Readonly<Record<string, unknown>>;

const history = listOf(record({ offset_hours: integer, price_usd: number }));

const balanceItem = record(
  { chain: text, address: assetAddress, amount },
  {
    chain_id: integer,
    symbol: text,
    name: text,
    decimals: integer,
    price_usd: number,
    value_usd: number,
    pool_size: number,
    low_liquidity: flag,
    historical_prices: history,
    token_metadata: record({}, { logo: text, url: text }),
    pool: record(
      { pool_type: openSet('uniswap_v2', 'uniswap_v3', 'aerodrome_stable'), address: mixedAddress },
      { chain_id: integer },
    ),
  },
);

const answer = record(
  { wallet_address: mixedAddress, balances: listOf(balanceItem) },
  {
    next_offset: text,
    request_time: time,
    response_time: time,
    warnings: tolerantWarnings,
    errors: record(
      {},
      {
        error_message: text,
        token_errors: listOf(record({ chain_id: integer, address: text }, { description: text })),
      },
    ),
  },
);

const identity = ({ chain_id, address }: Item): string => `${chain_id} ${address}`;

const shared = {
  method: 'GET',
  needsKey: true,
  source: 'documentation: Balances',
  errors: 'message',
  answer,
  support: 'balances',
} as const;

const pagedList = {
  chains: 'many',
  unknown: { filters: ['erc721'], historical_prices: ['0', '1.5'], metadata: ['everything'] },
  list: { member: 'balances', identity, limit: { default: 1_000, most: 1_000 }, pages: true },
} as const;

export const balances: Lookup = {
  ...shared,
  ...pagedList,
  unknown: { ...pagedList.unknown, asset_class: ['nft'] },
  path: '/v1/evm/balances/{address}',
  price: (chains) => chains,
  find: (judged) => findWallet(judged, balances),
};

export const stablecoins: Lookup = {
  ...shared,
  ...pagedList,
  path: '/v1/evm/balances/{address}/stablecoins',
  price: (chains) => chains,
  find: (judged) => findWallet(judged, stablecoins),
};

export const balance: Lookup = {
  ...shared,
  path: '/v1/evm/balances/{address}/token/{token_address}',
  price: (chains) => chains,
  chains: 'one',
  list: { member: 'balances', identity, limit: null, pages: false },
  async find(judged) {
    const { path, query } = await balances.find(judged);
    const [held] = await largest(judged, balances);
    return { path: { ...path, token_address: String(held?.address) }, query };
  },
};

/**
 * An ERC-20 that a known wallet holds, rather one with a price, and its chain.
 * @throws Skipped when there is none, or the lookup does not cover the chain.
 */
export const findToken = async (judged: Judged, support: ChainLookup | null) => {
  const where = await balances.find(judged);
  const tokens = (await largest(judged, balances)).filter(({ address }) => address !== 'native');
  const token = tokens.find((each) => typeof each.price_usd === 'number') ?? tokens[0];
  if (token === undefined)
    throw new Skipped('no wallet with an ERC-20 was found: name one with --wallet and --chain');
  const chainId = String(where.query.chain_ids);
  const chain = (await judged.chains.all()).find(({ id }) => String(id) === chainId);
  if (support !== null && chain?.supports.has(support) !== true)
    throw new Skipped(`chain ${chainId} does not support it: choose another one with --chain`);
  return { token, chainId };
};

const point = (operation: Lookup, expects: string, check: Point['check']): Point => ({
  operation: nameOf(operation),
  expects,
  source: shared.source,
  check,
});

/** The items of a request with further parameters, and those without. */
const both = async (judged: Judged, query: Readonly<Record<string, string>>) => ({
  all: await largest(judged, balances),
  some: items(
    balances,
    await ask(judged, balances, await balances.find(judged), { limit: '1000', ...query }),
  ),
});

const isNative = ({ address }: Item): boolean => address === 'native';

/** That a filter leaves those items which pass it, and no others. */
const filters = async (
  judged: Judged,
  query: Readonly<Record<string, string>>,
  passes: (item: Item) => boolean,
): Promise<readonly Finding[]> => {
  const { all, some } = await both(judged, query);
  const wrong = some.find((item) => !passes(item));
  const found = new Set(some.map(identity));
  const lost = all.find((item) => passes(item) && !found.has(identity(item)));
  return [
    ...expecting(wrong === undefined, 'no others', shown(wrong)),
    ...expecting(lost === undefined || all.length >= 1_000, 'all that pass', `no ${shown(lost)}`),
  ];
};

/** That values are amounts times prices, to a millionth. */
const values = (found: readonly Item[]): readonly Finding[] => {
  const wrong = found.find(({ amount: held, decimals, price_usd, value_usd }) => {
    if (typeof price_usd !== 'number' || typeof value_usd !== 'number' || typeof decimals !== 'number')
      return false;
    const value = (Number(held) / 10 ** decimals) * price_usd;
    return Math.abs(value - value_usd) > Math.max(Math.abs(value), Math.abs(value_usd)) * 1e-6;
  });
  return expecting(wrong === undefined, 'value_usd = amount × price_usd', shown(wrong));
};

export const balancePoints: readonly Point[] = [
  point(balances, 'says whose balances they are', async (judged) => {
    const where = await balances.find(judged);
    const { wallet_address } = membersOf(bodyOf(await ask(judged, balances, where, { limit: '1000' })));
    return expecting(
      String(wallet_address).toLowerCase() === where.path.address,
      `wallet_address ${where.path.address}`,
      wallet_address,
    );
  }),
  point(balances, 'has each asset once, and none that is not held', async (judged) => {
    const found = await largest(judged, balances);
    const ids = found.map(identity);
    const twice = ids.find((each, at) => ids.indexOf(each) !== at);
    const none = found.find((each) => String(each.amount) === '0');
    return [
      ...expecting(twice === undefined, 'each once', `${twice} twice`),
      ...expecting(none === undefined, 'no balance of 0', shown(none), 'note'),
    ];
  }),
  point(balances, 'values amounts at their prices', async (judged) =>
    values(await largest(judged, balances)),
  ),
  point(balances, 'filters by filters=erc20 and filters=native', async (judged) => [
    ...(await filters(judged, { filters: 'erc20' }, (item) => !isNative(item))),
    ...(await filters(judged, { filters: 'native' }, isNative)),
    ...(await filters(judged, { filters: 'erc20,native' }, () => true)),
  ]),
  point(balances, 'leaves out what has no price with exclude_unpriced=true', (judged) =>
    filters(judged, { exclude_unpriced: 'true' }, ({ price_usd }) => typeof price_usd === 'number'),
  ),
  point(balances, 'leaves out pools below 100 dollars with exclude_spam_tokens=true', async (judged) => {
    const { some } = await both(judged, { exclude_spam_tokens: 'true' });
    const spam = some.find(
      (item) => !isNative(item) && typeof item.pool_size === 'number' && item.pool_size < 100,
    );
    return expecting(spam === undefined, 'pools of at least 100 dollars', shown(spam));
  }),
  point(balances, 'tells logos and pools with metadata=logo,url,pools alone', async (judged) => {
    const { all, some } = await both(judged, { metadata: 'logo,url,pools' });
    const has = (found: readonly Item[]) =>
      found.some((each) => (each.token_metadata ?? null) !== null || (each.pool ?? null) !== null);
    return [
      ...expecting(has(some), 'token_metadata or pool with metadata', 'neither', 'note'),
      ...expecting(!has(all), 'neither without it', 'token_metadata or pool', 'note'),
    ];
  }),
  point(balances, 'has the prices of up to 3 earlier hours, in the order of the request', async (judged) => {
    const { all, some } = await both(judged, { historical_prices: '24,1' });
    const early = all.find(({ historical_prices }) => (historical_prices ?? null) !== null);
    const hours = some.flatMap(({ historical_prices }) => {
      const list = itemsOf(historical_prices).map(({ offset_hours }) => offset_hours);
      return list.length === 2 ? [list.join()] : [];
    });
    const four = await ask(judged, balances, await balances.find(judged), { historical_prices: '4,3,2,1' });
    const isPriced = some.some(({ price_usd }) => typeof price_usd === 'number');
    return [
      ...expecting(
        !isPriced || some.some((each) => Array.isArray(each.historical_prices)),
        'historical_prices',
        'none',
      ),
      ...expecting(
        hours.every((each) => each === '24,1'),
        'hours 24 and 1',
        hours.find((each) => each !== '24,1'),
      ),
      ...expecting(early === undefined, 'none unless asked for', 'historical_prices', 'note'),
      ...refusal(four, 400),
    ];
  }),
  point(stablecoins, 'is part of the balances, and the same as asset_class=stablecoin', async (judged) => {
    const where = await stablecoins.find(judged);
    const list = async (lookup: Lookup, query = {}) =>
      items(lookup, await ask(judged, lookup, where, { limit: '1000', ...query })).map(identity);
    const stable = await list(stablecoins);
    const all = await list(balances);
    const classed = await list(balances, { asset_class: 'stablecoin' });
    const other = stable.find((each) => !all.includes(each));
    return [
      ...expecting(other === undefined || all.length >= 1_000, 'balances alone', other),
      ...expecting(
        stable.toSorted().join() === classed.toSorted().join(),
        stable.join(', '),
        classed.join(', '),
      ),
    ];
  }),
  point(balance, 'answers the balance that the list has', async (judged) => {
    const query = { metadata: 'logo', historical_prices: '24' };
    const [held] = (await both(judged, query)).some;
    const answer = await ask(judged, balance, await balance.find(judged), query);
    const found = items(balance, answer);
    return [
      ...expecting(found.length === 1, '1 balance', `${found.length}`),
      ...expecting(found[0]?.address === held?.address, `address ${held?.address}`, found[0]?.address),
      // It may have changed in between.
      ...expecting(JSON.stringify(found[0]) === JSON.stringify(held), shown(held), shown(found[0]), 'note'),
      ...expecting(membersOf(answer.json).next_offset === undefined, 'no next_offset', answer.text, 'note'),
    ];
  }),
  point(balance, 'takes native', async (judged) => {
    const where = await balance.find(judged);
    const native = { ...where, path: { ...where.path, token_address: 'native' } };
    const found = items(balance, await ask(judged, balance, native));
    return expecting(
      found.every(isNative) && found.length <= 1,
      'native or none',
      found.map(({ address }) => address),
    );
  }),
  point(balance, 'answers an empty list for a token that the wallet does not hold', async (judged) => {
    const where = await balance.find(judged);
    const found: unknown[] = [];
    // An unknown token of the wallet; the token and the native asset of an address without transactions.
    for (const path of [
      { ...where.path, token_address: UNUSED },
      { ...where.path, address: UNUSED },
      { address: UNUSED, token_address: 'native' },
    ])
      found.push(...items(balance, await ask(judged, balance, { ...where, path })));
    return expecting(found.length === 0, 'no balances', found);
  }),
];
