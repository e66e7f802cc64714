import type { Place } from '../http/query.ts';
import { address, chainChoice, limit, list, single, words } from '../http/query.ts';
import type { OrderedTransaction } from '../types.ts';
import { ACTIVITY_TYPES, ASSET_TYPES, type Hex } from '../types.ts';
import { type Activity, activitiesOf } from './activity-items.ts';
import { type Asked, type Lookup, scopeOf, warnings } from './lookup.ts';
import { positionOf } from './transactions.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** The transactions that one page looks at: behind it a filter makes pages that are short, or empty. */
const MAX_LOOKED_AT = 1_000;
const BATCH = 200;

/** An activity with its place: its transaction's, and its own among the activities of the transaction. */
type Placed = { readonly activity: Activity; readonly transaction: OrderedTransaction; readonly at: number };

type Filter = (activity: Activity) => boolean;

const filterOf = (query: URLSearchParams): { readonly filter: Filter; readonly scope: string } => {
  const types = words(query, 'activity_type', ACTIVITY_TYPES);
  const assetTypes = words(query, 'asset_type', ASSET_TYPES);
  const tokens = list(query, 'token_address')?.map((item) => address(item, 'Invalid address format')) ?? null;
  return {
    filter: ({ activity, assets }) =>
      (types === null || types.includes(activity)) &&
      ((assetTypes === null && tokens === null) ||
        assets.some(
          ({ type, token }) =>
            (assetTypes === null || (type !== null && assetTypes.includes(type))) &&
            (tokens === null || (token !== null && tokens.includes(token))),
        )),
    scope: JSON.stringify([types, assetTypes, tokens]),
  };
};

/** The activities of a wallet in one transaction, the last first. */
const placedOf = ({ data, now }: Asked, wallet: Hex, transaction: OrderedTransaction): readonly Placed[] =>
  [...activitiesOf(data, transaction, { as: 'lookup', time: now() })]
    .filter((activity) => activity.address === wallet)
    .map((activity, at) => ({ activity, transaction, at }))
    .reverse();

type Walk = { readonly wallet: Hex; readonly chainIds: ReadonlySet<number>; readonly after: Place | null };

/**
 * The activities after a place, newest first. A place is that of an item, or, without a third part, of a transaction
 * that was looked at whole. Returns the place to go on from where there may be more; else null.
 */
function* placedAfter(asked: Asked, { wallet, chainIds, after }: Walk): Generator<Placed, Place | null> {
  const last = positionOf(after);
  const itemAt = after?.[2] === undefined ? null : Number(after[2]);
  // The transaction of the last item may have more.
  let position = last !== null && itemAt !== null ? { ...last, order: last.order + 1 } : last;
  for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += BATCH) {
    const { transactions, next } = asked.data.transactions(wallet, chainIds, BATCH, position);
    for (const transaction of transactions) {
      const before = itemAt !== null && transaction.order === last?.order ? itemAt : Number.POSITIVE_INFINITY;
      yield* placedOf(asked, wallet, transaction).filter(({ at }) => at < before);
    }
    if (next === null) return null;
    position = next;
  }
  return position === null ? null : [position.time, position.order];
}

/** The first activities of a walk that pass a filter; `stoppedAt` is null unless it stopped without looking at all. */
const take = (
  steps: Generator<Placed, Place | null>,
  count: number,
  filter: Filter,
): { readonly found: readonly Placed[]; readonly stoppedAt: Place | null } => {
  const found: Placed[] = [];
  while (found.length < count) {
    const { done, value } = steps.next();
    if (done === true) return { found, stoppedAt: value };
    if (filter(value.activity)) found.push(value);
  }
  return { found, stoppedAt: null };
};

/** A wallet's activity, newest first. An offset is a position in time, so that pages do not shift. */
export const activity: Lookup = {
  path: '/v1/evm/activity/{address}',
  errors: 'text',
  computeUnits: (chains) => (chains === 0 ? 0 : 3),
  answer(asked) {
    const { data, cursors, path, query, fault } = asked;
    const wallet = address(path.address, 'Invalid address format');
    const { chains, unsupported } = chainChoice(query, data.chains, 'activity');
    const { filter, scope: filters } = filterOf(query);
    const count = Math.max(1, limit(query, DEFAULT_LIMIT, MAX_LIMIT) - (fault?.short ?? 0));
    const scope = ['activity', wallet, ...scopeOf(chains), filters];
    const after = cursors.read(scope, single(query, 'offset'));
    const chainIds = new Set(scopeOf(chains));
    // One item more than the page has shows that there is another page.
    const { found, stoppedAt } = take(placedAfter(asked, { wallet, chainIds, after }), count + 1, filter);
    const page = found.slice(0, count);
    const last = page.at(-1);
    const next =
      found.length > count && last !== undefined
        ? [last.transaction.blockTime, last.transaction.order, last.at]
        : stoppedAt;
    const body = {
      activity: page.map((placed) => placed.activity.item()),
      ...(next !== null && { next_offset: cursors.issue(scope, next) }),
      ...warnings('Activities', unsupported, asked),
    };
    return { body, chains: chains.length };
  },
};
