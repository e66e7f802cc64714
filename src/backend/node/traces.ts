import { createAbility } from '../ability.ts';
import type { Hex } from '../types.ts';
import {
  expected,
  InvalidAnswerError,
  listOf,
  type Members,
  members,
  readAddress,
  readQuantity,
} from './answers.ts';
import { tagOf } from './block-tags.ts';
import { RpcError } from './errors.ts';
import type { Rpc } from './rpc.ts';

/** An internal transfer: native currency that a call within a transaction moved, unless that was reverted. */
export type InternalTransfer = { readonly from: Hex; readonly to: Hex; readonly value: bigint };

/** A block of which some transactions are to be traced. */
export type Traceable = {
  readonly number: number;
  readonly hash: Hex;
  /** The hashes of all its transactions, in their order. */
  readonly transactions: readonly Hex[];
  /** The positions of those to be traced. */
  readonly wanted: readonly number[];
};

/** What the calls of a transaction say of it. */
export type Trace = {
  readonly success: boolean;
  /** The contract that it created; null when it created none. */
  readonly created: Hex | null;
  /** In the order of the calls. */
  readonly internal: readonly InternalTransfer[];
};

/** The traces of transactions by their positions in the block. */
export type Traces = ReadonlyMap<number, Trace>;

/** Beyond this number of transactions a block that the node does not trace as a whole is not traced one by one. */
const MAX_SINGLE = 500;

const TRACER = { tracer: 'callTracer' };

/**
 * Traces blocks. The node is asked for a block as a whole, and for each transaction that it says nothing of, such as one that
 * took its tracer too long. Nothing is remembered of what it can't do: that may change with its configuration or its load.
 * Rejects unless the node says what each wanted transaction moved. One for development is first asked for the calls that it has
 * kept: Anvil takes a second to trace a block of a hundred transactions anew, and answers no other call meanwhile.
 */
export const createTraces = (rpc: Rpc, isForDevelopment: () => Promise<boolean>) => {
  const kept = createAbility();

  const keptOf = async ({ number, hash, transactions }: Traceable): Promise<Traces> => {
    if (!kept.isTried()) return NONE;
    try {
      if (await isForDevelopment())
        return readKept(await rpc.call('trace_block', tagOf(number)), hash, transactions);
    } catch {
      // It traces the block anew.
    }
    kept.failed();
    return NONE;
  };

  return async (block: Traceable): Promise<Traces> => {
    const { hash, transactions, wanted } = block;
    const found = new Map(await keptOf(block));
    let problem: unknown = null;
    try {
      if (wanted.every((at) => found.has(at))) return found;
      const answer = await rpc.call('debug_traceBlockByHash', hash, TRACER);
      for (const [at, trace] of readTraces(answer, transactions)) found.set(at, trace);
    } catch (error) {
      if (wanted.length > MAX_SINGLE) throw error;
      problem = error;
    }
    const missing = wanted.filter((at) => !found.has(at));
    const one = async (at: number): Promise<void> => {
      const trace = await rpc.call('debug_traceTransaction', transactions[at], TRACER);
      found.set(at, readTrace(members(trace, 'the calls of a transaction')));
    };
    const [first, ...others] = missing;
    if (first === undefined) return found;
    // A node that refuses the first one is not asked for all others.
    await one(first).catch((error: unknown) => {
      throw error instanceof RpcError && problem !== null ? problem : error;
    });
    await Promise.all(others.map(one));
    return found;
  };
};

const NONE: Traces = new Map();

/** How a node traces transactions: those of a block at once, one by one, or not, for the reason that it gives. */
export type Tracing = 'block' | 'one by one' | { readonly problem: string };

/** The number of blocks below the head in which a transaction is looked for. */
const PROBED_BLOCKS = 32;

/** Tries to trace the newest block of a chain with a transaction, or else its newest one. */
export const probeTraces = async (rpc: Rpc, head: number): Promise<Tracing> => {
  const blockAt = async (number: number) => {
    const answer = await rpc.call('eth_getBlockByNumber', `0x${number.toString(16)}`, false);
    const { hash, transactions } = members(answer, 'a block');
    return { hash, first: listOf(transactions, 'transactions')[0] };
  };
  const problemOf = (method: string, hash: unknown): Promise<string | null> =>
    rpc.call(method, hash, TRACER).then(
      () => null,
      (problem: unknown) => (problem instanceof Error ? problem.message : String(problem)),
    );
  const newest = await blockAt(head);
  let block = newest;
  for (let number = head; block.first === undefined && number > Math.max(0, head - PROBED_BLOCKS); number--)
    block = await blockAt(number - 1);
  const { hash, first } = block.first === undefined ? newest : block;
  const problem = await problemOf('debug_traceBlockByHash', hash);
  if (problem === null) return 'block';
  const isSingle = first !== undefined && (await problemOf('debug_traceTransaction', first)) === null;
  return isSingle ? 'one by one' : { problem };
};

