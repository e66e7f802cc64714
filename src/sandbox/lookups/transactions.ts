import type { ChainSimulator } from '../chain/simulator.ts';
import type { Route, SandboxResponse } from '../http/route.ts';
import { json } from '../http/route.ts';
import type { Hex } from '../types.ts';
import type { Cursors } from './cursors.ts';
import { isoTime, lookupRoute } from './lookup.ts';
import { chainChoice, flag, limit, offset } from './query.ts';
import { transactionItem } from './transaction-item.ts';

const MAX_LIMIT = 100;
const COMPUTE_UNITS = 1;

export type LookupOptions = {
  readonly simulator: ChainSimulator;
  readonly cursors: Cursors;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

export const createTransactionsRoute = ({ simulator, cursors, now }: LookupOptions): Route => {
  const answer = (wallet: Hex, query: URLSearchParams): SandboxResponse => {
    const requestedAt = now();
    const { chains, unsupported } = chainChoice(query);
    const decode = flag(query, 'decode', false);
    const count = limit(query, MAX_LIMIT, MAX_LIMIT);
    const chainIds = new Set(chains.map((chain) => chain.id));
    const scope = ['transactions', wallet, ...[...chainIds].sort((a, b) => a - b)];
    const page = simulator.transactions(wallet, chainIds, count, cursors.read(scope, offset(query)));
    const body = {
      wallet_address: wallet,
      transactions: page.transactions.map((transaction) =>
        transactionItem(simulator, wallet, transaction, decode),
      ),
      ...(unsupported.length > 0 && { warnings: [unsupportedChains(unsupported)] }),
      ...(page.next !== null && { next_offset: cursors.issue(scope, page.next) }),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
    };
    return json(200, body, COMPUTE_UNITS);
  };
  return lookupRoute({
    prefix: '/v1/evm/transactions/',
    errorMember: 'message',
    answer: (wallet, { query }) => answer(wallet, query),
  });
};

const unsupportedChains = (chainIds: readonly number[]) => ({
  code: 'UNSUPPORTED_CHAIN_IDS',
  message: `Unsupported chain ids: ${chainIds.join(', ')}. The other chains are answered for.`,
  chain_ids: chainIds,
});
