import type { Place } from '../http/query.ts';
import { address, chainChoice, flag, limit, single } from '../http/query.ts';
import type { ChainReader, Hex, LogEntry, Position, Transaction } from '../types.ts';
import { isoTime, type Lookup, scopeOf, warnings } from './lookup.ts';

const MAX_LIMIT = 100;

/** The position that a place names; null for no place. */
export const positionOf = (place: Place | null): Position | null => {
  const [time, order] = place ?? [];
  return typeof time === 'number' && typeof order === 'number' ? { time, order } : null;
};

/** A wallet's transactions, newest first. */
export const transactions: Lookup = {
  path: '/v1/evm/transactions/{address}',
  errors: 'message',
  computeUnits: () => 1,
  answer(asked) {
    const { data, cursors, now, path, query } = asked;
    const requestedAt = now();
    const wallet = address(path.address, 'Invalid address: expected 0x and 40 hexadecimal digits');
    const { chains, unsupported } = chainChoice(query, data.chains, 'transactions');
    const decode = flag(query, 'decode', false);
    const count = limit(query, MAX_LIMIT, MAX_LIMIT);
    const scope = ['transactions', wallet, ...scopeOf(chains)];
    const after = positionOf(cursors.read(scope, single(query, 'offset')));
    const page = data.transactions(wallet, new Set(scopeOf(chains)), count, after);
    const body = {
      wallet_address: wallet,
      transactions: page.transactions.map((transaction) =>
        transactionItem(data, wallet, transaction, decode),
      ),
      ...warnings('Transactions', unsupported, asked),
      ...(page.next !== null && { next_offset: cursors.issue(scope, [page.next.time, page.next.order]) }),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
    };
    return { body, chains: chains.length };
  },
};

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
