import { LRUCache } from 'lru-cache';
import { type Revert, revertOf } from '../../evm/revert.ts';
import { Refused } from '../../http/query.ts';
import type { Chain, Decoded, Hex, ListedTransaction, Transaction } from '../../types.ts';
import { parseBlock } from '../blocks/parse.ts';
import { blockId, transactionId } from '../database/database.ts';
import { type Index, transactionOf } from '../database/store.ts';
import type { EvmNode } from '../node/node.ts';
import { inTime } from './in-time.ts';

type Options = {
  readonly index: Index;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'block' | 'locate' | 'failure'>>;
  readonly decodeError: (data: Hex) => Decoded | null;
  /** Milliseconds that a lookup waits for a node. Default: 5,000. */
  readonly patienceMs?: number;
};

const MAX_REVERTS = 10_000;

/** What is asked of one transaction: itself by its hash, and why it failed. */
export class Transactions {
  readonly #options: Options;
  readonly #patienceMs: number;
  readonly #reverts = new LRUCache<string, Promise<Revert>>({ max: MAX_REVERTS });

  constructor(options: Options) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 5_000;
  }

  /**
   * The node says where a transaction is. What the index lacks there, as below its first block, is read from the node. Rejects
   * with Refused when the node fails.
   */
  async find(chainId: number, hash: Hex): Promise<Transaction | null> {
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
      return found === undefined ? null : transactionOf(chain, block, found, []);
    } catch {
      throw new Refused(503, `The transaction ${hash} could not be read: try again later`);
    }
  }

  /** The node is asked once for each transaction. */
  revert({ chain, blockHash, hash }: ListedTransaction): Promise<Revert> {
    const { nodes, decodeError } = this.#options;
    const node = nodes.get(chain.id);
    if (node === undefined) throw new Error(`expected a node of chain ${chain.id}, got none`);
    const name = `${chain.id} ${blockHash} ${hash}`;
    const known = this.#reverts.get(name);
    if (known !== undefined) return known;
    const asked = inTime(this.#patienceMs, node.failure(hash)).then((failure) =>
      revertOf(failure, decodeError),
    );
    this.#reverts.set(name, asked);
    asked.catch(() => {
      if (this.#reverts.peek(name) === asked) this.#reverts.delete(name);
    });
    return asked;
  }

  #indexed(chain: Chain, block: number, at: number): Transaction | null {
    const { index } = this.#options;
    return index.read(chain, transactionId(blockId(index.slot(chain.id), block), at))?.transaction ?? null;
  }
}
