import type { DatabaseSync } from 'node:sqlite';
import { bestMatches } from '../../endpoints/token-matches.ts';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import { Refused } from '../../http/query.ts';
import type { BlockRef } from '../../node/answers.ts';
import type { Call } from '../../node/calls.ts';
import type {
  AssetBalance,
  Beginning,
  ChainData,
  FailedChain,
  FoundTokens,
  Holder,
  Holders,
  Holding,
  PageStart,
  Part,
  Place,
  Wanted,
} from '../../source.ts';
import type { Chain, Hex, Token } from '../../types.ts';
import { balanceCall, supplyCall } from '../contracts/amounts.ts';
import type { Differing } from '../contracts/differing.ts';
import type { KnownContracts } from '../contracts/known-contracts.ts';
import type { Metadata } from '../contracts/metadata.ts';
import type { Index } from '../database/store.ts';
import { IndexedHoldings } from './holdings.ts';
import { type Coin, Lists } from './lists.ts';
import { NodeState, type StateReader } from './state.ts';

export type IndexedDataOptions = {
  readonly database: DatabaseSync;
  readonly index: Index;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, StateReader>;
  readonly contracts: Pick<
    KnownContracts,
    'contract' | 'token' | 'tokens' | 'readings' | 'isOpen' | 'mayHaveOtherNfts'
  >;
  readonly metadata: Pick<Metadata, 'meet'>;
  /** The tokens whose events do not say what accounts have. */
  readonly differing: Pick<Differing, 'has' | 'behind' | 'new' | 'agrees' | 'note' | 'settled'>;
  /** Milliseconds that a lookup waits for a node. Default: 5,000. */
  readonly patienceMs?: number;
};

/**
 * The lists of indexed chains. Amounts are what contracts say, of the accounts and tokens that the index saw together: a log is
 * a claim. What a contract says otherwise than its transfers is noted.
 */
