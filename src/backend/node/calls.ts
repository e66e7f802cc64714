import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { createAbility } from '../ability.ts';
import { createValueReader } from '../evm/abi-values.ts';
import type { Hex } from '../types.ts';
import { readData } from './answers.ts';
import type { StateAt, TagOf } from './block-tags.ts';
import { RpcError } from './errors.ts';
import { isSilence, isStateMissing } from './refusals.ts';
import type { Rpc } from './rpc.ts';

export type Call = { readonly to: Hex; readonly data: Hex };

/** Where Multicall3 is deployed, on every chain that has it. */
const MULTICALL: Hex = '0xca11bde05977b3631167028862be2a173976ca11';
const aggregate = parseFunction(
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
);
/** Whether each call succeeded, and what it returned. */
const readResults = createValueReader([
  {
    type: 'tuple[]',
    components: [
      { type: 'bool', name: 'success' },
      { type: 'bytes', name: 'returnData' },
    ],
  },
]);
const CALLS_AT_ONCE = 50;
/** The number of hex digits of an answer. No contract needs more to say what the index asks. */
const MAX_DIGITS = 256 * 1024;

/** A call to an address without a contract, which cannot fail. A node that answers it answers calls of contracts. */
export const CONTROL: Call = { to: '0x0000000000000000000000000000000000000000', data: '0x' };

export type Calls = {
  /** Whether the chain has Multicall3. */
  hasMulticall(): Promise<boolean>;
  /**
   * Asks contracts at a block, by default the newest. The answers come one by one. One is null where the contract says
   * nothing: it reverts, or its answer is too long. One rejects where the node fails to ask the contract, also with
   * RpcError: it may have given the contract too little gas, or not have the state of the block.
   */
  calls(list: readonly Call[], block?: StateAt): readonly Promise<Hex | null>[];
};

/** A node that takes longer for several calls at once is asked one by one: one of the contracts may be what takes so long. */
const TOGETHER_MS = 2_000;
const EACH = { attempts: 3, batchMs: TOGETHER_MS, maxInFlight: 8 };

const readAnswer = (answer: unknown): Hex | null =>
  typeof answer === 'string' && answer.length > MAX_DIGITS
    ? null
    : readData(answer, 'the answer of a contract');

/** The node has `timeoutMs` for a contract. */
export const createCalls = (rpc: Rpc, timeoutMs: number, tagOf: TagOf): Calls => {
  const each = rpc.with({ ...EACH, timeoutMs });
  const together = rpc.with({ timeoutMs: Math.min(timeoutMs, TOGETHER_MS), attempts: 1, maxBatch: 1 });
  const multicall = createAbility();
  /** Null when it is not known whether there is Multicall3. */
  let known: Promise<boolean> | null = null;

  const hasMulticall = async (): Promise<boolean> => {
    if (!multicall.isTried()) return false;
    known ??= together.read(
      (code) => readData(code, 'the code of a contract') !== '0x',
      'eth_getCode',
      MULTICALL,
      'latest',
    );
    const current = known;
    try {
      const isThere = await current;
      if (!isThere && known === current) giveUpMulticall();
      return isThere;
    } catch (problem) {
      if (known === current) known = null;
      if (problem instanceof RpcError) return false;
      throw problem;
    }
  };

  const giveUpMulticall = (): void => {
    known = null;
    multicall.failed();
  };

  const ask = (queue: Rpc, call: Call, tag: unknown): Promise<Hex | null> =>
    queue.read(readAnswer, 'eth_call', call, tag).catch((problem: unknown) => {
      if (problem instanceof RpcError && isSilence(problem)) return null;
      throw problem;
    });

  /**
   * One call for all; null where that says nothing of a call. Where one seems to have failed, the others may have taken its
   * gas.
   */
  const askTogether = async (list: readonly Call[], tag: unknown): Promise<readonly (Hex | null)[]> => {
    if (list.length < 2 || !(await hasMulticall())) return [];
    const data = encodeData(aggregate, [
      list.map(({ to, data: callData }) => ({ target: to, allowFailure: true, callData })),
    ]);
    const answer = await ask(together, { to: MULTICALL, data }, tag);
    const [results] = (answer === null ? null : readResults(answer)) ?? [];
    if (results === undefined || typeof results === 'string' || results.length !== list.length) {
      // Another contract is at its address. An older block may have none there yet.
      if (answer !== '0x' || tag === 'latest') giveUpMulticall();
      return [];
    }
    multicall.worked();
    return results.map(([success, returned]) =>
      success === 'true' && typeof returned === 'string' && returned !== '0x'
        ? readData(returned, 'the answer of a contract')
        : null,
    );
  };

  return {
    hasMulticall,
    calls(list, block) {
      const tag = tagOf(block);
      return Array.from({ length: Math.ceil(list.length / CALLS_AT_ONCE) }, (_, index) => {
        const chunk = list.slice(index * CALLS_AT_ONCE, (index + 1) * CALLS_AT_ONCE);
        const answers = tag
          .then((at) => askTogether(chunk, at))
          .catch((problem: unknown) => {
            if (isGone(problem)) throw problem;
            // Whatever else is wrong with one call for all, the calls themselves say more of it.
            return [];
          });
        return chunk.map(
          async (call, at) => (await answers)[at] ?? ask(each, { to: call.to, data: call.data }, await tag),
        );
      }).flat();
    },
  };
};

/** Whether a node failed as it has lost the state of a block. */
export const isGone = (problem: unknown): boolean => problem instanceof RpcError && isStateMissing(problem);

/** Asks contracts at a block, and where the node has lost the state of that, at the newest block. */
export const askNear = (
  node: Pick<Calls, 'calls'>,
  list: readonly Call[],
  block: StateAt | undefined,
): readonly Promise<Hex | null>[] => {
  let atNewest: readonly Promise<Hex | null>[] | null = null;
  return node.calls(list, block).map((answer, at) =>
    answer.catch((problem: unknown) => {
      if (block === undefined || !isGone(problem)) throw problem;
      atNewest ??= node.calls(list);
      // Those that are not waited for must not be unhandled.
      for (const each of atNewest) each.catch(() => {});
      return atNewest[at] ?? null;
    }),
  );
};
