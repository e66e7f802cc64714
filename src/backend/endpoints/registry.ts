import type { Operation } from '../http/http.ts';
import type { ChainStatus } from '../source.ts';
import { CHAIN_LOOKUPS, type NativeAsset } from '../types.ts';
import { isoSeconds } from './assets.ts';
import { balance, balances, stablecoins } from './balances.ts';
import { collectibles } from './collectibles.ts';
import { defiPositions, supportedProtocols } from './defi.ts';
import { activity, transactions } from './history.ts';
import { type Lookup, operationOf, type Service } from './lookup.ts';
import { searchTokens, tokenHolders, tokenInfo } from './tokens.ts';

/** The progress of an index on a chain; nothing for simulated chains. */
export const indexOf = (status: ChainStatus | undefined): object => {
  if (status === undefined) return {};
  const { index, problem } = status;
  return {
    index: {
      ...(index !== null && { ...index, headTime: isoSeconds(index.headTime) }),
      ...(problem !== null && { problem }),
    },
  };
};

/** The chain's own currency, which no item of a lookup describes as a whole. */
const nativeOf = ({ symbol, name, decimals }: NativeAsset, logo: string | null) => ({
  symbol,
  name,
  decimals,
  ...(logo !== null && { logo }),
});

/** The chains and what each supports. The list needs no key and costs nothing. */
const supportedChains: Lookup = {
  path: '/v1/evm/supported-chains',
  needsKey: false,
  errors: 'error',
  computeUnits: () => 0,
  answer({ data }) {
    const statuses = new Map(data.status().map((status) => [status.chainId, status]));
    const chains = data.chains.map(({ id, name, tags, native, unsupported }) => ({
      name,
      chain_id: id,
      tags,
      native: nativeOf(native, data.logo(id, null)),
      ...Object.fromEntries(
        CHAIN_LOOKUPS.map((lookup) => [lookup, { supported: !unsupported.includes(lookup) }]),
      ),
      ...indexOf(statuses.get(id)),
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
export const createOperations = (service: Service): readonly Operation[] =>
  LOOKUPS.map((lookup) => operationOf(lookup, service));
