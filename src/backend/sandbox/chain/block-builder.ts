import type { Effect, Hex, LogEntry, Transaction } from '../../types.ts';
import { encodeCall, encodeLog } from '../abi.ts';
import { CHAINS, type SandboxChain } from '../chains.ts';
import { type Contracts, deploy } from '../contracts.ts';
import { addressOf, hashOf, Random } from '../random.ts';
import { mintLatest } from '../transactions/nfts.ts';
import { DISTRIBUTOR, SCRIPTED } from '../transactions/odd-wallets.ts';
import { receiveNative } from '../transactions/payments.ts';
import type { TransactionTemplate, UnsignedTransaction } from '../transactions/templates.ts';
import { type Genesis, type Holdings, Ledger } from './ledger.ts';
import { EARLY_ADOPTER, WALLET_PROFILES } from './wallet-profiles.ts';

/** The fixed addresses that the demo wallets transact with. */
export const COUNTERPARTIES: readonly Hex[] = Array.from({ length: 240 }, (_, at) =>
  addressOf(`somebody ${at}`),
);

export type BlockBuilderOptions = {
  readonly chain: SandboxChain;
  readonly seed: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly holdings: Holdings;
  /** The next transaction's position in the order of all chains' transactions. */
  readonly nextOrder: () => number;
};

/** What the accounts of a chain start with. The wallets of odd cases start with nothing. */
const genesisOf = ({ wrapped, coins, pool, marketplace, registrar }: Contracts): Genesis => {
  const wallets = WALLET_PROFILES.filter(({ chainIds }) => chainIds.includes(wrapped.chain.id));
  const reserves = [pool, wrapped.address, DISTRIBUTOR];
  const traders = [...wallets.map(({ wallet }) => wallet), ...COUNTERPARTIES, marketplace, registrar];
  const accounts = new Set([...traders, ...reserves]);
  return { time: HISTORY_START, coins, accounts, reserves: new Set(reserves) };
};

/** Builds the blocks of one chain: turns planned transactions into mined ones and keeps the chain's ledger. */
export class BlockBuilder {
  readonly chain: SandboxChain;
  readonly contracts: Contracts;
  readonly ledger: Ledger;
  readonly #options: BlockBuilderOptions;
  #last = { number: 0, index: 0 };

  constructor(options: BlockBuilderOptions) {
    this.chain = options.chain;
    this.contracts = deploy(options.chain, options.startedAt);
    this.#options = options;
    this.ledger = new Ledger(options.chain, options.holdings, options.seed, genesisOf(this.contracts));
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
      ledger: this.ledger,
      random,
      time: header.time,
      counterparties: COUNTERPARTIES,
    };
    const unsigned = template(context, wallet) ?? receiveNative(context, wallet);
    if (unsigned === null) throw new Error('expected a counterparty with a balance, got none');
    const gasPrice = (this.chain.gasPriceWei * BigInt(random.between(80, 240))) / 100n;
    const inclusion = {
      index: this.#nextIndex(header.number, random),
      nonce: this.ledger.nextNonce(unsigned.from),
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

/** The history lies between these times, whenever the sandbox starts, so that each start has the same history. */
const HISTORY_START = Date.UTC(2024, 1, 1);
const HISTORY_END = Date.UTC(2026, 0, 1);

/** A transaction before it is made: the wallet and the template of what it does. */
type TransactionPlan = { readonly wallet: Hex; readonly template: TransactionTemplate };

/** A planned transaction with its block. */
export type PlannedTransaction = TransactionPlan & {
  readonly chain: SandboxChain;
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Random numbers of its own. Default: those that the history shares. */
  readonly random?: Random;
};

/** The number of a chain's newest block at a time, in milliseconds since 1970. */
export const heightAt = ({ height, intervalMs }: SandboxChain, time: number): number =>
  height + Math.floor((time - HISTORY_END) / intervalMs);

const timeOf = ({ height, intervalMs }: SandboxChain, number: number): number =>
  Math.floor((HISTORY_END + (number - height) * intervalMs) / 1000) * 1000;

/** The transactions of every demo wallet up to the end of the history, or up to `now` if that is earlier; oldest first. */
export const planHistory = (seed: string, now: number): readonly PlannedTransaction[] => {
  const chains = new Map(CHAINS.map((chain) => [chain.id, chain]));
  const plans = WALLET_PROFILES.flatMap(({ wallet, chainIds, pastTransactions, templates }) => {
    const random = new Random(`${seed}/history/${wallet}`);
    return Array.from({ length: pastTransactions }, (): PlannedTransaction => {
      const chain = chains.get(random.pick(chainIds));
      if (chain === undefined)
        throw new Error(`expected existing chains for the wallet ${wallet}, got ${chainIds}`);
      const number = heightAt(chain, random.between(HISTORY_START, HISTORY_END - 1));
      return { wallet, chain, number, time: timeOf(chain, number), template: random.weighted(templates) };
    });
  });
  return [...plans, ...planScripts(seed, chains)]
    .filter(({ time }) => time <= now)
    .sort((a, b) => a.time - b.time || a.chain.id - b.chain.id || a.number - b.number);
};

const SCRIPTS_START = Date.UTC(2025, 4, 1);
const SCRIPTS_STEP_MS = 12 * 3_600_000;

/** The transactions of the wallets that show odd cases, one after the other. */
const planScripts = (
  seed: string,
  chains: ReadonlyMap<number, SandboxChain>,
): readonly PlannedTransaction[] =>
  SCRIPTED.flatMap(({ wallet, chainId, template }, at) => {
    const chain = chains.get(chainId);
    if (chain === undefined) throw new Error(`expected an existing chain for ${wallet}, got ${chainId}`);
    const number = heightAt(chain, SCRIPTS_START + at * SCRIPTS_STEP_MS);
    const random = new Random(`${seed}/scripted/${at}`);
    return [{ wallet, chain, number, time: timeOf(chain, number), template, random }];
  });

/** The transactions of a live block. They depend on the seed, the chain and the block's number, not on the time. */
export const planBlock = (chainId: number, isFirst: boolean, random: Random): readonly TransactionPlan[] => {
  const plans = WALLET_PROFILES.filter(
    ({ chainIds, liveProbability }) => chainIds.includes(chainId) && random.chance(liveProbability),
  ).map(({ wallet, templates }): TransactionPlan => ({ wallet, template: random.weighted(templates) }));
  return isFirst ? [{ wallet: EARLY_ADOPTER, template: mintLatest }, ...plans] : plans;
};

/** The random numbers of a live block. */
export const blockRandom = (seed: string, chainId: number, number: number): Random =>
  new Random(`${seed}/live/${chainId}/${number}`);

/** A block without its transactions. */
type BlockHeader = {
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
  readonly created: Hex | null;
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
    this.created = unsigned.created ?? null;
    this.effects = unsigned.effects;
    this.#unsigned = unsigned;
    this.#seed = header.seed;
  }

  get fee(): bigint {
    return this.gasUsed * this.effectiveGasPrice;
  }

  /** The data of the error that it reverted with; null where it succeeded. */
  get revert(): Hex | null {
    return this.success ? null : (this.#unsigned.revert ?? '0x');
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
