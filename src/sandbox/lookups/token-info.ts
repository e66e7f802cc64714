import { asset, hoursAgo, oneChain, Refused } from '../http/query.ts';
import type { Chain, Hex } from '../types.ts';
import { knownAsset } from './assets.ts';
import { priceHistory } from './balances.ts';
import { type Lookup, type Service, warnings } from './lookup.ts';

/** A token in the format of token info. Amounts and values of the supply are those of ERC-20s alone. */
const tokenItem = (service: Service, chain: Chain, token: Hex | null, hours: readonly number[] | null) => {
  const { data, now } = service;
  const known = knownAsset(data, chain, token, now());
  const supply = token === null ? null : data.supply(chain.id, token);
  if (known === null || (token !== null && supply === null)) throw new Refused(404, 'Token not found');
  const { symbol, name, decimals, logo, priceUsd, poolSizeUsd } = known;
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
    ...(logo !== null && { logo }),
  };
};

/** One token, native or ERC-20, on exactly one chain. */
export const tokenInfo: Lookup = {
  path: '/v1/evm/token-info/{address}',
  errors: 'text',
  numbers: 'fifteen digits',
  computeUnits: (chains) => (chains === 0 ? 0 : 2),
  answer(asked) {
    const { data, path, query } = asked;
    const token = asset(path.address, 'Invalid address: expected a hex-encoded address');
    const { chains, unsupported } = oneChain(query, data.chains, 'token_info');
    const [unknown] = unsupported.filter((each) => !data.chains.some(({ id }) => id === each));
    if (unknown !== undefined) throw new Refused(400, `Invalid chain id: ${unknown}`);
    const hours = hoursAgo(query);
    const body = {
      contract_address: token ?? 'native',
      tokens: chains.map((chain) => tokenItem(asked, chain, token, hours)),
      ...warnings('Tokens', unsupported, asked),
    };
    return { body, chains: chains.length };
  },
};
