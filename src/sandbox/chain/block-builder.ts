import type { SandboxChain } from '../chains.ts';
import { addressOf } from '../evm/address.ts';
import { type Contracts, deploy } from '../evm/contracts.ts';
import type { Random } from '../evm/random.ts';
import { receiveNative } from '../transactions/payments.ts';
import type { Hex } from '../types.ts';
import type { Holdings } from './holdings.ts';
import { Ledger } from './ledger.ts';
import type { TransactionPlan } from './plan.ts';
import { type BlockHeader, MinedTransaction } from './transaction.ts';

const COUNTERPARTIES: readonly Hex[] = Array.from({ length: 240 }, (_, at) => addressOf(`somebody ${at}`));

export type BlockBuilderOptions = {
  readonly chain: SandboxChain;
  readonly seed: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly holdings: Holdings;
  /** The next transaction's position in the order of all chains' transactions. */
  readonly nextOrder: () => number;
};

/** Builds the blocks of one chain: turns planned transactions into mined ones and keeps the chain's ledger. */
export class BlockBuilder {
  readonly chain: SandboxChain;
  readonly contracts: Contracts;
  readonly #options: BlockBuilderOptions;
  readonly #ledger: Ledger;
  #last = { number: 0, index: 0 };

  constructor(options: BlockBuilderOptions) {
    this.chain = options.chain;
    this.contracts = deploy(options.chain, options.startedAt);
    this.#options = options;
    const reserves = new Set([this.contracts.pool, this.contracts.wrapped.address]);
    this.#ledger = new Ledger(options.chain, options.holdings, options.seed, (account) =>
      reserves.has(account),
    );
  }

  /**
   * Mines the planned transactions of a block. Blocks come in the order of their numbers; one may come in several
   * parts.
   */
  mine(
    number: number,
    time: number,
    plans: readonly TransactionPlan[],
    random: Random,
  ): readonly MinedTransaction[] {
    const { seed, nextOrder } = this.#options;
    const header: BlockHeader = { chain: this.chain, number, time, seed };
    return plans.map((plan) => this.#transaction(nextOrder(), header, plan, random));
  }

  #transaction(
    order: number,
    header: BlockHeader,
    { wallet, template }: TransactionPlan,
    random: Random,
  ): MinedTransaction {
    const context = {
      chain: this.chain,
      contracts: this.contracts,
      ledger: this.#ledger,
      random,
      time: header.time,
      counterparties: COUNTERPARTIES,
    };
    const unsigned = template(context, wallet) ?? receiveNative(context, wallet);
    if (unsigned === null) throw new Error('expected a counterparty with a balance, got none');
    const gasPrice = (this.chain.gasPriceWei * BigInt(random.between(80, 240))) / 100n;
    const inclusion = {
      index: this.#nextIndex(header.number, random),
      nonce: this.#ledger.nextNonce(unsigned.from),
      gasPrice,
      effectiveGasPrice: (gasPrice * BigInt(random.between(70, 100))) / 100n,
      gasUsed: unsigned.gas === 21_000 ? 21_000n : BigInt(unsigned.gas + random.between(0, 4_000)),
      type: random.weighted([
        [2, 8],
        [0, 2],
        [1, 0.3],
      ]),
    };
    return new MinedTransaction(order, header, inclusion, unsigned);
  }

  /** The next transaction's position in the block. The gaps stand for other wallets' transactions. */
  #nextIndex(number: number, random: Random): number {
    const index =
      number === this.#last.number ? this.#last.index + random.between(1, 9) : random.between(0, 40);
    this.#last = { number, index };
    return index;
  }
}
