import { describedChain } from '../described-chain.ts';
import type { Log } from '../dispatch/log.ts';
import { isNormalised } from '../evm/ens.ts';
import { DETAILS, type Part, type Source } from '../source.ts';
import type { Awaitable, Chain, Hex } from '../types.ts';
import { Abis } from './abis.ts';
import { effectsOf } from './activity.ts';
import { ExplorerBalances } from './balances.ts';
import type { ExplorerChain } from './client/chain.ts';
import { createExplorerClient, type ExplorerClient, type ExplorerClientOptions } from './client/client.ts';
import { ExplorerError, type Fault, OF_KEY } from './client/errors.ts';
import { OPERATIONS } from './client/operations.ts';
import { collectionOf, holdingsOf } from './collectibles.ts';
import { type ExplorerChainConfig, type ExplorerConfig, missingKey } from './config.ts';
import { Explorer, HOSTED } from './explorer.ts';
import { pagesOf } from './pages.ts';
import { openReceipts, type Receipts } from './receipts.ts';
import { holdersOf, searchTokens, supplyOf } from './tokens.ts';
import { ExplorerTransactions, MAX_DETAILED } from './transactions.ts';
import { WalletTransactions } from './wallet-transactions.ts';

const messageOf = (problem: unknown): string =>
  problem instanceof Error ? problem.message : String(problem);

/** Less than a gateway waits for the service. */
const TIMEOUT_MS = 7_500;

/** The client of all explorers of a service. */
export const openClient = (options: Partial<ExplorerClientOptions> = {}): ExplorerClient =>
  createExplorerClient({ userAgent: 'evm-graphql-gateway', timeoutMs: TIMEOUT_MS, ...options });

/** The explorer of a chain, and how its transactions are read: lookups and watched addresses share it. */
export type OpenExplorer = {
  readonly explorer: Explorer;
  readonly ofWallets: WalletTransactions;
  readonly transactions: ExplorerTransactions;
  readonly receipts: Receipts | null;
};

/** That of each chain. */
export const openExplorers = (
  { chains, apiKey, live = null }: ExplorerConfig,
  client: ExplorerClient,
  log: Log,
): readonly OpenExplorer[] =>
  chains.map((chain) => {
    const described = { ...explorerChain(chain), webhooks: live !== null };
    const explorer = new Explorer(client, askedAs(chain, apiKey), described);
    const receipts = chain.receipts === undefined ? null : openReceipts(chain.id, chain.receipts, log);
    const ofWallets = new WalletTransactions(explorer);
    const transactions = new ExplorerTransactions(explorer, ofWallets, receipts);
    return { explorer, ofWallets, transactions, receipts };
  });

/** One source for each chain, so that none waits for another one's explorer. They have no blocks: see `createLive`. */
export const createExplorerSources = (
  config: ExplorerConfig,
  opened: readonly OpenExplorer[],
  log: Log,
): readonly Source[] => {
  const missing = missingKey(config);
  /** What all chains of the hosted API share is said once. */
  const said = new Set<Fault['kind']>();
  if (missing !== null) {
    said.add('noKey');
    log('the hosted API has no key', { problem: missing });
  }
  return opened.map((each) =>
    sourceOf(each, (problem) => {
      const fault = problem instanceof ExplorerError ? problem.fault.kind : null;
      const isShared = fault !== null && each.explorer.account === HOSTED && OF_KEY.has(fault);
      if (isShared && said.has(fault)) return;
      if (isShared) said.add(fault);
      log('an explorer does not answer', { chain: each.explorer.chain.id, problem: messageOf(problem) });
    }),
  );
};

/** A chain as the client asks its explorer. The key goes to the hosted API alone. */
export const askedAs = (
  { id, baseUrl, isHosted }: ExplorerChainConfig,
  apiKey: string | null,
): ExplorerChain => ({
  ...{ id, baseUrl, isHosted },
  headers: isHosted && apiKey !== null ? { authorization: `Bearer ${apiKey}` } : {},
});

const explorerChain = (chain: ExplorerChainConfig): Omit<Chain, 'webhooks'> => ({
  ...describedChain(chain),
  explorer: { name: 'Blockscout', url: pagesOf(chain) },
  unsupported: ['approvals', 'defi_positions'],
});

const sourceOf = (
  { explorer, ofWallets, transactions, receipts }: OpenExplorer,
  onProblem: (problem: unknown) => void,
): Source => {
  const { chain, known } = explorer;
  const balances = new ExplorerBalances(explorer);
  const abis = new Abis(explorer);
  /** Nothing of other chains: a request may name none that there is. */
  const listed = <Item>(
    chainIds: ReadonlySet<number>,
    list: () => Promise<Part<Item>>,
  ): Awaitable<Part<Item>> => (chainIds.has(chain.id) ? list() : { items: [], next: null });
  return {
    chains: [chain],
    // The value of a transaction is known, whatever it calls.
    seesCallValues: true,
    costly: DETAILS.map((detail) => ({ detail, page: receipts === null ? MAX_DETAILED : null })),
    operations: [],
    protocols: [],
    changes: null,
    token: (_chainId, address) => known.find(address)?.token ?? null,
    logo: (_chainId, token) => (token === null ? null : (known.find(token)?.logo ?? null)),
    price: (_chainId, token, time) => known.priceOf(token, time),
    contractName: (_chainId, address) => known.nameOf(address),
    decodeCall: (call) => abis.call(call),
    decodeLog: (_chainId, entry) => abis.log(entry),
    transactions: (wallet, chainIds, limit, start, details) =>
      listed(chainIds, () => transactions.list(wallet, limit, start, details)),
    effects: (wallet, chainIds, _limit, start, filter) =>
      listed(chainIds, () => effectsOf(explorer, ofWallets, wallet, start, filter)),
    transaction: (_chainId, hash, details) => transactions.find(hash, details),
    revert: (transaction) => transactions.revert(transaction),
    holdings: (wallet, chainIds, wanted) => listed(chainIds, () => holdingsOf(explorer, wallet, wanted)),
    metadata: ({ metadata = null }) => metadata,
    collection: (_chainId, address) => collectionOf(explorer, address),
    balances: (account, chainIds, wanted) => listed(chainIds, () => balances.list(account, wanted)),
    // It decodes what its own lists have.
    learnAbis: async (listed) => ((await abis.learn(listed)) ? [] : [chain.id]),
    name: (account) => nameOf(explorer, account),
    approvals: () => ({ items: [], next: null, unread: [] }),
    holders: (_chainId, token, wanted) => holdersOf(explorer, token, wanted),
    pool: () => null,
    supply: (_chainId, token) => supplyOf(explorer, token),
    search: (text, chainIds, limit) =>
      chainIds.has(chain.id) ? searchTokens(explorer, text, limit) : { tokens: [] },
    defiPositions: () => [],
    status: () => [],
    beginning: () => null,
    onBlock() {},
    async start() {
      // What is wrong with it is said at once, and by each lookup that needs it.
      void explorer.check().catch(onProblem);
    },
    stop: async () => receipts?.close(),
  };
};

/** The name that the explorer knows. It has none as well while the service that it asks is slow: the two can't be told apart. */
const nameOf = async (explorer: Explorer, address: Hex): Promise<string | null> => {
  const account = await explorer.one(OPERATIONS.address, { address }, explorer.lookup(address));
  const name = account?.ens_domain_name ?? null;
  return name !== null && isNormalised(name) ? name : null;
};
