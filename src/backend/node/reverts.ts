import type { Failure } from '../evm/revert.ts';
import type { Hex } from '../types.ts';
import {
  expected,
  listOf,
  type Members,
  members,
  readAddress,
  readData,
  readInteger,
  readQuantity,
} from './answers.ts';
import { RpcError } from './errors.ts';
import { isOutOfGas, isSilence } from './refusals.ts';
import type { Rpc } from './rpc.ts';

const TRACER = { tracer: 'callTracer' };

/** The length of what is kept of the words of a node. */
const MAX_WORDS = 200;

/**
 * Asks how a failed transaction ended: the node traces it, or else its call is repeated with the same gas on the state before
 * its block. Rejects when neither says it: the transactions before it in its block may be what made it fail.
 */
export const createReverts =
  (rpc: Rpc) =>
  async (hash: Hex): Promise<Failure> => {
    try {
      return await rpc.read(readTraced, 'debug_traceTransaction', hash, TRACER);
    } catch (untraced) {
      return repeated(rpc, hash).catch((problem: unknown) => {
        throw problem instanceof NotRepeated ? untraced : problem;
      });
    }
  };

const readTraced = (trace: unknown): Failure => {
  const root = members(trace, 'the trace of a failed transaction');
  const { error, output } = root;
  if (typeof error !== 'string') throw expected('the trace of a failed transaction', root);
  const data = output === undefined || output === null ? '0x' : readData(output, 'an error');
  return failureOf(error, data, data === '0x' ? null : raiserIn(root));
};

/** Follows the data down to the call that reverted with it first. A contract that fails to be created has no code to be known by. */
const raiserIn = (root: Members): Hex | null => {
  const passedOn = ({ calls }: Members): Members | undefined =>
    listOf(calls ?? [], 'calls')
      .map((call) => members(call, 'a call'))
      .findLast(({ error, output }) => typeof error === 'string' && output === root.output);
  let raiser = root;
  for (let next = passedOn(raiser); next !== undefined; next = passedOn(raiser)) raiser = next;
  const { type, to } = raiser;
  const isCreation = typeof type === 'string' && type.startsWith('CREATE');
  return isCreation || to === undefined || to === null ? null : readAddress(to, 'the callee of a call');
};

/** Nodes name a revert in different words, and only a revert has data. */
const failureOf = (words: string, data: Hex, by: Hex | null): Failure =>
  /revert/i.test(words) || data !== '0x'
    ? { data, halted: null, by }
    : { data: null, halted: words.slice(0, MAX_WORDS), by };

class NotRepeated extends Error {}

const repeated = async (rpc: Rpc, hash: Hex): Promise<Failure> => {
  const transaction = members(await rpc.call('eth_getTransactionByHash', hash), 'a transaction');
  const { from, to, value, input, gas, blockNumber } = transaction;
  const block = readInteger(blockNumber, 'the block of a transaction');
  const call = {
    from: readAddress(from, 'the sender of a transaction'),
    ...(to !== undefined && to !== null && { to: readAddress(to, 'the recipient of a transaction') }),
    value: readQuantity(value, 'the value of a transaction'),
    data: readData(input, 'the input of a transaction'),
    gas: readQuantity(gas, 'the gas limit of a transaction'),
  };
  try {
    await rpc.call('eth_call', call, `0x${Math.max(0, block - 1).toString(16)}`);
  } catch (problem) {
    if (!(problem instanceof RpcError)) throw problem;
    if (isOutOfGas(problem)) return { data: null, halted: 'out of gas', by: null };
    if (isSilence(problem)) return failureOf(problem.message, problem.returned ?? '0x', null);
    throw problem;
  }
  throw new NotRepeated('the call does not fail when it is repeated');
};
