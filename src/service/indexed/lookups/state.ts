import { LRUCache } from 'lru-cache';
import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import type { Hex } from '../../types.ts';
import type { Index } from '../database/store.ts';
import { isStateMissing } from '../node/calls.ts';
import { RpcError } from '../node/errors.ts';
import type { EvmNode } from '../node/node.ts';

export type StateReader = Pick<EvmNode, 'balances' | 'calls'>;

/** The numbers that are kept, each for one block of a chain. */
const MAX_KEPT = 50_000;
/** Hex digits of an answer that is one number. */
const WORD = 2 + 64;

const balanceOf = parseFunction('function balanceOf(address account) returns (uint256)');
const totalSupply = parseFunction('function totalSupply() returns (uint256)');

/**
 * What blocks do not say: the balances of the native currency, and what tokens say of themselves. The nodes are asked for it
 * at the block that the index is at, once for each of its blocks. Rejects when the node does not answer soon.
 */
export class NodeState {
  readonly #index: Pick<Index, 'range'>;
  readonly #nodes: ReadonlyMap<number, StateReader>;
  readonly #patienceMs: number;
  readonly #kept = new LRUCache<string, Promise<bigint>>({ max: MAX_KEPT });

  constructor(index: Pick<Index, 'range'>, nodes: ReadonlyMap<number, StateReader>, patienceMs: number) {
    this.#index = index;
    this.#nodes = nodes;
    this.#patienceMs = patienceMs;
  }

  async native(chainId: number, account: Hex): Promise<bigint> {
    const [balance = 0n] = await this.#once(chainId, [account], (_, node, block) =>
      node.balances([account], block),
    );
    return balance;
  }

  /** What these tokens say that an account has of them, in their order; 0 where one does not say it. */
  coins(chainId: number, account: Hex, tokens: readonly Hex[]): Promise<readonly bigint[]> {
    const keys = tokens.map((token) => `${account}/${token}`);
    return this.#once(chainId, keys, (missing, node, block) => {
      const data = encodeData(balanceOf, [account]);
      const calls = missing.map((at) => ({ to: tokens[at] ?? account, data }));
      return numbers(node, calls, block);
    });
  }

  async supply(chainId: number, token: Hex): Promise<bigint> {
    const [supply = 0n] = await this.#once(chainId, [`supply/${token}`], (_, node, block) =>
      numbers(node, [{ to: token, data: encodeData(totalSupply) }], block),
    );
    return supply;
  }

  /** The numbers of these keys, of which those that are `missing` are asked for together. */
  async #once(
    chainId: number,
    keys: readonly string[],
    ask: (
      missing: readonly number[],
      node: StateReader,
      block: number | undefined,
    ) => Promise<readonly bigint[]>,
  ): Promise<readonly bigint[]> {
    const node = this.#nodes.get(chainId);
    if (node === undefined) throw new Error(`expected a node of chain ${chainId}, got none`);
    const head = this.#index.range(chainId)?.head;
    const names = keys.map((key) => `${chainId}/${head?.hash}/${key}`);
    const missing = keys.flatMap((_, at) => (this.#kept.has(names[at] ?? '') ? [] : [at]));
    if (missing.length > 0) {
      const asked = this.#inTime(this.#askNear(head?.number, (block) => ask(missing, node, block)));
      for (const [order, at] of missing.entries()) {
        const name = names[at] ?? '';
        const number = asked.then((found) => found[order] ?? 0n);
        this.#kept.set(name, number);
        number.catch(() => this.#kept.delete(name));
      }
    }
    return Promise.all(names.map((name) => this.#kept.get(name) ?? 0n));
  }

  /** Asks at the newest block where the node has lost the state of the wanted one, as while the index catches up. */
  async #askNear<Result>(
    block: number | undefined,
    ask: (block: number | undefined) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await ask(block);
    } catch (problem) {
      if (problem instanceof RpcError && isStateMissing(problem)) return ask(undefined);
      throw problem;
    }
  }

  async #inTime<Result>(work: Promise<Result>): Promise<Result> {
    const { promise, reject } = Promise.withResolvers<never>();
    const late = () =>
      reject(new Error(`expected an answer of the node within ${this.#patienceMs} ms, got none`));
    const timer = setTimeout(late, this.#patienceMs);
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

const numbers = async (
  node: StateReader,
  calls: readonly { readonly to: Hex; readonly data: Hex }[],
  block: number | undefined,
): Promise<readonly bigint[]> => {
  const answers = await node.calls(calls, block);
  return answers.map((answer) =>
    answer === null || answer.length < WORD ? 0n : BigInt(answer.slice(0, WORD)),
  );
};
