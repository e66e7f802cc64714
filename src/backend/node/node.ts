import { createAbility } from '../ability.ts';
import type { Failure } from '../evm/revert.ts';
import type { Hex } from '../types.ts';
import {
  type BlockRef,
  type FetchedBlock,
  InvalidAnswerError,
  type RpcBlock,
  type RpcReceipt,
  type RpcTransaction,
  readBlock,
  readBlockRef,
  readData,
  readInteger,
  readPlace,
  readQuantity,
  readReceipt,
  readReceipts,
  type TransactionPlace,
} from './answers.ts';
import { createTags, type StateAt, tagOf } from './block-tags.ts';
import { type Calls, createCalls } from './calls.ts';
import type { ConnectionOptions } from './connection.ts';
import { createRedactor, RpcError } from './errors.ts';
import { announceHeads, watchHeads } from './heads.ts';
import { createOlder, hasOlder, type Older } from './older.ts';
import { createReverts } from './reverts.ts';
import { backoffMs, createRpc, type Rpc } from './rpc.ts';
import { createTraces, probeTraces, type Traceable, type Traces, type Tracing } from './traces.ts';

export type NodeOptions = {
  /** `http:`, `https:`, `ws:` or `wss:`, with credentials as needed. They appear in no error. */
  readonly url: string;
  readonly chainId: number;
  /** Milliseconds that the node has for an answer. Default: 30,000. */
  readonly timeoutMs?: number;
  /**
   * Milliseconds between polls for the newest block, where the node doesn't announce it. Default: 1,000, and 100 for a node on
   * this machine. One for development is always polled each 100.
   */
  readonly pollMs?: number;
  /** Called after each attempt at a call. */
  readonly onCall?: ConnectionOptions['onCall'];
};

/**
 * A node of a chain, asked over JSON-RPC. What it answers is checked, and each request is repeated a few times before it
 * rejects: with NodeUnavailableError, WrongChainError, RpcError or InvalidAnswerError.
 */
export type EvmNode = Pick<Calls, 'calls'> & {
  readonly chainId: number;
  /** The node without credentials, as logs name it. */
  readonly name: string;
  /** The newest block. */
  head(): Promise<BlockRef>;
  /** The block with this number or hash; null when the node doesn't have it. */
  find(block: number | Hex): Promise<BlockRef | null>;
  /** As `find`, asked over a new connection: where a balancer has several nodes, another one may answer. */
  findAnew(block: number | Hex): Promise<BlockRef | null>;
  /** Whether the node says that it is one for development: such nodes can take blocks back, as by `evm_revert`. */
  isForDevelopment(): Promise<boolean>;
  /** A block with all of its parts but the traces; null when the node doesn't have it. */
  block(number: number): Promise<FetchedBlock | null>;
  /** The internal transfers of a block. Each call is sent once: tracing is slow, and the caller tries again what fails. */
  traces(block: Traceable): Promise<Traces>;
  /** How a failed transaction ended. Sent once, like traces. */
  failure(hash: Hex): Promise<Failure>;
  /** Where a transaction is in the chain; null when the node has none with this hash in a block. */
  locate(hash: Hex): Promise<TransactionPlace | null>;
  /** The transactions of wallets, of a node that has them. Each call is sent twice at most, and the node has less time for it. */
  readonly older: Older;
  /** Native balances, by default at the newest block. Rejects with RpcError when the node has lost the state of the block. */
  balances(accounts: readonly Hex[], block?: StateAt): Promise<readonly bigint[]>;
  /** The code of a contract; 0x where an address has none. Rejects as `balances` does. */
  code(address: Hex, block?: number): Promise<Hex>;
  /** A word of a contract's storage. Rejects as `balances` does. */
  storage(address: Hex, slot: Hex, block?: number): Promise<Hex>;
  /** Tells the listener of new blocks, and of problems while it asks for them, until the node is closed. */
  onHead(listener: (head: BlockRef) => void, onProblem: (problem: unknown) => void): void;
  /** Rejects what is pending. */
  close(): Promise<void>;
};

/** Milliseconds that a node has to say what its newest block is, and what an account has or a contract says. */
const HEAD_MS = 5_000;
const STATE_MS = 10_000;

const LOCAL = /^(?:localhost|127\.[\d.]+|\[::1\])$/;
const DEVELOPMENT = /^(?:anvil|hardhat|ganache|ethereumjs testrpc)/i;

const readBalance = (answer: unknown): bigint => BigInt(readQuantity(answer, 'a balance'));

const readCode = (answer: unknown): Hex => readData(answer, 'the code of a contract');

const readWord = (answer: unknown): Hex => readData(answer, 'a word of storage');

