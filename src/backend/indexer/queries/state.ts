import { LRUCache } from 'lru-cache';
import type { StateAt } from '../../node/block-tags.ts';
import { askNear, type Call, CONTROL, isGone } from '../../node/calls.ts';
import { RpcError } from '../../node/errors.ts';
import type { EvmNode } from '../../node/node.ts';
import { createPatience } from '../../node/patience.ts';
import { isOutOfGas } from '../../node/refusals.ts';
import type { Hex } from '../../types.ts';
import { amountIn } from '../contracts/amounts.ts';
import type { Index } from '../database/store.ts';
import { inTime } from './in-time.ts';

export type StateReader = Pick<EvmNode, 'balances' | 'calls'>;

/** The numbers that are kept, each for one block of a chain. */
const MAX_KEPT = 50_000;
/** How long a contract counts as one that will answer, which takes more gas than the node gives it. */
const UNASKED_MS = 10_000;

/** Answers that are to come, each by itself. */
type Numbers = readonly Promise<bigint | null>[];

/**
 * What blocks do not say, or can't be trusted to: the balances of the native currency, and the amounts that tokens say. The
 * nodes are asked for it at the block that the index is at, once for each of its blocks. An answer is null where a contract says
 * nothing, and rejects when the node fails, or does not answer soon.
 */
export class NodeState {
  readonly #index: Pick<Index, 'range'>;
  readonly #nodes: ReadonlyMap<number, StateReader>;
  readonly #patienceMs: number;
  readonly #kept = new LRUCache<string, Promise<bigint | null>>({ max: MAX_KEPT });
  readonly #unasked = createPatience(UNASKED_MS);

  constructor(index: Pick<Index, 'range'>, nodes: ReadonlyMap<number, StateReader>, patienceMs: number) {
    this.#index = index;
    this.#nodes = nodes;
    this.#patienceMs = patienceMs;
  }

  async native(chainId: number, account: Hex): Promise<bigint> {
    const [balance] = this.#once(chainId, [account], (_, node, block) => [nativeNear(node, account, block)]);
    return (await balance) ?? 0n;
  }

  /** The numbers by which contracts answer these calls, in their order. */
  amounts(chainId: number, calls: readonly Call[]): Numbers {
    const keys = calls.map(({ to, data }) => `${to}/${data}`);
    return this.#once(chainId, keys, (missing, node, block) => {
      const asked = missing.flatMap((at) => calls[at] ?? []);
      return askNear(node, asked, block).map(async (answer, at) => {
        const name = `${chainId}/${asked[at]?.to}`;
        try {
          const said = await answer;
          this.#unasked.end(name);
          return amountIn(said);
        } catch (problem) {
          // Any other failure is the node's: it is slow, or away. So is this one where the node does not answer CONTROL either.
          const mayBeContract = problem instanceof RpcError && isOutOfGas(problem);
          if (!mayBeContract || !this.#unasked.isOver(name)) throw problem;
          await Promise.all(askNear(node, [CONTROL], block));
          return null;
        }
      });
    });
  }

  /** The numbers of these keys, of which those that are `missing` are asked for together. */
  #once(
    chainId: number,
    keys: readonly string[],
    ask: (missing: readonly number[], node: StateReader, block: StateAt | undefined) => Numbers,
  ): Numbers {
    const node = this.#nodes.get(chainId);
    if (node === undefined) throw new Error(`expected a node of chain ${chainId}, got none`);
    const head = this.#index.range(chainId)?.head;
    const found = keys.map((key) => this.#kept.get(`${chainId}/${head?.hash}/${key}`));
    const missing = keys.flatMap((_, at) => (found[at] === undefined ? [at] : []));
    const asked = missing.length === 0 ? [] : ask(missing, node, head);
    for (const [order, at] of missing.entries()) {
      const name = `${chainId}/${head?.hash}/${keys[at]}`;
      const number = inTime(this.#patienceMs, asked[order] ?? Promise.resolve(null));
      found[at] = number;
      this.#kept.set(name, number);
      number.catch(() => {
        if (this.#kept.peek(name) === number) this.#kept.delete(name);
      });
    }
    return found.map((number) => number ?? Promise.resolve(null));
  }
}

/** Asks at the newest block where the node has lost the state of the wanted one, as while the index catches up. */
const nativeNear = async (node: StateReader, account: Hex, block: StateAt | undefined): Promise<bigint> => {
  const balances = node.balances([account], block).catch((problem: unknown) => {
    if (block === undefined || !isGone(problem)) throw problem;
    return node.balances([account]);
  });
  const [balance] = await balances;
  if (balance === undefined) throw new Error(`expected the balance of ${account}, got none`);
  return balance;
};
