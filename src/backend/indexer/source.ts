import { Changes, type Concerned } from '../changes.ts';
import { describedChain } from '../described-chain.ts';
import { createNode, type EvmNode } from '../node/node.ts';
import type { Beginning, BlockListener, Collection, Source } from '../source.ts';
import type { Chain, ChainLookup, Hex } from '../types.ts';
import { concernedBy } from './blocks/concerned.ts';
import { mayMoveInside, type ParsedBlock } from './blocks/parse.ts';
import type { IndexedConfig } from './config.ts';
import { Collectibles } from './contracts/collectibles.ts';
import { ContractAbis } from './contracts/contract-abis.ts';
import { createDecoder } from './contracts/decode.ts';
import { Differing } from './contracts/differing.ts';
import { KnownContracts } from './contracts/known-contracts.ts';
import { Metadata } from './contracts/metadata.ts';
import { openPrices } from './contracts/prices.ts';
import { isEnough, type Sample, sampleOf } from './contracts/seen.ts';
import type { IndexDatabase } from './database/database.ts';
import { Index } from './database/store.ts';
import type { LateListener } from './database/traced.ts';
import { type ChainFigures, NodeCounts } from './figures.ts';
import { Follower } from './follower/follower.ts';
import type { Log } from './follower/problems.ts';
import { Tracer } from './follower/tracer.ts';
import { type BalanceReader, createBalanceReader } from './follower/watched-balances.ts';
import { IndexedApprovals } from './queries/approvals.ts';
import { IndexedData } from './queries/data.ts';
import { Names } from './queries/names.ts';
import { OlderTransactions } from './queries/older.ts';
import { Transactions } from './queries/transactions.ts';

type SourceOptions = Omit<IndexedConfig, 'directory'> & {
  /** The file of the index. It stays open. */
  readonly database: IndexDatabase;
  /** Whether a webhook delivers the balances of an account. */
  readonly watches: (account: Hex) => boolean;
  readonly log: Log;
};

type IndexedSource = Source & {
  /** How far each chain is, and what its index and its node have done. */
  chainFigures(): readonly ChainFigures[];
};

