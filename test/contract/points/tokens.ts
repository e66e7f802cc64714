import { expecting, type Finding, itemsOf, membersOf, Skipped, shown } from '../finding.ts';
import { ask, items, type Lookup } from '../lookup.ts';
import { bodyOf, type Point, refusal } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  address,
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
import { balance, findToken } from './balances.ts';
import { tolerantWarnings } from './transactions.ts';

export const tokenInfo: Lookup = {
  method: 'GET',
  path: '/v1/evm/token-info/{address}',
  price: (chains) => (chains === 0 ? 0 : 2),
  needsKey: true,
  source: 'documentation: Token info',
  errors: 'text',
  answer: record(
    {
      contract_address: assetAddress,
      tokens: listOf(
        record(
          { chain: text, chain_id: integer },
          {
            symbol: text,
            name: text,
            decimals: integer,
            price_usd: number,
            historical_prices: listOf(record({ offset_hours: integer, price_usd: number })),
            pool_size: number,
            total_supply: amount,
            fully_diluted_value: number,
            market_cap: number,
            logo: text,
          },
        ),
      ),
    },
    { next_offset: text, warnings: tolerantWarnings },
  ),
  support: 'token_info',
  unknown: { historical_prices: ['4,3,2,1', '0'] },
  chains: 'one',
  list: { member: 'tokens', identity: ({ chain_id }) => String(chain_id), limit: null, pages: false },
  async find(judged) {
    const { token, chainId } = await findToken(judged, tokenInfo.support);
    return { path: { address: String(token.address) }, query: { chain_ids: chainId } };
  },
};

export const tokenHolders: Lookup = {
  method: 'GET',
  path: '/v1/evm/token-holders/{chain_id}/{address}',
  price: () => 2,
  needsKey: true,
  source: 'documentation: Token holders',
  errors: 'coded',
  answer: record(
    {
      token_address: address,
      chain_id: integer,
      holders: listOf(
        record(
          { wallet_address: mixedAddress, balance: amount },
          { first_acquired: time, has_initiated_transfer: flag, share: number },
        ),
      ),
    },
    { next_offset: text },
  ),
  support: 'token_holders',
  chains: 'none',
  list: {
    member: 'holders',
    identity: ({ wallet_address }) => String(wallet_address).toLowerCase(),
    limit: { default: 500, most: 500 },
    pages: true,
  },
  async find(judged) {
    const { token, chainId } = await findToken(judged, tokenHolders.support);
    return { path: { chain_id: chainId, address: String(token.address) }, query: {} };
  },
};

export const tokenSearch: Lookup = {
  method: 'GET',
  path: '/v1/evm/search/tokens',
  price: () => 2,
  needsKey: true,
  source: 'documentation: Token search',
  errors: 'coded',
  answer: listOf(
    record(
      { chain_id: integer, address, token_type: openSet('ERC20'), symbol: text, name: text },
      { logo: text, decimals: integer },
    ),
  ),
  support: null,
  chains: 'many',
  list: {
    member: null,
    identity: ({ chain_id, address: contract }) => `${chain_id} ${contract}`,
    limit: { default: 10, most: 50 },
    pages: false,
  },
  async find(judged) {
    const { token, chainId } = await findToken(judged, null);
    const query = [token.symbol, token.name].find(
      (each) => typeof each === 'string' && each.trim().length >= 3,
    );
    if (query === undefined) throw new Skipped('no token with a symbol or name of 3 characters was found');
    return { path: {}, query: { query: String(query), chain_ids: chainId } };
  },
};

const point = (operation: Lookup, expects: string, check: Point['check']): Point => ({
  operation: nameOf(operation),
  expects,
  source: operation.source,
  check,
});

