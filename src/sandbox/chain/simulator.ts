import { CHAINS } from '../chains.ts';
import { DEMO_WALLETS } from '../demo-wallets.ts';
import { decodeCall, decodeLog } from '../evm/abi.ts';
import type { Collection } from '../evm/collections.ts';
import { Random } from '../evm/random.ts';
import type { Block, ChainReader, Decoded, Hex, LogEntry, Token, Transaction } from '../types.ts';
import { BlockBuilder, blockRandom, heightAt, planBlock, planHistory } from './block-builder.ts';
import { type Holding, Holdings } from './ledger.ts';
import { blockHash } from './transaction.ts';
import { type Page, type Position, TransactionStore } from './transaction-store.ts';

export type ChainSimulatorOptions = {
  readonly seed: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The URL of a fungible asset's logo. Default: there are no logos. */
  readonly logoUrl?: (chainId: number, token: Hex | null) => string;
};

/** Simulates all chains and their wallets: a history that depends only on the seed, and live blocks on top of it. */
export class ChainSimulator implements ChainReader {
  readonly chains = CHAINS;
  readonly #options: ChainSimulatorOptions;
  readonly #holdings: Holdings;
  readonly #transactions: TransactionStore;
  readonly #builders: ReadonlyMap<number, BlockBuilder>;
  readonly #heights = new Map<number, number>();
  readonly #listeners = new Set<(block: Block) => void>();
  #order = 0;
  #lastTime = 0;

  constructor(options: ChainSimulatorOptions) {
    this.#options = options;
    const wallets = DEMO_WALLETS.map(({ address }) => address);
    this.#holdings = new Holdings(wallets);
    this.#transactions = new TransactionStore(wallets);
    const shared = {
      seed: options.seed,
      startedAt: options.now(),
      holdings: this.#holdings,
      nextOrder: () => this.#order++,
    };
    this.#builders = new Map(CHAINS.map((chain) => [chain.id, new BlockBuilder({ ...shared, chain })]));
    this.#playHistory(shared.startedAt);
  }

  token(chainId: number, address: Hex): Token | null {
    return this.#builders.get(chainId)?.contracts.tokens.get(address) ?? null;
  }

  /** The logo of the native asset or an ERC-20; null for an NFT, which has an image instead. */
  logo(chainId: number, token: Hex | null): string | null {
    const isFungible = token === null || this.token(chainId, token)?.standard === 'erc20';
    return isFungible ? (this.#options.logoUrl?.(chainId, token) ?? null) : null;
  }

  /** Null for a contract that is no NFT collection. Spam collections are described as well. */
  collection(chainId: number, address: Hex): Collection | null {
    return this.#builders.get(chainId)?.contracts.nfts.get(address) ?? null;
  }

  decodeCall({ chain, to, data }: Transaction): Decoded | null {
    const abi = to === null ? undefined : this.#builders.get(chain.id)?.contracts.abis.get(to);
    const called = Object.values(abi ?? {}).find(
      (item) => 'selector' in item && data.startsWith(item.selector),
    );
    return called !== undefined && 'selector' in called ? decodeCall(called, data) : null;
  }

  decodeLog(chainId: number, log: LogEntry): Decoded | null {
    const abi = this.#builders.get(chainId)?.contracts.abis.get(log.address);
    const emitted = Object.values(abi ?? {}).find((item) => 'topic' in item && item.topic === log.topics[0]);
    return emitted !== undefined && 'topic' in emitted ? decodeLog(emitted, log) : null;
  }

  transactions(wallet: Hex, chainIds: ReadonlySet<number>, limit: number, after: Position | null): Page {
    return this.#transactions.page(wallet, chainIds, limit, after);
  }

  /** The NFTs of a wallet, the most recently acquired first. */
  holdings(wallet: Hex): readonly Holding[] {
    return this.#holdings.of(wallet).toReversed();
  }

  /** Calls the listener with each block once it is mined. The returned function removes the listener. */
  onBlock(listener: (block: Block) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Makes the next block of a chain at the current time.
   * @throws when there is no such chain.
   */
  mine(chainId: number): Block {
    const builder = this.#builders.get(chainId);
    if (builder === undefined)
      throw new Error(`expected the id of one of the sandbox's chains, got ${chainId}`);
    const { chain } = builder;
    const { seed, now } = this.#options;
    // Block times are whole seconds. They never decrease, also when the clock is set back.
    this.#lastTime = Math.max(this.#lastTime, Math.floor(now() / 1000) * 1000);
    const time = this.#lastTime;
    const before = this.#heights.get(chainId);
    const number = (before ?? heightAt(chain, time)) + 1;
    this.#heights.set(chainId, number);
    const random = blockRandom(seed, chainId, number);
    const transactions = builder.mine(number, time, planBlock(chainId, before === undefined, random), random);
    for (const transaction of transactions) this.#transactions.addLive(transaction);
    const block = { chain, number, time, hash: blockHash({ chain, number, time, seed }), transactions };
    for (const listener of this.#listeners) listener(block);
    return block;
  }

  /** Makes the next block of every chain that has live blocks. */
  tick(): readonly Block[] {
    return this.chains.filter((chain) => chain.live).map((chain) => this.mine(chain.id));
  }

  #playHistory(now: number): void {
    const random = new Random(`${this.#options.seed}/history`);
    for (const planned of planHistory(this.#options.seed, now)) {
      const transactions =
        this.#builders.get(planned.chain.id)?.mine(planned.number, planned.time, [planned], random) ?? [];
      for (const transaction of transactions) this.#transactions.addPast(transaction);
      this.#lastTime = planned.time;
    }
  }
}
