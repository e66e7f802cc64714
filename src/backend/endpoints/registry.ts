import { CHANGES_PATH } from '../changes.ts';
import type { Operation } from '../http/http.ts';
import type { ChainData, ChainStatus, CostlyDetail } from '../source.ts';
import { CHAIN_LOOKUPS, type Chain, type ExplorerPages, type NativeAsset } from '../types.ts';
import { approvals } from './approvals.ts';
import { isoSeconds } from './assets.ts';
import { balance, balances, stablecoins } from './balances.ts';
import { collectibles } from './collectibles.ts';
import { defiPositions, supportedProtocols } from './defi.ts';
import { activity, transaction, transactions } from './history.ts';
import { type Lookup, operationOf, type Service } from './lookup.ts';
import { name } from './names.ts';
import { searchTokens, tokenHolders, tokenInfo, unknownHolders } from './tokens.ts';

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

const explorerOf = ({ name, url }: ExplorerPages) => ({ name, ...(url !== null && { url }) });

const optionalOf = ({ detail, page }: CostlyDetail) => ({ name: detail, ...(page !== null && { page }) });

/** Says why a late start leaves token holders unsupported. */
const lateHolders = (data: ChainData, chain: Chain): object => {
  const beginning = data.beginning(chain.id);
  if (beginning === null || !chain.unsupported.includes('token_holders')) return {};
  return { token_holders: { supported: false, reason: unknownHolders(chain, beginning) } };
};

/**
 * The chains and what each supports. The list needs no key and costs nothing. Where nothing costs anything, it says so, and where
 * changes are told; and which details of transactions cost time, so that clients say where they don't need them, with the most
 * transactions of a page that has them.
 */
const supportedChains: Lookup = {
  path: '/v1/evm/supported-chains',
  needsKey: false,
  errors: 'error',
  computeUnits: () => 0,
  answer({ data }) {
    const statuses = new Map(data.status().map((status) => [status.chainId, status]));
    const chains = data.chains.map((chain) => ({
      name: chain.name,
      chain_id: chain.id,
      tags: chain.tags,
      native: nativeOf(chain.native, data.logo(chain.id, null)),
      ...(chain.explorer && { explorer: explorerOf(chain.explorer) }),
      ...Object.fromEntries(
        CHAIN_LOOKUPS.map((lookup) => [lookup, { supported: !chain.unsupported.includes(lookup) }]),
      ),
      webhooks: { supported: chain.webhooks },
      ...lateHolders(data, chain),
      ...indexOf(statuses.get(chain.id)),
    }));
    return {
      body: {
        chains,
        ...(data.changes !== null && { free: true, changes: CHANGES_PATH }),
        ...(data.costly.length > 0 && { optional: data.costly.map(optionalOf) }),
      },
      chains: 0,
    };
  },
};

/** Every lookup: its path, its price, its errors and its answer. Routes and statistics are made from this list. */
export const LOOKUPS: readonly Lookup[] = [
  transactions,
  transaction,
  collectibles,
  approvals,
  name,
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
