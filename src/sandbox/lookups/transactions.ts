import type { ChainSimulator } from '../chain/simulator.ts';
import { json, type Route, type SandboxResponse } from '../http/http.ts';
import type { ChainReader, Hex, LogEntry, Transaction } from '../types.ts';
import { type Cursors, chainChoice, flag, isoTime, limit, lookupRoute, offset } from './lookup.ts';

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

const quantity = (value: bigint | number) => `0x${value.toString(16)}`;

/** A transaction in the lookup's format. `to` is null when the transaction creates a contract. */
const transactionItem = (simulator: ChainReader, wallet: Hex, transaction: Transaction, decode: boolean) => {
  const decoded = decode ? simulator.decodeCall(transaction) : null;
  return {
    address: wallet,
    block_hash: transaction.blockHash,
    block_number: transaction.blockNumber.toString(),
    block_time: isoTime(transaction.blockTime),
    chain: transaction.chain.name,
    from: transaction.from,
    to: transaction.to,
    data: transaction.data,
    gas_price: quantity(transaction.gasPrice),
    hash: transaction.hash,
    index: transaction.index.toString(),
    nonce: quantity(transaction.nonce),
    transaction_type: quantity(transaction.type),
    value: quantity(transaction.value),
    ...(decoded !== null && { decoded }),
    logs: transaction.logs.map((log) => logItem(simulator, transaction.chain.id, log, decode)),
  };
};

const logItem = (simulator: ChainReader, chainId: number, log: LogEntry, decode: boolean) => {
  const decoded = decode ? simulator.decodeLog(chainId, log) : null;
  return { address: log.address, data: log.data, topics: log.topics, ...(decoded !== null && { decoded }) };
};