export const tokenPoints: readonly Point[] = [
  point(tokenInfo, 'answers about the token that is asked for', async (judged) => {
    const where = await tokenInfo.find(judged);
    const body = membersOf(bodyOf(await ask(judged, tokenInfo, where)));
    const found = itemsOf(body.tokens).map(({ chain_id }) => String(chain_id));
    return [
      ...expecting(
        String(body.contract_address).toLowerCase() === where.path.address,
        `contract_address ${where.path.address}`,
        body.contract_address,
      ),
      ...expecting(
        found.join() === where.query.chain_ids,
        `the token of chain ${where.query.chain_ids}`,
        found,
      ),
    ];
  }),
  point(tokenInfo, 'has the price of the balances, and values the supply at it', async (judged) => {
    const query = { historical_prices: '24' };
    const where = await tokenInfo.find(judged);
    const [found] = items(tokenInfo, await ask(judged, tokenInfo, where, query));
    const { token } = await findToken(judged, tokenInfo.support);
    const [wallet, place] = [await balance.find(judged), { token_address: String(token.address) }];
    const asked = { ...wallet, path: { ...wallet.path, ...place } };
    const [held] = items(balance, await ask(judged, balance, asked, query));
    const value = (Number(found?.total_supply) / 10 ** Number(found?.decimals)) * Number(found?.price_usd);
    const { price_usd, historical_prices, fully_diluted_value } = found ?? {};
    return [
      // They may have changed in between.
      ...expecting(price_usd === held?.price_usd, `price_usd ${held?.price_usd}`, price_usd, 'note'),
      ...expecting(
        JSON.stringify(historical_prices) === JSON.stringify(held?.historical_prices),
        shown(held?.historical_prices),
        shown(historical_prices),
        'note',
      ),
      ...expecting(
        typeof fully_diluted_value !== 'number' ||
          Number.isNaN(value) ||
          Math.abs(fully_diluted_value - value) <= value * 1e-6,
        `fully_diluted_value ${value}`,
        fully_diluted_value,
      ),
    ];
  }),
  point(tokenInfo, 'takes native', async (judged) => {
    const { query } = await tokenInfo.find(judged);
    const body = membersOf(bodyOf(await ask(judged, tokenInfo, { path: { address: 'native' }, query })));
    return [
      ...expecting(body.contract_address === 'native', 'contract_address native', body.contract_address),
      ...expecting(itemsOf(body.tokens).length === 1, '1 token', `${itemsOf(body.tokens).length}`),
    ];
  }),
  point(tokenInfo, 'answers 404 or no tokens for an unknown token', async (judged) => {
    const { query } = await tokenInfo.find(judged);
    const answer = await ask(judged, tokenInfo, { path: { address: UNUSED }, query });
    if (answer.status !== 200) return refusal(answer, 404, 'text');
    return expecting(items(tokenInfo, answer).length === 0, 'no tokens', answer.text);
  }),
  point(
    tokenHolders,
    'answers the holders of the token that is asked for, the greatest first',
    async (judged) => {
      const { path } = await tokenHolders.find(judged);
      const body = membersOf(bodyOf(await ask(judged, tokenHolders, { path, query: {} }, { limit: '500' })));
      const amounts = itemsOf(body.holders).map((each) => String(each.balance));
      const at = amounts.findIndex(
        (each, index) => index > 0 && /^\d+$/.test(each) && BigInt(each) > BigInt(amounts[index - 1] ?? 0),
      );
      return [
        ...expecting(
          String(body.token_address).toLowerCase() === path.address,
          `token_address ${path.address}`,
          body.token_address,
        ),
        ...expecting(String(body.chain_id) === path.chain_id, `chain_id ${path.chain_id}`, body.chain_id),
        ...expecting(at < 0, 'balances in descending order', `${amounts[at - 1]} before ${amounts[at]}`),
      ];
    },
  ),
  point(tokenHolders, 'refuses a chain that it does not support', async (judged) => {
    const { path } = await tokenHolders.find(judged);
    const others = (await judged.chains.all()).filter(({ supports }) => !supports.has('token_holders'));
    const found: Finding[] = [];
    for (const chain_id of ['999999999999', 'ethereum', ...others.slice(0, 1).map(({ id }) => String(id))]) {
      const where = { path: { ...path, chain_id }, query: {} };
      found.push(...refusal(await ask(judged, tokenHolders, where), 400, 'coded'));
    }
    return found;
  }),
  point(tokenHolders, 'does not take native', async (judged) => {
    const { path } = await tokenHolders.find(judged);
    const where = { path: { ...path, address: 'native' }, query: {} };
    return refusal(await ask(judged, tokenHolders, where), 400, 'coded');
  }),
  point(tokenHolders, 'answers 404 or no holders for an unknown token', async (judged) => {
    const { path } = await tokenHolders.find(judged);
    const answer = await ask(judged, tokenHolders, { path: { ...path, address: UNUSED }, query: {} });
    if (answer.status !== 200) return refusal(answer, 404, 'coded');
    return expecting(items(tokenHolders, answer).length === 0, 'no holders', answer.text);
  }),
  point(tokenSearch, 'finds a token by its symbol, in any case', async (judged) => {
    const where = await tokenSearch.find(judged);
    const { token } = await findToken(judged, null);
    const query = String(where.query.query);
    const found = async (text: string) =>
      items(tokenSearch, await ask(judged, tokenSearch, where, { query: text, limit: '50' })).map((each) =>
        String(each.address),
      );
    const lower = await found(query.toLowerCase());
    const upper = await found(query.toUpperCase());
    const isFound = lower.includes(String(token.address));
    return [
      ...expecting(isFound || lower.length >= 50, `${token.address} for ${query}`, lower),
      ...expecting(lower.join() === upper.join(), 'the same in upper case', upper),
    ];
  }),
  point(tokenSearch, 'answers an empty list for fewer than 3 characters', async (judged) => {
    const where = await tokenSearch.find(judged);
    const found: unknown[] = [];
    for (const query of ['us', 'u', ' us '])
      found.push(...items(tokenSearch, await ask(judged, tokenSearch, where, { query })));
    return expecting(found.length === 0, 'no tokens', `${found.length}`);
  }),
  point(tokenSearch, 'refuses a missing query', async ({ service }) => {
    const found: Finding[] = [];
    for (const query of [{}, { query: '' }, { query: ' ' }])
      found.push(...refusal(await service.ask(tokenSearch, { query }), 400, 'coded'));
    return found;
  }),
];
