import { checksum } from 'ox/Address';
import { address, asset, chainChoice, hoursAgo, limit, oneChain, Refused, single } from '../http/query.ts';

import type { Beginning } from '../source.ts';
import type { Chain, Hex } from '../types.ts';
import { isoSeconds, knownAsset } from './assets.ts';
import { priceHistory } from './balances.ts';
import { type Lookup, lacking, paged, type Service, scopeOf, unreadable, warnings } from './lookup.ts';

/**
 * A token in the format of token info. Amounts and values of the supply are those of ERC-20s alone; of an NFT contract it says
 * what it is called.
 */
const tokenItem = async (
  service: Service,
  chain: Chain,
  token: Hex | null,
  hours: readonly number[] | null,
) => {
  const { data, now } = service;
  // A token that the source has not met is known once it is asked.
  const supply = await data.supply(chain.id, token);
  const known = knownAsset(data, chain, token, now());
  if (known === null || (known.standard === 'erc20' && supply === null))
    throw new Refused(404, 'Token not found');
  const { symbol, name, decimals, logo, priceUsd, poolSizeUsd, marketCapUsd } = known;
  const value = priceUsd === null || supply === null ? null : (Number(supply) / 10 ** decimals) * priceUsd;
  return {
    chain: chain.name,
    chain_id: chain.id,
    ...(priceUsd !== null && { price_usd: priceUsd, ...priceHistory(service, chain, token, hours) }),
    symbol,
    name,
    decimals,
    ...(poolSizeUsd !== null && { pool_size: poolSizeUsd }),
    ...(supply !== null && { total_supply: supply.toString() }),
    ...(value !== null && { fully_diluted_value: value }),
    ...(marketCapUsd !== null && { market_cap: marketCapUsd }),
    ...(logo !== null && { logo }),
  };
};

/** One token, native or ERC-20, on exactly one chain. */
export const tokenInfo: Lookup = {
  path: '/v1/evm/token-info/{address}',
  errors: 'text',
  numbers: 'fifteen digits',
  computeUnits: (chains) => (chains === 0 ? 0 : 2),
  async answer(asked) {
    const { data, path, query } = asked;
    const token = asset(path.address, 'Invalid address: expected a hex-encoded address');
    const { chains, unsupported } = oneChain(query, data.chains, 'token_info');
    const [unknown] = unsupported.filter((each) => !data.chains.some(({ id }) => id === each));
    if (unknown !== undefined) throw new Refused(400, `Invalid chain id: ${unknown}`);
    const hours = hoursAgo(query);
    const body = {
      contract_address: token ?? 'native',
      tokens: await Promise.all(chains.map((chain) => tokenItem(asked, chain, token, hours))),
      ...warnings('Tokens', unsupported, asked),
    };
    return { body, chains: chains.length };
  },
};

const MAX_HOLDERS = 500;

/** The service writes some addresses in the mixed case of EIP-55, and others in lower case. */
const mixedCase = (account: Hex): string => (/[02468ace]$/.test(account) ? checksum(account) : account);

/** Why the holders of a chain's tokens are not known. */
export const unknownHolders = (chain: Chain, beginning: Beginning): string =>
  `${lacking(chain, beginning)}: the holders of tokens are not known`;

/** The holders of one ERC-20, the greatest first. An offset is the last balance, so that pages shift with balances. */
export const tokenHolders: Lookup = {
  path: '/v1/evm/token-holders/{chain_id}/{address}',
  errors: 'coded',
  computeUnits: () => 2,
  async answer(asked) {
    const { data, path, query } = asked;
    const chain = data.chains.find(({ id }) => String(id) === path.chain_id);
    const beginning = chain === undefined ? null : data.beginning(chain.id);
    if (chain !== undefined && beginning !== null)
      throw new Refused(beginning.isLate ? 400 : 503, unknownHolders(chain, beginning));
    if (chain === undefined || chain.unsupported.includes('token_holders'))
      throw new Refused(400, `Unsupported chain id: ${path.chain_id}`);
    const token = address(path.address, 'Invalid token address');
    const count = limit(query, MAX_HOLDERS, MAX_HOLDERS);
    let isWhole = true;
    const { page, next } = await paged(asked, ['holders', chain.id, token], {
      limit: count,
      async ask(wanted) {
        const holders = await data.holders(chain.id, token, wanted);
        if (holders === null) throw new Refused(404, 'Token not found');
        if (!holders.isWhole) isWhole = false;
        return holders;
      },
      choose: (holders) => holders,
      placeOf: ({ place }) => place,
    });
    const ordered = isWhole ? page : page.toSorted((one, other) => (one.amount > other.amount ? -1 : 1));
    const items = ordered.map(({ account, amount, acquiredAt, hasSent }) => ({
      wallet_address: mixedCase(account),
      balance: amount.toString(),
      ...(acquiredAt !== null && { first_acquired: isoSeconds(acquiredAt) }),
      ...(hasSent !== null && { has_initiated_transfer: hasSent }),
    }));
    const body = {
      ...{ token_address: token, chain_id: chain.id, holders: items },
      ...next,
      ...warnings('Holders', [], asked, isWhole ? [] : [unverified(chain)]),
    };
    return { body, chains: 1 };
  },
};

/** What a list of holders is where balances change without events. */
const unverified = ({ id }: Chain) => ({
  code: 'UNVERIFIED_HOLDERS',
  message:
    'Events do not say, or not yet, what all accounts have of this token. Those listed have what its contract says, but holders may be missing, and the order is that of its events.',
  chain_ids: [id],
});

const SEARCH = { default: 10, most: 50, shortest: 3 };

/** The page size of a search, which is clamped at both ends. */
const searchLimit = (query: URLSearchParams): number => {
  const value = single(query, 'limit');
  if (value === null) return SEARCH.default;
  if (!/^-?\d+$/.test(value)) throw new Refused(400, 'Invalid limit: expected a whole number');
  return Math.min(Math.max(Number(value), 1), SEARCH.most);
};

/** ERC-20s by their symbols and names. The answer is a bare list, the best match first; with warnings, an object that has it. */
export const searchTokens: Lookup = {
  path: '/v1/evm/search/tokens',
  errors: 'coded',
  computeUnits: () => 2,
  async answer({ data, query }) {
    const wanted = (single(query, 'query') ?? '').trim();
    if (wanted === '') throw new Refused(400, 'Missing query: expected the symbol or the name of a token');
    const { chains } = chainChoice(query, data.chains, null, 'all');
    const count = searchLimit(query);
    if (wanted.length < SEARCH.shortest) return { body: [], chains: chains.length };
    const { tokens, failed } = await data.search(wanted, new Set(scopeOf(chains)), count);
    const unsearched = unreadable('The tokens', chains, tokens, failed);
    const found = tokens.map((token) => ({
      chain_id: token.chain.id,
      address: token.address,
      token_type: 'ERC20',
      symbol: token.symbol,
      name: token.name,
      logo: data.logo(token.chain.id, token.address),
      decimals: token.decimals,
    }));
    const body = unsearched.length === 0 ? found : { tokens: found, warnings: unsearched };
    return { body, chains: chains.length };
  },
};
