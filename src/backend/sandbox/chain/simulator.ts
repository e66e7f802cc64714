import { bestMatches } from '../../endpoints/token-matches.ts';
import { decodeCall, decodeLog } from '../../evm/abi.ts';
import { type Revert, revertOf } from '../../evm/revert.ts';
import { erc20Errors } from '../../evm/standards.ts';
import { isBehind } from '../../http/query.ts';
import type {
  Allowances,
  AssetBalance,
  BlockListener,
  ChainStatus,
  Collection,
  DefiPosition,
  FoundTokens,
  Holder,
  Holders,
  Holding,
  Listed,
  NftMetadata,
  PageStart,
  Part,
  Place,
  Pool,
  Source,
  Wanted,
} from '../../source.ts';
import type { Block, Call, Decoded, Hex, ListedTransaction, LogEntry, Token } from '../../types.ts';
import { CHAINS } from '../chains.ts';
import { metadataOf } from '../metadata.ts';
import { imagePath, logoPath, pictures } from '../pictures.ts';
import { Random } from '../random.ts';
import { allowancesOf, isAfter } from './allowances.ts';
import {
  BlockBuilder,
  blockHash,
  blockRandom,
  COUNTERPARTIES,
  heightAt,
  MinedTransaction,
  planBlock,
  planHistory,
} from './block-builder.ts';
import { defiPositions, PROTOCOLS } from './defi.ts';
import { Holdings, type Ledger } from './ledger.ts';
import { priceAt } from './prices.ts';
import { TransactionStore } from './transaction-store.ts';
import { DEMO_WALLETS } from './wallet-profiles.ts';

export type ChainSimulatorOptions = {
  readonly seed: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds between two live blocks of a chain. Default: 2,000. */
  readonly blockMs?: number;
  /** The URL under which its operations are served, without a trailing slash. Default: empty. */
  readonly baseUrl?: () => string;
};

const byToken = (one: AssetBalance, other: AssetBalance): number =>
  one.chain.id - other.chain.id || ((one.token ?? '') < (other.token ?? '') ? -1 : 1);

const byAmount = (one: Holder, other: Holder): number => {
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return one.account < other.account ? -1 : 1;
};

/** All of a list, of which a place may leave a part behind: also what comes before it, so that faults can move a page there. */
const wholeList = <Item>(
  items: readonly Item[],
  after: Place | null,
  isAfter: (item: Item, place: Place) => boolean,
): Part<Item> => {
  const first = after === null ? 0 : items.findIndex((item) => isAfter(item, after));
  return { items, before: first < 0 ? items.length : first, next: null };
};

const isCoin = ({ standard }: Token) => standard === 'erc20';

/** Simulates all chains and their wallets: a history that depends only on the seed, and live blocks on top of it. */
export class ChainSimulator implements Source {
  readonly chains = CHAINS;
  readonly seesCallValues = false;
  readonly costly = [];
  /** As a hosted service, it bills requests and tells nothing. */
  readonly changes = null;
  readonly protocols = PROTOCOLS;
  readonly operations = pictures(this);
  readonly #options: ChainSimulatorOptions;
  readonly #holdings: Holdings;
  readonly #transactions: TransactionStore;
  readonly #builders: ReadonlyMap<number, BlockBuilder>;
  readonly #heights = new Map<number, number>();
  readonly #listeners: BlockListener[] = [];
  #clock: NodeJS.Timeout | undefined;
  #order = 0;
  #lastTime = 0;

  constructor(options: ChainSimulatorOptions) {
    this.#options = options;
    const wallets = DEMO_WALLETS.map(({ address }) => address);
    this.#holdings = new Holdings(wallets);
    this.#transactions = new TransactionStore(wallets, COUNTERPARTIES);
    const shared = {
      seed: options.seed,
      startedAt: options.now(),
      holdings: this.#holdings,
      nextOrder: () => this.#order++,
    };
    this.#builders = new Map(CHAINS.map((chain) => [chain.id, new BlockBuilder({ ...shared, chain })]));
    this.#playHistory(shared.startedAt);
  }

  token(chainId: number, address: Hex): Token | null {
    return this.#builders.get(chainId)?.contracts.tokens.get(address) ?? null;
  }

  price(chainId: number, token: Hex | null, time: number): number | null {
    const builder = this.#builders.get(chainId);
    const asset = token === null ? builder?.chain.native : builder?.contracts.tokens.get(token);
    return asset === undefined ? null : priceAt(asset, time);
  }

