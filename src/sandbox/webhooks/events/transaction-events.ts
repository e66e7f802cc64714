import type { ChainReader, Hex, Transaction } from '../../types.ts';
import { assetsOf, blockTime } from './assets.ts';
import type { TransactionEvent } from './event.ts';

const hex = (quantity: bigint | number): string => `0x${quantity.toString(16)}`;

const item = (
  simulator: ChainReader,
  transaction: Transaction,
  address: Hex,
  side: 'Sender' | 'Receiver',
) => ({
  address,
  block_hash: transaction.blockHash,
  block_number: transaction.blockNumber,
  block_time: blockTime(transaction.blockTime),
  chain: transaction.chain.name,
  chain_id: transaction.chain.id,
  data: transaction.data,
  decoded: simulator.decodeCall(transaction) ?? undefined,
  effective_gas_price: hex(transaction.effectiveGasPrice),
  from: transaction.from,
  gas_price: hex(transaction.gasPrice),
  gas_used: hex(transaction.gasUsed),
  hash: transaction.hash,
  index: transaction.index,
  logs: transaction.logs.map((log) => ({
    address: log.address,
    data: log.data,
    topics: log.topics,
    decoded: simulator.decodeLog(transaction.chain.id, log) ?? undefined,
  })),
  nonce: hex(transaction.nonce),
  success: transaction.success,
  to: transaction.to,
  transaction_type: side,
  value: hex(transaction.value),
});

/** The transaction events of its sender and its recipient, also when it failed. Recipients of its tokens have none. */
export function* transactionEvents(
  simulator: ChainReader,
  transaction: Transaction,
): Generator<TransactionEvent> {
  const { from, to } = transaction;
  const assets = assetsOf(simulator, transaction);
  yield {
    type: 'transactions',
    address: from,
    side: 'sender',
    counterparty: to,
    alsoSender: false,
    assets,
    item: () => item(simulator, transaction, from, 'Sender'),
  };
  if (to === null) return;
  yield {
    type: 'transactions',
    address: to,
    side: 'receiver',
    counterparty: from,
    alsoSender: from === to,
    assets,
    item: () => item(simulator, transaction, to, 'Receiver'),
  };
}