/** Indexes chains from their nodes, and answers from the index. Rejects when the database or a file can't be used. */
export const createIndexedSource = async (options: SourceOptions): Promise<IndexedSource> => {
  const { database, watches, log } = options;
  const counts = new Map(options.chains.map(({ id }) => [id, new NodeCounts()]));
  const nodes = new Map(options.chains.map(({ id, url }) => [id, openNode(id, url, counts.get(id))]));
  const chains = options.chains.map((chain) =>
    indexedChain(chain, () => (index.range(chain.id)?.from ?? chain.startBlock) === 0),
  );
  const changes = new Changes();
  const index: Index = new Index({
    database,
    chains,
    readings: (chainId, contract) => contracts.readings(chainId, contract),
    onRebuild(format) {
      log('index made anew', { problem: `its format was ${format}, an older one` });
    },
  });
  const contracts = new KnownContracts(database, chains);
  /** Tells of what is known of a contract's logs after they were announced. */
  const late =
    (contract: Hex): LateListener =>
    (block, before) => {
      for (const each of listeners) each.traced(block, before, contract);
    };
  const metadata = new Metadata({
    ...{ contracts, nodes },
    // The index does not know which addresses use a contract, so the whole chain is outdated.
    onAnswer(chainId) {
      changes.tellSoon(chainId);
      lookAtNew(chainId);
    },
    report(chainId, problem) {
      for (const { follower } of followed)
        if (follower.chainId === chainId) follower.reportContracts(problem);
    },
    async prepare(chainId, contract, after) {
      const readBalances = readers.get(chainId);
      const blocks = index.rereading.announced(chainId, contract);
      const known = blocks.map(
        async (block) => [block.hash, await readBalances?.(block, false, () => after)] as const,
      );
      return new Map((await Promise.all(known)).flatMap(([hash, each]) => (each ? [[hash, each]] : [])));
    },
    sample(chainId, contract, { forms, settled, failures, sample }) {
      const { lowest, head } = index.range(chainId) ?? {};
      const isToCome = !lowest || !head || sample.block < lowest.number || sample.block > head.number;
      const isNew = isToCome || (failures === 0 && isStored(chainId, sample));
      if (isNew && isEnough(forms & ~settled, sample)) return sample;
      const [newest, ...others] = index.rereading.unread(chainId, contract);
      return newest ? sampleOf([newest, ...others], contract, failures) : isToCome ? sample : null;
    },
    revise: (chainId, contract, revision, known) =>
      index.rereading.revise(chainId, contract, revision, late(contract), known),
    goOn(chainId) {
      const [first] = index.rereading.underway(chainId);
      if (first === undefined) return [];
      index.rereading.goOn(chainId, first, late(first));
      if (!index.rereading.underway(chainId).includes(first)) changes.tellSoon(chainId);
      return index.rereading.underway(chainId);
    },
  });
  /** Whether the index has the block of a sample, and not another one in its place. */
  const isStored = (chainId: number, { block, hash }: Sample) =>
    hash === undefined || index.hashAt(chainId, block) === hash;
  const differing = new Differing({
    ...{ database, index, nodes },
    isOpen: (chainId, token) =>
      contracts.isOpen(chainId, token) || index.rereading.underway(chainId).includes(token),
    onChange: (chainId) => changes.tell(chainId, null),
  });
  const data = new IndexedData({ database, index, chains, nodes, contracts, metadata, differing });
  const tellAll = () => {
    for (const { id } of chains) changes.tell(id, null);
  };
  const decoder = await createDecoder({ directory: options.abiDirectory, log, onChange: tellAll });
  const prices =
    options.prices === null
      ? null
      : await openPrices({ source: options.prices, chains, log, onChange: tellAll });
  const abis = new ContractAbis({ decoder, index, nodes });
  const transactions = new Transactions({ index, chains, nodes, abis });
  /** The oldest block that is wanted of a chain; null where all are, and while there are some to come. */
  const firstOf = (chainId: number): number | null => {
    const beginning = beginningOf(chainId);
    return beginning?.isLate ? beginning.block : null;
  };
  const beginningOf = (chainId: number): Beginning | null => {
    const { startBlock = null } = options.chains.find(({ id }) => id === chainId) ?? {};
    const isBeforeFirst = index.range(chainId) === null && startBlock !== null && startBlock > 0;
    return isBeforeFirst ? { block: startBlock, isLate: true } : data.beginning(chainId);
  };
  const older = new OlderTransactions({ index, data, chains, nodes, firstOf });
  const approvals = new IndexedApprovals({ index, chains, nodes, contracts });
  const registries = new Map(
    options.chains.flatMap(({ id, ensRegistry }) => (ensRegistry ? [[id, ensRegistry]] : [])),
  );
  const names = new Names({ index, nodes, registries });
  const collectibles =
    options.metadata && new Collectibles({ database, nodes, ipfsGateway: options.metadata.ipfsGateway });

  let isStopped = false;
  /** The chains of which new tokens are looked at soon. */
  const looking = new Set<number>();
  const lookAtNew = (chainId: number, pauseMs = NEW_TOKENS_MS): void => {
    if (looking.has(chainId) || isStopped) return;
    looking.add(chainId);
    const look = async () => {
      // A node that fails is asked again, and its chain's follower says so.
      const isDone = await data.lookAtNew(chainId).catch(() => false);
      looking.delete(chainId);
      if (!isDone) lookAtNew(chainId, Math.min(2 * pauseMs, MAX_LOOK_PAUSE_MS));
    };
    setTimeout(look, pauseMs).unref();
  };

  const listeners: BlockListener[] = [];
  const readers = new Map<number, BalanceReader>();
  const followed: readonly { readonly follower: Follower; readonly tracer: Tracer }[] =
    options.chains.flatMap(({ id, startBlock }) => {
      const node = nodes.get(id);
      if (node === undefined) return [];
      const readBalances = createBalanceReader({
        ...{ node, watches, log },
        differs: (token) => differing.has(id, token),
        onDifference: (token, call, sum, block) =>
          differing.note({ chainId: id, token, call, sum, block, isOverstated: false }),
      });
      readers.set(id, readBalances);
      const balances = (block: ParsedBlock) =>
        readBalances(block, index.range(id)?.lowest.number === 0, (contract) =>
          contracts.readings(id, contract),
        );
      const listener: BlockListener = {
        added(block) {
          for (const each of listeners) each.added(block);
          tracer.wake();
          lookAtNew(id);
        },
        traced(block, before) {
          for (const each of listeners) each.traced(block, before);
        },
        removed(chainId, fromNumber) {
          metadata.forget(chainId, fromNumber);
          abis.forget(chainId);
          names.forget(chainId);
          collectibles?.forget(chainId, fromNumber);
          tracer.forget(fromNumber);
          for (const each of listeners) each.removed(chainId, fromNumber);
        },
      };
      const isToken = (contract: Hex) => contracts.contract(id, contract) !== null;
      const tell = (blocks: readonly ParsedBlock[] | null, isOfToken = isToken) =>
        changes.tell(id, blocks === null ? null : concernedBy(blocks, isOfToken));
      const tracer: Tracer = new Tracer({
        ...{ node, index, balances, listener, log },
        changed: (blocks) => tell(blocks, () => false),
      });
      const follower = new Follower({
        ...{ node, index, startBlock, listener, log },
        filled() {
          changes.tellSoon(id);
          lookAtNew(id);
        },
        changed(blocks) {
          // Whom native currency reaches inside of calls is known once the node traces again.
          const isUntraced = blocks?.some(({ transactions }) => transactions.some(mayMoveInside));
          tell(isUntraced && tracer.status().problem !== null ? null : blocks);
          const renamed = names.outdatedBy(blocks ?? []);
          if (renamed.size > 0) changes.tell(id, { ...NOTHING_CONCERNED, addresses: renamed });
          // What tokens are asked for may be another amount at each block.
          if (index.range(id)?.lowest.number !== 0 || differing.hasAny(id)) changes.tellSoon(id);
        },
        async prepare(block, isNew) {
          // Which balances a block changes is known once its contracts are.
          await Promise.all([metadata.learn(block, isNew), isNew && abis.learnBlock(block)]);
          return isNew ? balances(block) : NOTHING_WATCHED;
        },
        traces: () => tracer.status(),
      });
      return [{ follower, tracer }];
    });

  return {
    chains,
    changes,
    seesCallValues: true,
    costly: [],
    operations: [],
    protocols: data.protocols,
    token: (chainId, address) => contracts.token(chainId, address),
    logo: () => null,
    price: (chainId, token, time) => prices?.price(chainId, token, time) ?? null,
    contractName: (chainId, address) => contracts.contract(chainId, address)?.name ?? null,
    decodeCall(transaction) {
      const { chain, to } = transaction;
      const standard = to === null ? null : (contracts.contract(chain.id, to)?.standard ?? null);
      return abis.call(chain.id, transaction, standard);
    },
    decodeLog: (chainId, entry) => abis.log(chainId, entry),
    learnAbis: (listed) => abis.learn(listed),
    transactions: (...[wallet, chainIds, limit, start]) => older.of(wallet, chainIds, limit, start),
    effects: (...[wallet, chainIds, limit, start]) => data.effects(wallet, chainIds, limit, start),
    transaction: (chainId, hash) => transactions.find(chainId, hash),
    revert: (transaction) => transactions.revert(transaction),
    holdings: (...args) => data.holdings(...args),
    metadata: ({ chain, ...holding }) => collectibles?.metadata({ ...holding, chainId: chain.id }) ?? null,
    collection: (chainId, address) => collectionOf(contracts, chainId, address),
    balances: (...args) => data.balances(...args),
    approvals: (...args) => approvals.of(...args),
    name: (account, chainId) => names.of(account, chainId),
    holders: (...args) => data.holders(...args),
    pool: () => data.pool(),
    supply: (...args) => data.supply(...args),
    search: (...args) => data.search(...args),
    defiPositions: () => data.defiPositions(),
    status: () => followed.map(({ follower }) => follower.status()),
    beginning(chainId) {
      const beginning = beginningOf(chainId);
      return beginning && { ...beginning, hasOlder: beginning.isLate && older.has(chainId) };
    },
    chainFigures: () =>
      followed.map(({ follower }) => {
        const status = follower.status();
        const { headSeenAt = null, calls = [] } = counts.get(status.chainId)?.read() ?? {};
        return { ...status, headSeenAt, added: index.added(status.chainId), calls };
      }),
    onBlock: (each) => void listeners.push(each),
    async start() {
      metadata.start();
      for (const { follower, tracer } of followed) {
        follower.start();
        tracer.start();
        lookAtNew(follower.chainId);
      }
    },
    async stop() {
      isStopped = true;
      await Promise.all(followed.map(({ follower }) => follower.stop()));
      await Promise.all(followed.map(({ tracer }) => tracer.stop()));
      await Promise.all([
        metadata.stop(),
        differing.stop(),
        collectibles?.stop(),
        prices?.close(),
        decoder.close(),
      ]);
    },
  };
};