  /** The logo of the native asset or an ERC-20; null for an NFT, which has an image instead. */
  logo(chainId: number, token: Hex | null): string | null {
    const isFungible = token === null || this.token(chainId, token)?.standard === 'erc20';
    return isFungible ? this.#url(logoPath(chainId, token)) : null;
  }

  /** Null for a contract that is not an NFT collection. Spam collections are described as well. */
  collection(chainId: number, address: Hex): Collection | null {
    const found = this.#builders.get(chainId)?.contracts.nfts.get(address);
    if (found === undefined) return null;
    const { token, launchedAt, reputation, uri } = found;
    return { name: token.name, symbol: token.symbol, launchedAt, reputation, uri };
  }

  metadata({ chain, contract, tokenId }: Holding): NftMetadata | null {
    const collection = this.#builders.get(chain.id)?.contracts.nfts.get(contract);
    if (collection === undefined) return null;
    return metadataOf(collection, tokenId, this.#url(imagePath(chain.id, contract, tokenId)));
  }

  decodeCall({ chain, to, data }: Call): Decoded | null {
    const abi = to === null ? undefined : this.#builders.get(chain.id)?.contracts.abis.get(to);
    const called = Object.values(abi ?? {}).find(
      (item) => 'selector' in item && data.startsWith(item.selector),
    );
    return called !== undefined && 'selector' in called ? decodeCall(called, data) : null;
  }

  decodeLog(chainId: number, log: LogEntry): Decoded | null {
    const abi = this.#builders.get(chainId)?.contracts.abis.get(log.address);
    const emitted = Object.values(abi ?? {}).find((item) => 'topic' in item && item.topic === log.topics[0]);
    return emitted !== undefined && 'topic' in emitted ? decodeLog(emitted, log) : null;
  }

  transactions(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    start: PageStart | null,
  ): Part<Listed<MinedTransaction>> {
    return this.#transactions.page(wallet, chainIds, limit, start);
  }

  effects(...asked: Parameters<ChainSimulator['transactions']>): Part<Listed<MinedTransaction>> {
    return this.transactions(...asked);
  }

  transaction(chainId: number, hash: Hex): MinedTransaction | null {
    return this.#transactions.find(chainId, hash);
  }

  revert(transaction: ListedTransaction): Revert {
    const data = transaction instanceof MinedTransaction ? transaction.revert : null;
    return revertOf({ data, halted: null }, (error) => {
      const known = Object.values(erc20Errors).find(({ selector }) => error.startsWith(selector));
      return known === undefined ? null : decodeCall(known, error);
    });
  }

  /** The NFTs of a wallet, the most recently acquired first. */
  holdings(wallet: Hex, chainIds: ReadonlySet<number>, { after }: Wanted): Part<Holding> {
    const items = this.#holdings
      .of(wallet, ({ token }) => chainIds.has(token.chain.id))
      .toReversed()
      .map(({ token, slot, ...owned }) => ({
        ...owned,
        chain: token.chain,
        contract: token.address,
        standard: token.standard,
        symbol: token.symbol,
        place: [slot],
      }));
    return wholeList(items, after, ({ place }, last) => isBehind(place, last));
  }

  balances(
    account: Hex,
    chainIds: ReadonlySet<number>,
    wanted: Wanted | { readonly asset: Hex | null },
  ): Part<AssetBalance> {
    const items = [...this.#builders.values()].flatMap(({ chain, ledger }) =>
      chainIds.has(chain.id)
        ? ledger
            .balances(account)
            .map(([token, amount]) => ({ chain, token, amount, place: [chain.id, token ?? ''] }))
        : [],
    );
    return wholeList(
      items.sort(byToken),
      'after' in wanted ? wanted.after : null,
      ({ chain, token }, [chainId = 0, last = '']) =>
        chain.id > Number(chainId) || (chain.id === chainId && (token ?? '') > last),
    );
  }

  approvals(owner: Hex, chainIds: ReadonlySet<number>, { after, limit }: Wanted): Allowances {
    const all = allowancesOf(owner, this.#transactions.of(owner)).filter(
      (each) => chainIds.has(each.chain.id) && (after === null || isAfter(each, { place: after })),
    );
    const items = all.slice(0, limit);
    const next = all.length > items.length ? (items.at(-1)?.place ?? null) : null;
    return { items, next, unread: [] };
  }

  holders(chainId: number, token: Hex, { after }: Wanted): Holders | null {
    const holders = this.#coinLedger(chainId, token)?.holders(token);
    if (holders === undefined) return null;
    const isAfter = ({ amount, account }: Holder, [balance = 0, last = '']: Place) =>
      amount < BigInt(balance) || (amount === BigInt(balance) && account > last);
    return { ...wholeList(holders.toSorted(byAmount), after, isAfter), isWhole: true };
  }

  supply(chainId: number, token: Hex | null): bigint | null {
    return token === null ? null : (this.#coinLedger(chainId, token)?.supply(token) ?? null);
  }

  pool(chainId: number, token: Hex): Pool | null {
    const contracts = this.#builders.get(chainId)?.contracts;
    const known = contracts?.tokens.get(token);
    if (contracts === undefined || known === undefined || !isCoin(known) || known.poolSizeUsd === null)
      return null;
    const { coins, pool, wrapped } = contracts;
    const isWrapped = token === wrapped.address;
    const [, dollar] = coins;
    const other = isWrapped && dollar !== undefined ? dollar.address : wrapped.address;
    return {
      type: coins.includes(known) ? 'uniswap_v3' : 'uniswap_v2',
      address: pool,
      tokens: [token, other],
    };
  }

  search(text: string, chainIds: ReadonlySet<number>, limit: number): FoundTokens {
    return { tokens: bestMatches(text, this.tokens(chainIds)).slice(0, limit) };
  }

  /** The ERC-20s of the given chains. */
  tokens(chainIds: ReadonlySet<number>): readonly Token[] {
    return [...this.#builders.values()].flatMap(({ chain, contracts }) =>
      chainIds.has(chain.id) ? [...contracts.tokens.values()].filter(isCoin) : [],
    );
  }

  defiPositions(wallet: Hex, chainIds: ReadonlySet<number>, time: number): readonly DefiPosition[] {
    return defiPositions(wallet, time, (chainId) => this.#builders.get(chainId)?.contracts ?? null).filter(
      ({ chain_id }) => chainIds.has(chain_id),
    );
  }

  contractName(chainId: number, address: Hex): string | null {
    const { contractNames, tokens } = this.#builders.get(chainId)?.contracts ?? {};
    return contractNames?.get(address) ?? tokens?.get(address)?.name ?? null;
  }

  onBlock(listener: BlockListener): void {
    this.#listeners.push(listener);
  }

  /** Starts the clock, which makes live blocks from then on. */
  async start(): Promise<void> {
    this.#clock ??= setInterval(() => this.tick(), this.#options.blockMs ?? 2_000);
  }

  async stop(): Promise<void> {
    clearInterval(this.#clock);
  }

  beginning(): null {
    return null;
  }

  /** Simulated chains are not followed. */
  status(): readonly ChainStatus[] {
    return [];
  }

  /**
   * Makes the next block of a chain at the current time.
   * @throws when there is no such chain.
   */
  mine(chainId: number): Block {
    const builder = this.#builders.get(chainId);
    if (builder === undefined)
      throw new Error(`expected the id of one of the sandbox's chains, got ${chainId}`);
    const { chain } = builder;
    const { seed, now } = this.#options;
    // Block times are whole seconds. They never decrease, also when the clock is set back.
    this.#lastTime = Math.max(this.#lastTime, Math.floor(now() / 1000) * 1000);
    const time = this.#lastTime;
    const before = this.#heights.get(chainId);
    const number = (before ?? heightAt(chain, time)) + 1;
    this.#heights.set(chainId, number);
    const random = blockRandom(seed, chainId, number);
    const transactions = builder.mine(number, time, planBlock(chainId, before === undefined, random), random);
    for (const transaction of transactions) this.#transactions.addLive(transaction);
    const block = { chain, number, time, hash: blockHash({ chain, number, time, seed }), transactions };
    for (const listener of this.#listeners) listener.added(block);
    return block;
  }

  /** Makes the next block of every chain that has live blocks. */
  tick(): readonly Block[] {
    return this.chains.filter((chain) => chain.live).map((chain) => this.mine(chain.id));
  }

  #url(path: string): string {
    return `${this.#options.baseUrl?.() ?? ''}${path}`;
  }

  /** The ledger of a known ERC-20. */
  #coinLedger(chainId: number, address: Hex): Ledger | null {
    const token = this.token(chainId, address);
    return token !== null && isCoin(token) ? (this.#builders.get(chainId)?.ledger ?? null) : null;
  }

  #playHistory(now: number): void {
    const random = new Random(`${this.#options.seed}/history`);
    for (const planned of planHistory(this.#options.seed, now)) {
      const transactions =
        this.#builders
          .get(planned.chain.id)
          ?.mine(planned.number, planned.time, [planned], planned.random ?? random) ?? [];
      for (const transaction of transactions) this.#transactions.addPast(transaction);
      this.#lastTime = planned.time;
    }
  }
}
