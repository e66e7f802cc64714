import type { SandboxChain } from '../chains.ts';
import { encodeCall, encodeLog } from '../evm/abi.ts';
import { hashOf } from '../evm/address.ts';
import type { UnsignedTransaction } from '../transactions/unsigned-transaction.ts';
import type { Effect, Hex, LogEntry, Transaction } from '../types.ts';

/** A block before its transactions are known. */
export type Place = {
  readonly chain: SandboxChain;
  readonly number: number;
  /** Milliseconds since 1970, whole seconds as on every chain. */
  readonly time: number;
  /** Tells one sandbox's hashes from another's. */
  readonly seed: string;
};

/** Fees and nonce, and where in its block a transaction stands. */
export type Terms = {
  readonly index: number;
  readonly nonce: number;
  readonly gasPrice: bigint;
  readonly effectiveGasPrice: bigint;
  readonly gasUsed: bigint;
  readonly type: number;
};

/** The hash holds the time: a restarted sandbox mines the same number at another time, which is another block. */
export const blockHash = ({ chain, number, time, seed }: Place): Hex =>
  hashOf(`${seed}/block/${chain.id}/${number}/${time}`);

/**
 * A transaction in its block. Hashes and encodings are made when they are first looked at, since most of the history
 * never is: that keeps the start fast and the history small.
 */
export class MinedTransaction implements Transaction {
  /** Its place in the order of all transactions of the sandbox; block times never fall along it. */
  readonly order: number;
  readonly chain: SandboxChain;
  readonly blockNumber: number;
  readonly blockTime: number;
  readonly index: number;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly value: bigint;
  readonly nonce: number;
  readonly gasPrice: bigint;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  readonly type: number;
  readonly success: boolean;
  readonly effects: readonly Effect[];
  readonly #unsigned: UnsignedTransaction;
  readonly #seed: string;
  #blockHash: Hex | undefined;
  #hash: Hex | undefined;
  #data: Hex | undefined;
  #logs: readonly LogEntry[] | undefined;

  constructor(order: number, place: Place, terms: Terms, unsigned: UnsignedTransaction) {
    this.order = order;
    this.chain = place.chain;
    this.blockNumber = place.number;
    this.blockTime = place.time;
    this.index = terms.index;
    this.from = unsigned.from;
    this.to = unsigned.to;
    this.value = unsigned.value;
    this.nonce = terms.nonce;
    this.gasPrice = terms.gasPrice;
    this.gasUsed = terms.gasUsed;
    this.effectiveGasPrice = terms.effectiveGasPrice;
    this.type = terms.type;
    this.success = unsigned.success;
    this.effects = unsigned.effects;
    this.#unsigned = unsigned;
    this.#seed = place.seed;
  }

  get blockHash(): Hex {
    const { chain, blockNumber: number, blockTime: time } = this;
    this.#blockHash ??= blockHash({ chain, number, time, seed: this.#seed });
    return this.#blockHash;
  }

  get hash(): Hex {
    this.#hash ??= hashOf(`${this.blockHash}/transaction/${this.index}`);
    return this.#hash;
  }

  get data(): Hex {
    const { call } = this.#unsigned;
    this.#data ??= typeof call === 'string' ? call : encodeCall(call.method, call.args);
    return this.#data;
  }

  get logs(): readonly LogEntry[] {
    this.#logs ??= this.#unsigned.logs.map((log) =>
      'event' in log ? encodeLog(log.address, log.event, log.args) : log,
    );
    return this.#logs;
  }
}