/** What an answer says of a block's transactions. Those that the node failed to trace are left out. */
const readTraces = (answer: unknown, transactions: readonly Hex[]): Traces => {
  const traces = listOf(answer, 'traces');
  if (traces.length !== transactions.length)
    throw new InvalidAnswerError(`expected ${transactions.length} traces, got ${traces.length}`);
  const found = new Map<number, Trace>();
  for (const [at, trace] of traces.entries()) {
    const { txHash, result } = members(trace, 'a trace');
    // Older nodes don't name the transaction.
    if (txHash !== undefined && txHash !== transactions[at])
      throw expected(`the trace of ${transactions[at]}`, txHash);
    if (result !== undefined && result !== null)
      found.set(at, readTrace(members(result, 'the calls of a transaction')));
  }
  return found;
};

/** The calls that `trace_block` lists, each behind its caller. */
const readKept = (answer: unknown, hash: Hex, transactions: readonly Hex[]): Traces => {
  const calls = new Map<string, Members & { readonly calls: Members[] }>();
  for (const trace of listOf(answer, 'traces').map((each) => members(each, 'a trace'))) {
    const { error, blockHash, transactionHash, transactionPosition: at, traceAddress } = trace;
    if (typeof at !== 'number' || blockHash !== hash || transactionHash !== transactions[at])
      throw expected(`the calls of block ${hash}`, trace);
    const path = listOf(traceAddress, 'positions of calls');
    const call = { ...callOf(trace), error, calls: [] };
    calls.set([at, ...path].join(), call);
    if (path.length === 0) continue;
    const caller = calls.get([at, ...path.slice(0, -1)].join());
    if (caller === undefined) throw expected('a call behind its caller', trace);
    caller.calls.push(call);
  }
  const roots = transactions.map((_, at) => [at, calls.get(String(at))] as const);
  return new Map(roots.flatMap(([at, root]) => (root === undefined ? [] : [[at, readTrace(root)]])));
};

/** A call in the form of the callTracer. */
const callOf = ({ type, action, result }: Members): Members => {
  const { callType, address, refundAddress, balance, ...call } = members(action, 'a call');
  if (type === 'suicide') return { type: 'SELFDESTRUCT', from: address, to: refundAddress, value: balance };
  if (type === 'call') return { ...call, type: String(callType).toUpperCase() };
  return { ...call, type: 'CREATE', to: result && members(result, 'a result').address };
};

/** The kinds of calls that move their value to the callee. Delegated calls only repeat the value of their caller. */
const MOVING = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

const readTrace = (root: Members): Trace => {
  const { type, to, error } = root;
  if (typeof type !== 'string') throw expected('the calls of a transaction by the callTracer', root);
  const success = error === undefined;
  const created = success && type.startsWith('CREATE') ? readAddress(to, 'the contract of a call') : null;
  return { success, created, internal: readInternal(root) };
};

/** What a failed call moved was moved back, with all that was called from it. */
const readInternal = (root: Members): readonly InternalTransfer[] => {
  const found: InternalTransfer[] = [];
  // Not recursive: a trace may be deeper than the stack.
  const pending = subcalls(root);
  for (let call = pending.pop(); call !== undefined; call = pending.pop()) {
    const { type, from, to, value } = call;
    if (call.error === undefined && typeof type === 'string' && MOVING.has(type)) {
      const moved = BigInt(readQuantity(value ?? '0x0', 'the value of a call'));
      if (moved > 0n)
        found.push({
          from: readAddress(from, 'the caller of a call'),
          to: readAddress(to, 'the callee of a call'),
          value: moved,
        });
    }
    for (const subcall of subcalls(call)) pending.push(subcall);
  }
  return found;
};

/** The calls that a call made, the last one first; none when it failed. */
const subcalls = ({ error, calls }: Members): Members[] =>
  error !== undefined || calls === undefined || calls === null
    ? []
    : listOf(calls, 'calls')
        .map((call) => members(call, 'a call'))
        .reverse();