/** Opens no connection before it is asked. */
export const createNode = ({
  url,
  chainId,
  timeoutMs = 30_000,
  pollMs = LOCAL.test(new URL(url).hostname) ? 100 : 1_000,
  onCall,
}: NodeOptions): EvmNode => {
  const rpc = createRpc({ url, chainId, timeoutMs, onCall });
  const traces = createTraces(rpc.with({ attempts: 1 }), () => isForDevelopment());
  const failure = createReverts(
    rpc.with({ timeoutMs: Math.min(timeoutMs, STATE_MS), attempts: 1, maxBatch: 1 }),
  );
  const fetch = createBlocks(rpc);
  const stateMs = Math.min(timeoutMs, STATE_MS);
  const heads = rpc.with({ timeoutMs: Math.min(timeoutMs, HEAD_MS) });
  const state = rpc.with({ timeoutMs: stateMs, attempts: 3 });
  const stateTag = createTags(state);
  const { calls } = createCalls(rpc, stateMs, stateTag);
  const guard = createGuard(url);
  const older = createOlder(rpc.with({ timeoutMs: stateMs, attempts: 2 }), (number) => find(state, number));
  const watching: { close(): Promise<void> }[] = [];

  const head = (): Promise<BlockRef> =>
    guard(() => heads.read(readBlockRef, 'eth_getBlockByNumber', 'latest', false));

  let isKnownForDevelopment = false;
  const isForDevelopment = async (): Promise<boolean> => {
    if (isKnownForDevelopment) return true;
    const client = await guard(() =>
      rpc.with({ timeoutMs: HEAD_MS, attempts: 1 }).call('web3_clientVersion'),
    ).catch((problem: unknown) => {
      if (problem instanceof RpcError) return null;
      throw problem;
    });
    isKnownForDevelopment = typeof client === 'string' && DEVELOPMENT.test(client);
    return isKnownForDevelopment;
  };

  return {
    chainId,
    name: rpc.name,
    isForDevelopment,
    calls: (list, block) => calls(list, block).map((answer) => guard(() => answer)),
    head,
    find: (block) => guard(() => find(rpc, block)),
    async findAnew(block) {
      const another = createRpc({ url, chainId, timeoutMs, onCall });
      try {
        return await guard(() => find(another, block));
      } finally {
        await another.close();
      }
    },
    block: (number) => guard(() => repeatedly(() => fetch(number))),
    traces: (block) => guard(() => traces(block)),
    failure: (hash) => guard(() => failure(hash)),
    locate: (hash) => guard(() => state.read(readPlace(hash), 'eth_getTransactionByHash', hash)),
    older: { ...older, before: (...page) => guard(() => older.before(...page)) },
    balances: (accounts, block) =>
      guard(async () => {
        const tag = await stateTag(block);
        return Promise.all(
          accounts.map((account) => state.read(readBalance, 'eth_getBalance', account, tag)),
        );
      }),
    code: (address, block) => guard(() => state.read(readCode, 'eth_getCode', address, tagOf(block))),
    storage: (address, slot, block) =>
      guard(() => state.read(readWord, 'eth_getStorageAt', address, slot, tagOf(block))),
    onHead(listener, onProblem) {
      const options = { url: new URL(url), chainId, pollMs, isForDevelopment, poll: head };
      watching.push(watchHeads({ ...options, onHead: listener, onProblem }));
    },
    async close() {
      await Promise.all([rpc.close(), ...watching.map((watch) => watch.close())]);
    },
  };
};

const find = async (rpc: Rpc, block: number | Hex): Promise<BlockRef | null> => {
  const read = (answer: unknown): BlockRef | null => {
    if (answer === null) return null;
    const found = readBlockRef(answer);
    if (found.number !== block && found.hash !== block)
      throw new InvalidAnswerError(`expected block ${block}, got ${found.number} with ${found.hash}`);
    return found;
  };
  return typeof block === 'number'
    ? rpc.read(read, 'eth_getBlockByNumber', tagOf(block), false)
    : rpc.read(read, 'eth_getBlockByHash', block, false);
};

/** Takes the credentials of the node's URL out of errors that show what it answered: it may have repeated them. */
const createGuard = (url: string) => {
  const redact = createRedactor(new URL(url));
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (problem) {
      throw problem instanceof InvalidAnswerError ? new InvalidAnswerError(redact(problem.message)) : problem;
    }
  };
};

/** The number of times that a block is asked for whose parts don't belong together: a balancer may ask several nodes. */
const CHECKED_ATTEMPTS = 4;

const repeatedly = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (problem) {
      if (!(problem instanceof InvalidAnswerError) || attempt === CHECKED_ATTEMPTS) throw problem;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt)));
    }
  }
};

type Outcome = 'worked' | 'failed' | 'not tried';

