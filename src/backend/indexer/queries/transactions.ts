import { LRUCache } from 'lru-cache';
import { type Failure, type Revert, revertOf } from '../../evm/revert.ts';
import { Refused } from '../../http/query.ts';
import type { EvmNode } from '../../node/node.ts';
import type { Chain, Hex, ListedTransaction, MinedTransaction } from '../../types.ts';
import { minedOf, parseBlock } from '../blocks/parse.ts';
import type { ContractAbis } from '../contracts/contract-abis.ts';
import { blockId, transactionId } from '../database/database.ts';
import type { Index } from '../database/store.ts';
import { inTime } from './in-time.ts';

type Options = {
  readonly index: Index;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'block' | 'locate' | 'failure'>>;
  readonly abis: Pick<ContractAbis, 'learnError' | 'error'>;
  /** Milliseconds that a lookup waits for a node. Default: 5,000. */
  readonly patienceMs?: number;
};

const MAX_FAILURES = 10_000;

/** What is asked of one transaction: itself by its hash, and why it failed. */
export class Transactions {
  readonly #options: Options;
  readonly #patienceMs: number;
  readonly #failures = new LRUCache<string, Promise<Failure>>({ max: MAX_FAILURES });

  constructor(options: Options) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 5_000;
  }

  /**
   * The node says where a transaction is. What the index lacks there, as below its first block, is read from the node. Rejects
   * with Refused when the node fails.
   */
  async find(chainId: number, hash: Hex): Promise<MinedTransaction | null> {
    const { chains, nodes } = this.#options;
    const [chain, node] = [chains.find(({ id }) => id === chainId), nodes.get(chainId)];
    if (chain === undefined || node === undefined) return null;
    try {
      const place = await inTime(this.#patienceMs, node.locate(hash));
      if (place === null) return null;
      const indexed = this.#indexed(chain, place.block, place.index);
      if (indexed?.hash === hash) return indexed;
      const fetched = await inTime(this.#patienceMs, node.block(place.block));
      if (fetched === null) return null;
      const block = parseBlock(chainId, fetched);
      const found = block.transactions.find((transaction) => transaction.hash === hash);
      return found === undefined ? null : minedOf(chain, block, found);
    } catch {
      throw new Refused(503, `The transaction ${hash} could not be read: try again later`);
    }
  }

  async revert({ chain, blockHash, hash }: ListedTransaction): Promise<Revert> {
    const { abis } = this.#options;
    const failure = await this.#failure(chain.id, blockHash, hash);
    const { data, by } = failure;
    if (data !== null) await abis.learnError(chain.id, by, data);
    return revertOf(failure, (error) => abis.error(chain.id, by, error));
  }

  /** The node is asked once for each transaction. */
  #failure(chainId: number, blockHash: Hex | null, hash: Hex): Promise<Failure> {
    const node = this.#options.nodes.get(chainId);
    if (node === undefined) throw new Error(`expected a node of chain ${chainId}, got none`);
    const name = `${chainId} ${blockHash} ${hash}`;
    const known = this.#failures.get(name);
    if (known !== undefined) return known;
    const asked = inTime(this.#patienceMs, node.failure(hash));
    this.#failures.set(name, asked);
    asked.catch(() => {
      if (this.#failures.peek(name) === asked) this.#failures.delete(name);
    });
    return asked;
  }

  #indexed(chain: Chain, block: number, at: number): MinedTransaction | null {
    const { index } = this.#options;
    return index.mined(chain, transactionId(blockId(index.slot(chain.id), block), at))?.transaction ?? null;
  }
}