export class IndexedData
  implements
    Pick<
      ChainData,
      | 'transactions'
      | 'holdings'
      | 'balances'
      | 'holders'
      | 'pool'
      | 'supply'
      | 'search'
      | 'defiPositions'
      | 'protocols'
      | 'beginning'
    >
{
  readonly protocols = [];
  readonly #index: Index;
  readonly #chains: readonly Chain[];
  readonly #contracts: IndexedDataOptions['contracts'];
  readonly #metadata: IndexedDataOptions['metadata'];
  readonly #differing: IndexedDataOptions['differing'];
  readonly #lists: Lists;
  readonly #state: NodeState;
  readonly #holdings: IndexedHoldings;

  constructor({
    database,
    index,
    chains,
    nodes,
    contracts,
    metadata,
    differing,
    patienceMs = 5_000,
  }: IndexedDataOptions) {
    this.#index = index;
    this.#chains = chains.toSorted((one, other) => one.id - other.id);
    this.#contracts = contracts;
    this.#metadata = metadata;
    this.#differing = differing;
    this.#lists = new Lists(database, index);
    this.#state = new NodeState(index, nodes, patienceMs);
    this.#holdings = new IndexedHoldings(
      this.#lists,
      this.#state,
      contracts,
      (chainId) => contracts.mayHaveOtherNfts(chainId) || this.#reread(chainId).length > 0,
    );
  }

  transactions(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    start: PageStart | null,
  ): ReturnType<Lists['transactions']> {
    return this.#lists.transactions(wallet, this.#chosen(chainIds), limit, start);
  }

  effects(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    start: PageStart | null,
  ): ReturnType<Lists['effects']> {
    return this.#lists.effects(wallet, this.#chosen(chainIds), limit, start);
  }

  holdings(wallet: Hex, chainIds: ReadonlySet<number>, wanted: Wanted): Promise<Part<Holding>> {
    return this.#holdings.of(wallet, this.#chosen(chainIds), wanted);
  }

  async balances(
    account: Hex,
    chainIds: ReadonlySet<number>,
    wanted: Wanted | { readonly asset: Hex | null },
  ): Promise<Part<AssetBalance>> {
    const [first = -1, token = ''] = ('after' in wanted ? wanted.after : null) ?? [];
    const amountsOn = (chain: Chain): Promise<Amounts> =>
      'asset' in wanted
        ? this.#amount(chain, account, wanted.asset)
        : this.#amounts(chain, account, chain.id === first ? String(token) : null, wanted.limit);
    const chains = this.#chosen(chainIds).filter(({ id }) => id >= Number(first));
    const found = await Promise.all(chains.map(amountsOn));
    const items: AssetBalance[] = [];
    const failed: FailedChain[] = [];
    for (const [at, chain] of chains.entries()) {
      const { amounts, isWhole, next } = found[at] ?? NOTHING;
      if (!isWhole) failed.push({ chainId: chain.id, reason: null });
      for (const each of amounts)
        if (each.amount > 0n) items.push({ chain, ...each, place: [chain.id, each.token ?? ''] });
      if (next !== null) return { items, next: [chain.id, next], failed };
    }
    return { items, next: null, failed };
  }

  /** Rejects with Refused when they are not listed, or it is not known yet what the contract is, and when the node fails. */
  async holders(chainId: number, token: Hex, wanted: Wanted): Promise<Holders | null> {
    const [chain] = this.#chosen(new Set([chainId]));
    if (chain === undefined || !this.#isErc20(chain, token)) return null;
    if (!this.#index.isListed(chainId))
      throw new Refused(503, `The holders of ${token} are not in order yet: try again later`);
    const head = this.#index.range(chainId)?.head;
    const found = this.#lists.holders(chain, token, { ...wanted, limit: wanted.limit + 1 });
    const summed = found.slice(0, wanted.limit);
    const calls = summed.map(({ account }) => balanceCall(account, token));
    const asked = [this.#agrees(chain, token), Promise.all(this.#state.amounts(chainId, calls))] as const;
    const [hasItsSupply, amounts] = await Promise.all(asked).catch(() => {
      throw new Refused(503, `The balances of ${token} could not be read: try again later`);
    });
    const items: Holder[] = [];
    let isWhole = hasItsSupply && !this.#differing.has(chainId, token);
    for (const [at, { amount: sum, ...holder }] of summed.entries()) {
      const amount = amounts[at] ?? 0n;
      if (amount > 0n) items.push({ ...holder, amount, place: placeOf(sum, holder.account) });
      if (amount === sum) continue;
      isWhole = false;
      this.#note(chain, token, head, calls[at], sum, false);
    }
    const last = summed.at(-1);
    const hasMore = found.length > summed.length && last !== undefined;
    return { items, next: hasMore ? placeOf(last.amount, last.account) : null, isWhole };
  }

  /** What the token says. Rejects with Refused when the node fails. */
  async supply(chainId: number, token: Hex | null): Promise<bigint | null> {
    const [chain] = this.#chosen(new Set([chainId]));
    if (chain === undefined || token === null) return null;
    const supply = await this.#said(chainId, supplyCall(token)).catch(() => {
      throw new Refused(503, `The supply of ${token} could not be read: try again later`);
    });
    if (supply !== null) await this.#meet(chain, token);
    return this.#isErc20(chain, token) ? supply : null;
  }

  /** Anyone can deploy a token that claims to be another one: those whose events tell of more than there are come last. */
  async search(text: string, chainIds: ReadonlySet<number>, limit: number): Promise<FoundTokens> {
    const known = this.#chosen(chainIds).flatMap(({ id }) => this.#contracts.tokens(id));
    const best = bestMatches(text, known);
    const overstated = await this.#overstated(best.slice(0, MAX_VERIFIED));
    const ranked = [...best.filter((token) => !overstated.has(token)), ...overstated];
    return { tokens: ranked.slice(0, limit) };
  }

  /** Those of which events tell of more than their contracts say there are. Where the node fails, it is not known of others. */
  async #overstated(tokens: readonly Token[]): Promise<ReadonlySet<Token>> {
    const said = tokens.map(async (token): Promise<readonly Token[]> => {
      const { chain, address } = token;
      const isListed = this.#index.isListed(chain.id);
      const [most] = isListed ? this.#lists.holders(chain, address, { after: null, limit: 1 }) : [];
      const issued = this.#isComplete(chain) ? -this.#lists.coin(ZERO_ADDRESS, chain, address) : 0n;
      const sum = most !== undefined && most.amount > issued ? most.amount : issued;
      const head = this.#index.range(chain.id)?.head;
      const call = supplyCall(address);
      const supply = await this.#said(chain.id, call).catch(() => null);
      if (supply === null || supply >= sum) return [];
      this.#note(chain, address, head, call, sum, true);
      return [token];
    });
    return new Set((await Promise.all(said)).flat());
  }

  /** Compares the supply of new tokens with their events. Returns whether that is known of all. Rejects when the node fails. */
  async lookAtNew(chainId: number): Promise<boolean> {
    const [chain] = this.#chosen(new Set([chainId]));
    if (chain === undefined || !this.#isComplete(chain)) return true;
    await Promise.all(
      this.#differing.new(chainId).map(async (token) => {
        if (await this.#agrees(chain, token)) this.#differing.agrees(chainId, token);
      }),
    );
    await this.#differing.settled();
    return this.#differing.new(chainId).length === 0;
  }

  beginning(chainId: number): Beginning | null {
    const range = this.#index.range(chainId);
    if (range === null) return { block: null, isLate: false };
    const { from, lowest } = range;
    return lowest.number === 0 ? null : { block: lowest.number, isLate: lowest.number === from };
  }

  pool(): null {
    return null;
  }

  defiPositions(): readonly [] {
    return [];
  }

  /** In the order of their ids. */
  #chosen(chainIds: ReadonlySet<number>): readonly Chain[] {
    return this.#chains.filter(({ id }) => chainIds.has(id));
  }

  /** The contracts whose logs are being read again: until that has ended, the lists of the index lack some of what they moved. */
  #reread(chainId: number): readonly Hex[] {
    return this.#index.rereading.underway(chainId);
  }

  /** Whether the sums of a chain are balances: not while its oldest blocks are missing. */
  #isComplete({ id }: Chain): boolean {
    return this.#index.range(id)?.lowest.number === 0;
  }

  /** @throws Refused when it is not known yet, as the node could not ask the contract. */
  #isErc20(chain: Chain, token: Hex): boolean {
    if (this.#isPending(chain, token))
      throw new Refused(503, `What ${token} is could not be read yet: try again later`);
    return this.#contracts.token(chain.id, token)?.standard === 'erc20';
  }

  /** Whether it is not known yet what a contract says of itself. */
  #isPending({ id }: Chain, token: Hex): boolean {
    return this.#contracts.contract(id, token)?.isPending ?? false;
  }

  /** Whether a contract says anything of itself, or is still to be asked. One that logs deposits, and says nothing, is no token. */
  #mayBeToken({ id }: Chain, token: Hex): boolean {
    const contract = this.#contracts.contract(id, token);
    if (contract === null || contract.isPending) return true;
    return contract.name !== null || contract.symbol !== null || contract.decimals !== null;
  }

  async #amount(chain: Chain, account: Hex, asset: Hex | null): Promise<Amounts> {
    if (asset === null) return this.#native(chain, account);
    if (this.#contracts.isOpen(chain.id, asset)) await this.#meet(chain, asset);
    const found = await this.#coins(chain, account, [
      { token: asset, amount: this.#lists.coin(account, chain, asset) },
    ]);
    if (found.amounts.length === 0 || this.#contracts.contract(chain.id, asset) !== null) return found;
    await this.#meet(chain, asset);
    if (this.#isPending(chain, asset)) return { ...NOTHING, isWhole: false };
    return this.#contracts.token(chain.id, asset)?.standard === 'erc20' ? found : NOTHING;
  }

  /** What an account has on a chain behind a token, or from the native asset on: of at least `limit` tokens, if it has as many. */
  async #amounts(chain: Chain, account: Hex, after: string | null, limit: number): Promise<Amounts> {
    const found = this.#candidates(chain, account, after ?? '', limit);
    const [native, coins] = await Promise.all([
      after === null ? this.#native(chain, account) : NOTHING,
      this.#coins(chain, account, found),
    ]);
    const next = found.length < limit ? null : (found.at(-1)?.token ?? null);
    const amounts = [...native.amounts, ...coins.amounts];
    return { amounts, isWhole: native.isWhole && coins.isWhole, next };
  }

  /** The tokens that an account may have: those that it has moved, those that move without an event, and those of which that is not known yet. */
  #candidates(chain: Chain, account: Hex, after: string, limit: number): readonly Coin[] {
    const moved = this.#lists.coins(account, chain, after, limit);
    const known = new Set(moved.map(({ token }) => token));
    const uncompared = this.#isComplete(chain) ? this.#differing.new(chain.id) : [];
    const unread = [...this.#differing.behind(chain.id, after), ...this.#reread(chain.id)];
    const unmoved = new Set([...unread, ...uncompared]);
    const others = [...unmoved].filter((token) => token > after && !known.has(token));
    if (others.length === 0) return moved;
    return [...moved, ...others.map((token) => ({ token, amount: 0n }))]
      .sort((one, other) => (one.token < other.token ? -1 : 1))
      .slice(0, limit);
  }

  /** The node's failures are not whole, and the follower of the chain reports them. */
  #native({ id }: Chain, account: Hex): Promise<Amounts> {
    return this.#state.native(id, account).then(
      (amount) => ({ ...NOTHING, amounts: [{ token: null, amount }] }),
      () => ({ ...NOTHING, isWhole: false }),
    );
  }

  /** What tokens say that an account has. The sums of their transfers only tell which ones to ask. */
  async #coins(chain: Chain, account: Hex, summed: readonly Coin[]): Promise<Amounts> {
    const head = this.#index.range(chain.id)?.head;
    const isComplete = this.#isComplete(chain);
    const asked = summed.filter(({ token }) => this.#mayBeToken(chain, token));
    const calls = asked.map(({ token }) => balanceCall(account, token));
    const answers = await Promise.allSettled(this.#state.amounts(chain.id, calls));
    const amounts: Coin[] = [];
    let isWhole = true;
    for (const [at, { token, amount: sum }] of asked.entries()) {
      const answer = answers[at];
      const amount = answer?.status === 'fulfilled' ? answer.value : null;
      const isCoin = this.#contracts.readings(chain.id, token).coin !== 0;
      const isPending = this.#isPending(chain, token) || (!isCoin && this.#contracts.isOpen(chain.id, token));
      if (!isCoin && !isPending) continue;
      if (answer?.status !== 'fulfilled' || (isPending && amount !== 0n && amount !== null)) isWhole = false;
      if (amount === null) continue;
      if (!isPending) amounts.push({ token, amount });
      if (isComplete && amount !== sum) this.#note(chain, token, head, calls[at], sum, false);
    }
    return { amounts, isWhole, next: null };
  }

  /** Whether the supply of a token is what its events sum up to, or unknown. Rejects when the node fails. */
  async #agrees(chain: Chain, token: Hex): Promise<boolean> {
    const head = this.#index.range(chain.id)?.head;
    const call = supplyCall(token);
    const issued = -this.#lists.coin(ZERO_ADDRESS, chain, token);
    const supply = await this.#said(chain.id, call);
    if (supply === null || supply === issued) return true;
    // Some tokens still count what was sent to the zero address.
    const burned = await this.#said(chain.id, balanceCall(ZERO_ADDRESS, token));
    if (supply === issued + (burned ?? 0n)) return true;
    this.#note(chain, token, head, call, issued, supply < issued);
    return false;
  }

  async #said(chainId: number, call: Call): Promise<bigint | null> {
    const [answer = null] = this.#state.amounts(chainId, [call]);
    return answer;
  }

  #note(
    { id }: Chain,
    token: Hex,
    block: BlockRef | undefined,
    call: Call | undefined,
    sum: bigint,
    isOverstated: boolean,
  ): void {
    if (block !== undefined && call !== undefined)
      this.#differing.note({ chainId: id, token, call, sum, block, isOverstated });
  }

  async #meet({ id }: Chain, token: Hex): Promise<void> {
    await this.#metadata.meet(id, token, this.#index.range(id)?.head.number ?? 0);
  }
}

/** The tokens of one search whose supply is asked for. */
const MAX_VERIFIED = 200;

const placeOf = (sum: bigint, account: Hex): Place => [sum.toString(), account];

type Amounts = {
  readonly amounts: readonly { readonly token: Hex | null; readonly amount: bigint }[];
  /** Whether these are all: not where the node failed, or did not say yet what a token is. */
  readonly isWhole: boolean;
  /** The last token that was looked at; null when that was all. */
  readonly next: Hex | null;
};

const NOTHING: Amounts = { amounts: [], isWhole: true, next: null };
