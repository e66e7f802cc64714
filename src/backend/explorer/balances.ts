import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { Refused } from '../http/query.ts';
import type { AssetBalance, FailedChain, Part, Wanted } from '../source.ts';
import type { Hex } from '../types.ts';
import type { Lookup } from './client/chain.ts';
import { OPERATIONS } from './client/operations.ts';
import type { Cursor } from './client/order.ts';
import type { Page } from './client/paging.ts';
import type { Explorer } from './explorer.ts';

/** Explorers order tokens by their worth, which moves: pages in another order need all of them. */
const MAX_TOKENS = 1_000;
/** Milliseconds for which a walk goes on with the balances that it has begun with. */
const KEPT_MS = 120_000;
const MAX_KEPT = 200;

type Row = z.output<typeof OPERATIONS.addressTokens.row>;

type Balances = { readonly items: readonly AssetBalance[]; readonly failed: readonly FailedChain[] };

/** The native and ERC-20 balances that an explorer knows, in the order of the tokens' addresses. */
export class ExplorerBalances {
  readonly #explorer: Explorer;
  readonly #kept = new LRUCache<Hex, Balances>({ max: MAX_KEPT, ttl: KEPT_MS });

  constructor(explorer: Explorer) {
    this.#explorer = explorer;
  }

  async list(account: Hex, wanted: Wanted | { readonly asset: Hex | null }): Promise<Part<AssetBalance>> {
    const after = 'after' in wanted ? (wanted.after?.[0] ?? null) : null;
    const kept = after === null ? undefined : this.#kept.get(account);
    const { items, failed } =
      kept ?? (await this.#read(account, 'asset' in wanted ? wanted.asset : undefined));
    if (!('asset' in wanted)) this.#kept.set(account, { items, failed });
    const before = after === null ? 0 : items.filter(({ token }) => (token ?? '') <= String(after)).length;
    return { items, before, next: null, failed };
  }

  /** All of an account's, or those that are read for one asset. */
  async #read(account: Hex, asset: Hex | null | undefined): Promise<Balances> {
    const lookup = this.#explorer.lookup(account);
    const [native, coins] = await Promise.all([
      asset === undefined || asset === null ? this.#native(account, lookup) : NOTHING,
      asset === null ? NOTHING : this.#coins(account, lookup),
    ]);
    return {
      items: [...native.items, ...coins.items].sort((one, other) =>
        (one.token ?? '') < (other.token ?? '') ? -1 : 1,
      ),
      failed: [...native.failed, ...coins.failed].slice(0, 1),
    };
  }

  async #native(account: Hex, lookup: Lookup): Promise<Balances> {
    const { chain, known } = this.#explorer;
    const found = await this.#explorer.one(OPERATIONS.address, { address: account }, lookup);
    if (found === null || found.coin_balance === null)
      return this.#missing('the coin is not known to the explorer');
    known.native(found.exchange_rate);
    const amount = found.coin_balance;
    return { items: amount > 0n ? [{ chain, token: null, amount, place: [''] }] : [], failed: [] };
  }

  async #coins(account: Hex, lookup: Lookup): Promise<Balances> {
    const { chain, known } = this.#explorer;
    const found = new Map<Hex, AssetBalance>();
    const seen = new Set<Hex>();
    let isPending = false;
    for (let cursor: Cursor | null = null; ; ) {
      const asked = { address: account, types: ['ERC-20'] } as const;
      const page: Page<Row> | Refused = await this.#explorer
        .page(OPERATIONS.addressTokens, asked, cursor, lookup)
        .catch((problem: unknown) => {
          // Those of the greatest worth came first.
          if (found.size === 0 || !(problem instanceof Refused)) throw problem;
          return problem;
        });
      if (page instanceof Refused) return this.#missing(page.message, found);
      const before = seen.size;
      for (const { token, value } of page.items) {
        seen.add(token.address_hash);
        known.token(token);
        const address = token.address_hash;
        if (value === null) isPending = true;
        else if (value > 0n) found.set(address, { chain, token: address, amount: value, place: [address] });
      }
      if (page.next === null) break;
      if (seen.size === before) return this.#missing('the explorer repeats its pages', found);
      if (found.size >= MAX_TOKENS) return this.#missing(`more than ${MAX_TOKENS} tokens are held`, found);
      cursor = page.next;
    }
    const items = [...found.values()];
    return isPending
      ? this.#missing('the explorer has not read all of them yet', found)
      : { items, failed: [] };
  }

  #missing(reason: string, found: ReadonlyMap<Hex, AssetBalance> = new Map()): Balances {
    return { items: [...found.values()], failed: [{ chainId: this.#explorer.chain.id, reason }] };
  }
}

const NOTHING: Balances = { items: [], failed: [] };
