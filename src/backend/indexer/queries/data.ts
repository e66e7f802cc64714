import type { DatabaseSync } from 'node:sqlite';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import { isBehind, Refused } from '../../http/query.ts';
import type {
  AccountBalances,
  AssetBalance,
  ChainData,
  Holder,
  Holding,
  Part,
  Wanted,
} from '../../source.ts';
import type { Chain, Hex, Token } from '../../types.ts';
import type { Metadata } from '../contracts/metadata.ts';
import type { Index } from '../database/store.ts';
import { type Coin, Lists } from './lists.ts';
import { NodeState, type StateReader } from './state.ts';

export type IndexedDataOptions = {
  readonly database: DatabaseSync;
  readonly index: Index;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, StateReader>;
  readonly metadata: Pick<Metadata, 'contract' | 'token' | 'tokens'>;
  /** Milliseconds that a lookup waits for a node. Default: 5,000. */
  readonly patienceMs?: number;
};

/**
 * The lists of indexed chains. Balances are what the transfers of all blocks sum up to, and where the index lacks the oldest
 * ones, what the tokens say that the index saw the account touch.
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
      | 'tokens'
      | 'defiPositions'
      | 'protocols'
    >
{
  readonly protocols = [];
  readonly #index: Index;
  readonly #chains: readonly Chain[];
  readonly #metadata: IndexedDataOptions['metadata'];
  readonly #lists: Lists;
  readonly #state: NodeState;

  constructor({ database, index, chains, nodes, metadata, patienceMs = 5_000 }: IndexedDataOptions) {
    this.#index = index;
    this.#chains = chains.toSorted((one, other) => one.id - other.id);
    this.#metadata = metadata;
    this.#lists = new Lists(database, index);
    this.#state = new NodeState(index, nodes, patienceMs);
  }

  transactions(
    ...[wallet, chainIds, limit, start]: Parameters<ChainData['transactions']>
  ): ReturnType<Lists['transactions']> {
    return this.#lists.transactions(wallet, this.#chosen(chainIds), limit, start);
  }

  holdings(wallet: Hex, chainIds: ReadonlySet<number>, wanted: Wanted): Part<Holding> {
    const chains = this.#chosen(chainIds);
    const found = chains.flatMap((chain) =>
      this.#lists
        .collectibles(wallet, chain, { ...wanted, limit: wanted.limit + 1 })
        .map(({ amount, ...held }): Holding => {
          const symbol = this.#metadata.contract(chain.id, held.contract)?.symbol ?? null;
          return { ...held, chain, symbol, balance: amount, soldFor: null };
        }),
    );
    if (chains.length > 1) found.sort((one, other) => (isBehind(one.place, other.place) ? 1 : -1));
    const items = found.slice(0, wanted.limit);
    return { items, next: found.length > items.length ? (items.at(-1)?.place ?? null) : null };
  }

  async balances(
    account: Hex,
    chainIds: ReadonlySet<number>,
    wanted: Wanted | { readonly asset: Hex | null },
  ): Promise<AccountBalances> {
    const [first = -1, token = ''] = ('after' in wanted ? wanted.after : null) ?? [];
    const amountsOn = (chain: Chain): Promise<Amounts> =>
      'asset' in wanted
        ? this.#amount(chain, account, wanted.asset)
        : this.#amounts(chain, account, chain.id === first ? String(token) : null, wanted.limit);
    const chains = this.#chosen(chainIds).filter(({ id }) => id >= Number(first));
    const found = await Promise.all(chains.map(amountsOn));
    const items: AssetBalance[] = [];
    const failed: number[] = [];
    for (const [at, chain] of chains.entries()) {
      const { amounts, isWhole, next } = found[at] ?? NOTHING;
      if (!isWhole) failed.push(chain.id);
      for (const each of amounts) if (each.amount > 0n) items.push({ chain, ...each });
      if (next !== null) return { items, next: [chain.id, next], failed };
    }
    return { items, next: null, failed };
  }

  /** @throws Refused when it is not known yet what the contract is. */
  holders(chainId: number, token: Hex, wanted: Wanted): Part<Holder> | null {
    const [chain] = this.#chosen(new Set([chainId]));
    if (chain === undefined || !this.#isComplete(chain) || !this.#isErc20(chain, token)) return null;
    const found = this.#lists.holders(chain, token, { ...wanted, limit: wanted.limit + 1 });
    const items = found.slice(0, wanted.limit);
    const last = items.at(-1);
    const hasMore = found.length > items.length && last !== undefined;
    return { items, next: hasMore ? [last.amount.toString(), last.account] : null };
  }

  /** What was minted less what was burned. A token that says neither is asked. Rejects with Refused when the node fails. */
  async supply(chainId: number, token: Hex): Promise<bigint | null> {
    const [chain] = this.#chosen(new Set([chainId]));
    if (chain === undefined || !this.#isErc20(chain, token)) return null;
    const issued = this.#isComplete(chain) ? -this.#lists.coin(ZERO_ADDRESS, chain, token) : 0n;
    if (issued > 0n) return issued;
    return this.#state.supply(chainId, token).catch(() => {
      throw new Refused(503, `The supply of ${token} could not be read: try again later`);
    });
  }

  tokens(chainIds: ReadonlySet<number>): readonly Token[] {
    return this.#chosen(chainIds).flatMap(({ id }) => this.#metadata.tokens(id));
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

  /** Whether the sums of a chain are balances: not while its oldest blocks are missing. */
  #isComplete({ id }: Chain): boolean {
    return this.#index.range(id)?.lowest.number === 0;
  }

  /** @throws Refused when it is not known yet, as the node could not ask the contract. */
  #isErc20(chain: Chain, token: Hex): boolean {
    if (this.#isPending(chain, token))
      throw new Refused(503, `What ${token} is could not be read yet: try again later`);
    return this.#metadata.token(chain.id, token)?.standard === 'erc20';
  }

  /** Whether it is not known yet what a contract says of itself. */
  #isPending({ id }: Chain, token: Hex): boolean {
    return this.#metadata.contract(id, token)?.isPending ?? false;
  }

  /** Whether a contract says anything of itself. One that logs deposits, and says nothing, is taken for no token. */
  #isToken({ id }: Chain, token: Hex): boolean {
    const { name = null, symbol = null, decimals = null } = this.#metadata.contract(id, token) ?? {};
    return name !== null || symbol !== null || decimals !== null;
  }

  async #amount(chain: Chain, account: Hex, asset: Hex | null): Promise<Amounts> {
    if (asset === null) return this.#native(chain, account);
    const summed = { token: asset, amount: this.#lists.coin(account, chain, asset) };
    return this.#coins(chain, account, [summed]);
  }

  /** What an account has on a chain behind a token, or from the native asset on: of at least `limit` tokens, if it has as many. */
  async #amounts(chain: Chain, account: Hex, after: string | null, limit: number): Promise<Amounts> {
    const found = this.#lists.coins(account, chain, after ?? '', limit);
    const [native, coins] = await Promise.all([
      after === null ? this.#native(chain, account) : NOTHING,
      this.#coins(chain, account, found),
    ]);
    const next = found.length < limit ? null : (found.at(-1)?.token ?? null);
    const amounts = [...native.amounts, ...coins.amounts];
    return { amounts, isWhole: native.isWhole && coins.isWhole, next };
  }

  /** The node's failures are not whole, and the follower of the chain reports them. */
  #native({ id }: Chain, account: Hex): Promise<Amounts> {
    return this.#state.native(id, account).then(
      (amount) => ({ ...NOTHING, amounts: [{ token: null, amount }] }),
      () => ({ ...NOTHING, isWhole: false }),
    );
  }

  /** The balances of what are tokens, by their sums or by what they say. */
  async #coins(chain: Chain, account: Hex, summed: readonly Coin[]): Promise<Amounts> {
    const isListed = ({ token }: Coin) => this.#isToken(chain, token);
    const isMissing = ({ token, amount }: Coin) => amount > 0n && this.#isPending(chain, token);
    if (this.#isComplete(chain))
      return { amounts: summed.filter(isListed), isWhole: !summed.some(isMissing), next: null };
    const tokens = summed.map(({ token }) => token);
    const asked = tokens.filter((token) => this.#isToken(chain, token) || this.#isPending(chain, token));
    const answers = await Promise.allSettled(this.#state.coins(chain.id, account, asked));
    const said = asked.flatMap((token, at): readonly Coin[] => {
      const answer = answers[at];
      const amount = answer?.status === 'fulfilled' ? answer.value : null;
      return amount === null ? [] : [{ token, amount }];
    });
    const isAnswered = answers.every(({ status }) => status === 'fulfilled');
    return { amounts: said.filter(isListed), isWhole: isAnswered && !said.some(isMissing), next: null };
  }
}

type Amounts = {
  readonly amounts: readonly { readonly token: Hex | null; readonly amount: bigint }[];
  /** Whether these are all: not where the node failed, or did not say yet what a token is. */
  readonly isWhole: boolean;
  /** The last token that was looked at; null when that was all. */
  readonly next: Hex | null;
};

const NOTHING: Amounts = { amounts: [], isWhole: true, next: null };
