import type { ChainReader, Hex, LogEntry, Transaction } from '../types.ts';
import { isoTime } from './lookup.ts';

const quantity = (value: bigint | number) => `0x${value.toString(16)}`;

/** A transaction in the lookup's format. `to` is null when the transaction creates a contract. */
export const transactionItem = (
  simulator: ChainReader,
  wallet: Hex,
  transaction: Transaction,
  decode: boolean,
) => {
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
