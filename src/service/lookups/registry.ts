import type { Operation } from '../http/http.ts';
import { pictures } from '../http/pictures.ts';
import { CHAIN_LOOKUPS } from '../types.ts';
import { balance, balances, stablecoins } from './balances.ts';
import { collectibles } from './collectibles.ts';
import { defiPositions, supportedProtocols } from './defi.ts';
import { activity, transactions } from './history.ts';
import { type Lookup, operationOf, type Service } from './lookup.ts';
import { searchTokens, tokenHolders, tokenInfo } from './tokens.ts';

/** The chains and what each supports. The list needs no key and costs nothing. */
const supportedChains: Lookup = {
  path: '/v1/evm/supported-chains',
  needsKey: false,
  errors: 'error',
  computeUnits: () => 0,
  answer({ data }) {
    const chains = data.chains.map(({ id, name, tags, unsupported }) => ({
      name,
      chain_id: id,
      tags,
      ...Object.fromEntries(
        CHAIN_LOOKUPS.map((lookup) => [lookup, { supported: !unsupported.includes(lookup) }]),
      ),
    }));
    return { body: { chains }, chains: 0 };
  },
};

/** Every lookup: its path, its price, its errors and its answer. Routes and statistics are made from this list. */
export const LOOKUPS: readonly Lookup[] = [
  transactions,
  collectibles,
  balances,
  stablecoins,
  balance,
  activity,
  tokenInfo,
  tokenHolders,
  searchTokens,
  defiPositions,
  supportedProtocols,
  supportedChains,
];

/** All operations under `/v1/evm`. */
export const createOperations = (service: Service): readonly Operation[] => [
  ...LOOKUPS.map((lookup) => operationOf(lookup, service)),
  ...pictures(service.data),
];
