import { Refused } from '../http/query.ts';
import type { FoundTokens, Holder, Holders, Wanted } from '../source.ts';
import type { Hex } from '../types.ts';
import type { Lookup } from './client/chain.ts';
import { OPERATIONS } from './client/operations.ts';
import type { Cursor } from './client/order.ts';
import type { Explorer } from './explorer.ts';

/** The supply of an ERC-20; null for any other token. Afterwards its price and its names are those of now. */
export const supplyOf = async (explorer: Explorer, token: Hex | null): Promise<bigint | null> => {
  const { known } = explorer;
  if (token === null) {
    const stats = await explorer.one(OPERATIONS.stats, {}, explorer.lookup('native'));
    known.native(stats?.coin_price ?? null);
    return null;
  }
  const row = await explorer.one(OPERATIONS.token, { token }, explorer.lookup(token));
  if (row === null) return null;
  const described = known.token(row);
  if (row.type !== null && row.type !== 'ERC-20') return null;
  // Without any of it, it would look like a token that is not there.
  if (described === null || row.total_supply === null)
    throw unsaid(explorer, token, 'the name, the decimals and the supply');
  return row.total_supply;
};

/** One page of the holders of an ERC-20, by amount, and equal ones by their addresses, each greatest first. */
export const holdersOf = async (
  explorer: Explorer,
  token: Hex,
  { after, limit }: Wanted,
): Promise<Holders | null> => {
  const lookup = explorer.lookup(token);
  if (!(await isErc20(explorer, token, lookup))) return null;
  const page = await explorer.list(OPERATIONS.tokenHolders, { token }, cursorAt(after), lookup, limit);
  if (page === null) return null;
  const items = page.items.flatMap(({ address, value }): readonly Holder[] => {
    explorer.known.account(address);
    if (value === null) throw unsaid(explorer, token, 'what all holders have');
    if (value === 0n) return [];
    const place = [value.toString(), address.hash];
    return [{ account: address.hash, amount: value, acquiredAt: null, hasSent: null, place }];
  });
  const next = page.next && [String(page.next.value ?? ''), String(page.next.address_hash ?? '')];
  return { items, next, isEnough: true, isWhole: true };
};

const cursorAt = (after: Wanted['after']): Cursor | null => {
  if (after === null) return null;
  const [value = '', address_hash = ''] = after;
  return { value, address_hash };
};

const isErc20 = async (explorer: Explorer, token: Hex, lookup: Lookup): Promise<boolean> => {
  const { known } = explorer;
  let type = known.find(token)?.type ?? null;
  if (type === null) {
    const row = await explorer.one(OPERATIONS.token, { token }, lookup);
    if (row === null) return false;
    known.token(row);
    type = row.type;
  }
  if (type === null) throw unsaid(explorer, token, 'what kind of token it is');
  return type === 'ERC-20';
};

/** What the explorer leaves open can't be answered. */
const unsaid = ({ chain: { id } }: Explorer, token: Hex, what: string): Refused =>
  new Refused(503, `The explorer of chain ${id} does not say of ${token} ${what}`);

/** The tokens that the explorer finds, in its order. */
export const searchTokens = async (explorer: Explorer, text: string, limit: number): Promise<FoundTokens> => {
  const lookup = explorer.lookup(text);
  const page = await explorer.page(
    OPERATIONS.tokens,
    { query: text, types: ['ERC-20'] },
    null,
    lookup,
    limit,
  );
  // Only such were asked for.
  const rows = page.items.map((row) => ({ ...row, type: row.type ?? 'ERC-20' }));
  return { tokens: rows.flatMap((row) => explorer.known.token(row) ?? []).slice(0, limit) };
};