const openNode = (chainId: number, url: string, counts = new NodeCounts()): EvmNode => {
  const node = createNode({ url, chainId, onCall: counts.called });
  return {
    ...node,
    onHead(listener, onProblem) {
      const onHead: typeof listener = (head) => {
        counts.headSeen();
        listener(head);
      };
      node.onHead(onHead, onProblem);
    },
  };
};

/** Milliseconds after a block until its new tokens are looked at, with those of the blocks until then. */
const NEW_TOKENS_MS = 1_000;
/** The longest pause until those are looked at again of which their node did not say enough. */
const MAX_LOOK_PAUSE_MS = 30_000;

const NOTHING_CONCERNED: Concerned = { addresses: new Set(), tokens: new Set(), transactions: new Set() };

const NOTHING_WATCHED = { watches: () => false, after: () => null };

const indexedChain = (chain: IndexedConfig['chains'][number], isWhole: () => boolean): Chain => ({
  ...describedChain(chain),
  webhooks: true,
  // Without a chain's first blocks it is not known who received a token in them.
  get unsupported(): readonly ChainLookup[] {
    const others: readonly ChainLookup[] = chain.ensRegistry
      ? ['defi_positions']
      : ['defi_positions', 'names'];
    return isWhole() ? others : ['token_holders', ...others];
  },
});

const collectionOf = (contracts: KnownContracts, chainId: number, address: Hex): Collection | null => {
  const contract = contracts.contract(chainId, address);
  if (contract === null || !contracts.isCollection(chainId, address)) return null;
  const { name, symbol } = contract;
  const reputation = { trades: null, buyers: null, sellers: null, flagged: null };
  return { name, symbol, launchedAt: null, reputation, uri: null };
};
