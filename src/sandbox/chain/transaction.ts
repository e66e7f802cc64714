import type { SandboxChain } from '../chains.ts';
import { encodeCall, encodeLog } from '../evm/abi.ts';
import { hashOf } from '../evm/random.ts';
import type { UnsignedTransaction } from '../transactions/templates.ts';
import type { Effect, Hex, LogEntry, Transaction } from '../types.ts';

/** A block without its transactions. */
export type BlockHeader = {
  readonly chain: SandboxChain;
  readonly number: number;
  /** Milliseconds since 1970, a whole second as on every chain. */
  readonly time: number;
  /** Makes the hashes of one sandbox differ from those of another. */
  readonly seed: string;
};

/** The properties that a transaction gets when it is mined: its position in the block, its nonce and its fees. */
export type Inclusion = {
  readonly index: number;
  readonly nonce: number;
  readonly gasPrice: bigint;
  readonly effectiveGasPrice: bigint;
  readonly gasUsed: bigint;
  readonly type: number;
};

/**
 * The block's hash. It depends on the time: a restarted sandbox mines the same number at another time, as another
 * block.
 */
export const blockHash = ({ chain, number, time, seed }: BlockHeader): Hex =>
  hashOf(`${seed}/block/${chain.id}/${number}/${time}`);

/**
 * A transaction in its block. Hashes and encodings are computed on first access, because most of the history is never
 * read. That keeps the start fast and the history small.
 */
export class MinedTransaction implements Transaction {
  /** Its position in the order of all transactions of the sandbox. Block times never decrease in that order. */
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

  constructor(order: number, header: BlockHeader, inclusion: Inclusion, unsigned: UnsignedTransaction) {
    this.order = order;
    this.chain = header.chain;
    this.blockNumber = header.number;
    this.blockTime = header.time;
    this.index = inclusion.index;
    this.from = unsigned.from;
    this.to = unsigned.to;
    this.value = unsigned.value;
    this.nonce = inclusion.nonce;
    this.gasPrice = inclusion.gasPrice;
    this.gasUsed = inclusion.gasUsed;
    this.effectiveGasPrice = inclusion.effectiveGasPrice;
    this.type = inclusion.type;
    this.success = unsigned.success;
    this.effects = unsigned.effects;
    this.#unsigned = unsigned;
    this.#seed = header.seed;
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
