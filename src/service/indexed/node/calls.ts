import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { createValueReader } from '../../evm/abi-values.ts';
import type { Hex } from '../../types.ts';
import { readData } from './answers.ts';
import { RpcError } from './errors.ts';
import { isRevert, isTemporary, type Rpc } from './rpc.ts';

type Call = { readonly to: Hex; readonly data: Hex };

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

const STATE_MISSING =
  /missing trie node|header not found|unknown block|out ?of ?range|block.*not found|prun|state.*not available|historical|archive/i;

/** Whether the node no longer has, or does not yet have, the state of the block. */
export const isStateMissing = (refusal: RpcError): boolean =>
  !isRevert(refusal) && STATE_MISSING.test(refusal.message);

export type Calls = {
  /** Whether the chain has Multicall3. */
  hasMulticall(): Promise<boolean>;
  /**
   * The answers of contracts at a block; null where the call failed, or the answer is too long.
   * Rejects with RpcError when the node does not have the state of the block.
   */
  calls(list: readonly Call[], block?: number): Promise<readonly (Hex | null)[]>;
};

export const createCalls = (rpc: Rpc): Calls => {
  let multicall: Promise<boolean> | null = null;

  const hasMulticall = (): Promise<boolean> => {
    multicall ??= rpc.call('eth_getCode', MULTICALL, 'latest').then(
      (code) => typeof code === 'string' && code.length > 2,
      (problem: unknown) => {
        multicall = null;
        if (problem instanceof RpcError) return false;
        throw problem;
      },
    );
    return multicall;
  };

  const single = async ({ to, data }: Call, tag: string): Promise<Hex | null> => {
    try {
      const answer = await rpc.call('eth_call', { to, data }, tag);
      if (typeof answer !== 'string' || answer.length > MAX_DIGITS) return null;
      return readData(answer, 'the answer of a contract');
    } catch (problem) {
      if (problem instanceof RpcError && !isTemporary(problem) && !isStateMissing(problem)) return null;
      throw problem;
    }
  };

  /** One call for all; null when that failed as a whole. Where a call seems to have failed, the others may have taken its gas. */
  const together = async (list: readonly Call[], tag: string): Promise<readonly (Hex | null)[] | null> => {
    const data = encodeData(aggregate, [
      list.map(({ to, data: callData }) => ({ target: to, allowFailure: true, callData })),
    ]);
    const answer = await single({ to: MULTICALL, data }, tag);
    // Another contract may be at its address.
    const [results = []] = (answer === null ? null : readResults(answer)) ?? [];
    if (typeof results === 'string' || results.length !== list.length) return null;
    return results.map(([success, returned]) =>
      success === 'true' && typeof returned === 'string' && returned !== '0x'
        ? readData(returned, 'the answer of a contract')
        : null,
    );
  };

  const chunk = async (list: readonly Call[], tag: string): Promise<readonly (Hex | null)[]> => {
    const known = list.length > 1 && (await hasMulticall()) ? await together(list, tag) : null;
    return Promise.all(list.map((call, index) => known?.[index] ?? single(call, tag)));
  };

  return {
    hasMulticall,
    async calls(list, block) {
      const tag = block === undefined ? 'latest' : `0x${block.toString(16)}`;
      const chunks = Array.from({ length: Math.ceil(list.length / CALLS_AT_ONCE) }, (_, index) =>
        chunk(list.slice(index * CALLS_AT_ONCE, (index + 1) * CALLS_AT_ONCE), tag),
      );
      return (await Promise.all(chunks)).flat();
    },
  };
};