/** Fetches blocks, by the methods that the node turns out to have. */
const createBlocks = (rpc: Rpc) => {
  const blockReceipts = createAbility();

  /** What the node says of all receipts of a block at once, and whether it could. */
  const receiptsOfBlock = async (tag: string): Promise<{ answer: unknown; outcome: Outcome }> => {
    if (!blockReceipts.isTried()) return { answer: null, outcome: 'not tried' };
    return rpc.call('eth_getBlockReceipts', tag).then(
      (answer) => ({ answer, outcome: 'worked' }),
      () => ({ answer: null, outcome: 'failed' }),
    );
  };

  /** The receipts of a block, in the order of its transactions: those that the node left out are asked for one by one. */
  const receipts = async (answer: unknown, block: RpcBlock): Promise<readonly RpcReceipt[]> => {
    const known = readReceipts(answer, block);
    return Promise.all(
      block.transactions.map(async (transaction) => {
        const receipt =
          known.get(transaction.hash) ??
          readReceipt(await rpc.call('eth_getTransactionReceipt', transaction.hash), block, transaction);
        const isPlain = receipt.success === null && (await isPayment(transaction, tagOf(block.number)));
        return isPlain ? { ...receipt, success: true } : receipt;
      }),
    );
  };

  /** Whether a transaction only pays an account without code, which can't fail. */
  const isPayment = async ({ to, input }: RpcTransaction, tag: string): Promise<boolean> => {
    if (to === null || input !== '0x') return false;
    const code = await rpc.call('eth_getCode', to, tag).catch((problem: unknown) => {
      if (problem instanceof RpcError) return null;
      throw problem;
    });
    return code === '0x';
  };

  return async (number: number): Promise<FetchedBlock | null> => {
    const [answer, all] = await Promise.all([
      rpc.call('eth_getBlockByNumber', tagOf(number), true),
      receiptsOfBlock(tagOf(number)),
    ]);
    if (answer === null) return null;
    const block = readBlock(answer);
    if (block.number !== number)
      throw new InvalidAnswerError(`expected block ${number}, got block ${block.number}`);
    const found = await receipts(all.answer, block);
    if (all.outcome === 'worked') blockReceipts.worked();
    // A node that can't do this may still answer for single receipts.
    if (all.outcome === 'failed' && found.length > 0) blockReceipts.failed();
    return { block, receipts: found };
  };
};

/** What a node can do. */
export type NodeAbilities = {
  readonly chainId: number;
  /** As the node names itself, such as `anvil/v1.7.1`. */
  readonly client: string;
  readonly head: number;
  readonly receipts: 'block' | 'one by one';
  /** How internal transfers are read. */
  readonly traces: Tracing;
  readonly heads: 'websocket' | 'polling';
  /** Whether several contracts can be asked by one call. */
  readonly multicall: boolean;
  /** Whether the node lists the transactions of wallets, by the API of Otterscan. */
  readonly older: boolean;
  /** Whether the node still has its first block after the genesis block. */
  readonly pruned: boolean;
};

/** Finds out what a node can do. Rejects with NodeUnavailableError, RpcError or InvalidAnswerError, without credentials. */
export const probeNode = (url: string, timeoutMs = 5_000): Promise<NodeAbilities> =>
  createGuard(url)(() => probe(url, timeoutMs));

const probe = async (url: string, timeoutMs: number): Promise<NodeAbilities> => {
  const rpc = createRpc({ url, chainId: null, timeoutMs, attempts: 1 });
  const works = (method: string, ...params: unknown[]): Promise<boolean> =>
    rpc.call(method, ...params).then(
      (result) => result !== null,
      (problem: unknown) => {
        if (problem instanceof RpcError) return false;
        throw problem;
      },
    );
  const announced = announceHeads({
    url: new URL(url),
    chainId: null,
    timeoutMs,
    onHead() {},
    onLost() {},
  }).catch(() => null);
  try {
    const chainId = readInteger(await rpc.call('eth_chainId'), 'a chain id');
    const head = readBlockRef(await rpc.call('eth_getBlockByNumber', 'latest', false));
    const tag = tagOf(head.number);
    const [client, hasBlockReceipts, traces, multicall, older, hasFirst, socket] = await Promise.all([
      rpc.call('web3_clientVersion').catch(() => 'unknown'),
      works('eth_getBlockReceipts', tag),
      probeTraces(rpc, head.number),
      createCalls(rpc, timeoutMs, createTags(rpc)).hasMulticall(),
      hasOlder(rpc),
      works('eth_getBlockByNumber', tagOf(Math.min(1, head.number)), false),
      announced,
    ]);
    return {
      chainId,
      client: typeof client === 'string' ? client.slice(0, 100) : 'unknown',
      head: head.number,
      receipts: hasBlockReceipts ? 'block' : 'one by one',
      traces,
      heads: socket === null ? 'polling' : 'websocket',
      multicall,
      older,
      pruned: !hasFirst,
    };
  } finally {
    await Promise.all([rpc.close(), announced.then((socket) => socket?.close())]);
  }
};
