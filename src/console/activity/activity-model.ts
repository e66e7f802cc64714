import { compareDecimals, sumDecimals } from 'evm-graphql-gateway/client';
import type {
  ActivityItemFragment,
  MovedTokenFragment,
  TransactionRowFragment,
} from '../__generated__/operations.ts';
import { amountIn, isRecord, isZero, nativeDecimals, nativeSymbol, shortHex } from '../format.ts';

/** What a wallet's activities say: what moved, on which day, in which transaction, and which of them a filter finds. */

export type ActivityItem = ActivityItemFragment;
export type Token = MovedTokenFragment;

/** An asset that entered or left the wallet. */
export type Move = {
  readonly direction: 'in' | 'out';
  /** In the smallest unit; null where the service omits it. */
  readonly value: string | null;
  readonly token: Token | null;
  readonly tokenId: string | null;
  /** The other side; null where the service names none. */
  readonly party: string | null;
};

/** What the call of a transaction is named that creates a contract. */
export const CREATION = 'creation';

/** What an activity moved: two assets in a swap, none in an approval or in a call without value. */
export const movesOf = (item: ActivityItem): readonly Move[] => {
  const { type, value, token, tokenId, from, to, swap } = item;
  const move = (direction: Move['direction']): Move => {
    return { direction, value, token, tokenId, party: direction === 'in' ? from : to };
  };
  switch (type) {
    case 'SEND':
    case 'BURN':
      return [move('out')];
    case 'RECEIVE':
    case 'MINT':
      return [move('in')];
    case 'SWAP':
      return [
        ...(swap?.from ? [{ ...move('out'), ...swap.from }] : []),
        ...(swap?.to ? [{ ...move('in'), ...swap.to, party: to }] : []),
      ];
    case 'CALL':
      // A call that came in names its caller.
      return value === null || isZero(value) ? [] : [{ ...move(from === null ? 'out' : 'in') }];
    default:
      return [];
  }
};

type Named = Pick<Token, 'isNative' | 'symbol' | 'name' | 'address'>;

/** What a token is called. Where the service names none, it is the chain's own currency. */
export const symbolOf = (token: Named | null, chainId: number | null): string =>
  token === null || token.isNative
    ? (token?.symbol ?? nativeSymbol(chainId))
    : (token.symbol ?? token.name ?? shortHex(token.address ?? 'unnamed token'));

type Counted = Pick<Token, 'isNative' | 'decimals'>;

/** Null where the service omits it: the amount can't be written in whole tokens. */
export const decimalsOf = (token: Counted | null, chainId: number | null): number | null =>
  token === null || token.isNative ? (token?.decimals ?? nativeDecimals(chainId)) : token.decimals;

const ALL_DIGITS = 255;

/** An amount in whole tokens, to six decimal places; `exact` has all. A token whose decimals are unknown is counted in its smallest unit. */
export const amountOf = (
  value: string,
  token: Counted | null,
  chainId: number | null = null,
): { readonly shown: string; readonly exact: string } => {
  const decimals = decimalsOf(token, chainId);
  if (decimals === null || decimals < 0 || decimals > ALL_DIGITS) {
    const { shown, exact } = amountIn(value, 0);
    return {
      shown: `${shown} units`,
      exact: `${exact} units: the service does not say how many are one token`,
    };
  }
  return amountIn(value, decimals);
};

/** All activities of one transaction that are loaded, in the service's order. */
export type Happening = {
  readonly key: string;
  readonly hash: string;
  readonly chainId: number;
  readonly time: string;
  /** The day in the reader's time zone: `2026-03-31`. */
  readonly day: string;
  readonly items: readonly ActivityItem[];
};

const inDigits = new Intl.DateTimeFormat('sv-SE');

/** The day of a time in the reader's time zone: `2026-03-31`. */
export const dayOf = (time: Date): string => inDigits.format(time);

/** Groups activities by their transactions. The order of first items stays. */
export const happeningsOf = (items: readonly ActivityItem[]): readonly Happening[] => {
  const groups = Map.groupBy(items, ({ chainId, transactionHash }) => `${chainId}:${transactionHash}`);
  return [...groups].flatMap(([key, group]) => {
    const [{ transactionHash: hash, chainId, blockTime: time } = {}] = group;
    // A lookup states all three for each activity.
    if (!hash || typeof chainId !== 'number' || !time) return [];
    return [{ key, hash, chainId, time, day: dayOf(new Date(time)), items: group }];
  });
};

export const tokensIn = ({ token, swap }: ActivityItem): readonly Token[] =>
  [token, swap?.from?.token, swap?.to?.token].filter((named) => named !== null && named !== undefined);

/** Ids of the tokens that an item says to have little liquidity. Items that say nothing of liquidity may name them, too. */
export const thinTokensOf = (items: readonly ActivityItem[]): ReadonlySet<string> =>
  new Set(items.flatMap(({ token, lowLiquidity }) => (token && lowLiquidity === true ? [token.id] : [])));

/** What an activity is worth in US dollars. Null without a price, or if a thin pool makes the price. */
export const worthOf = (item: ActivityItem, thin: ReadonlySet<string>): string | null =>
  tokensIn(item).some(({ id }) => thin.has(id)) || movesOf(item).length === 0 ? null : item.valueUsd;

const KIND_OF = {
  SEND: 'sent',
  RECEIVE: 'received',
  SWAP: 'swapped',
  MINT: 'minted',
  BURN: 'burned',
  APPROVE: 'approved',
  CALL: 'called',
} as const satisfies Readonly<Record<NonNullable<ActivityItem['type']>, string>>;

export const KINDS = [...Object.values(KIND_OF), 'revoked', 'other'] as const;
export type Kind = (typeof KINDS)[number];

type Permission = Pick<ActivityItem, 'type' | 'value' | 'tokenId' | 'spender'>;

/** Whether an approval is a revocation: its amount is 0, or it approves an NFT to the zero address. */
export const isRevocation = ({ type, value, tokenId, spender }: Permission): boolean =>
  type === 'APPROVE' && (tokenId === null ? value !== null && isZero(value) : /^0x0+$/.test(spender ?? ''));

export const kindOf = (item: ActivityItem): Kind =>
  isRevocation(item) ? 'revoked' : item.type === null ? 'other' : KIND_OF[item.type];

/** What a filter looks for, by the names that the address bar has for it: `min` is the least value in US dollars, `q` a part of an address, a hash, a token's name, a function or a contract. */
export const FILTERS = ['side', 'kind', 'token', 'min', 'q', 'from', 'to'] as const;

/** An empty text finds everything. A kind may be `transfer`, for what was sent or received. */
export type Filter = Readonly<Record<(typeof FILTERS)[number], string>>;

const isOfKind = (item: ActivityItem, wanted: string): boolean => {
  const kind = kindOf(item);
  return wanted === kind || (wanted === 'transfer' && (kind === 'sent' || kind === 'received'));
};

const textsOf = (item: ActivityItem): readonly (string | null | undefined)[] => {
  const { transactionHash, from, to, spender, tokenId, contractName, typeName } = item;
  return [
    ...[transactionHash, from, to, spender, tokenId, contractName, typeName, functionOf(item)?.name],
    ...tokensIn(item).flatMap(({ symbol, name, address }) => [symbol, name, address]),
  ];
};

const passes = (item: ActivityItem, filter: Filter, thin: ReadonlySet<string>): boolean => {
  const { side, kind, token, min, q } = filter;
  if (side !== '' && !movesOf(item).some(({ direction }) => direction === side)) return false;
  if (kind !== '' && !isOfKind(item, kind)) return false;
  if (token !== '' && !symbolsOf(item).includes(token)) return false;
  if (min !== '') {
    const worth = worthOf(item, thin);
    if (worth === null || compareDecimals(worth, min) < 0) return false;
  }
  const sought = q.trim().toLowerCase();
  return sought === '' || textsOf(item).some((said) => said?.toLowerCase().includes(sought));
};

export const symbolsOf = (item: ActivityItem): readonly string[] => {
  const sides = [item.swap?.from, item.swap?.to].flatMap((side) => (side ? [side.token] : []));
  if (sides.length > 0) return sides.map((token) => symbolOf(token, item.chainId));
  return item.token ? [symbolOf(item.token, item.chainId)] : [];
};

/** Null where the decimal can't be read: nothing is filtered by it. */
export const leastOf = (text: string): string | null =>
  /^\d{1,30}(\.\d{1,18})?$/.test(text.trim()) ? text.trim() : null;

/** A transaction with an activity that the filter finds, and those that it finds. */
export type Found = Happening & { readonly matching: readonly ActivityItem[] };

export const filtered = (
  happenings: readonly Happening[],
  filter: Filter,
  thin: ReadonlySet<string>,
): readonly Found[] => {
  const { from, to } = filter;
  const sought = { ...filter, min: leastOf(filter.min) ?? '' };
  return happenings
    .filter(({ day }) => (from === '' || day >= from) && (to === '' || day <= to))
    .map((each) => ({ ...each, matching: each.items.filter((item) => passes(item, sought, thin)) }))
    .filter(({ matching }) => matching.length > 0);
};

/** The larger first, null last. */
const byValue = (one: string | null, other: string | null): number =>
  one === null || other === null
    ? Number(one === null) - Number(other === null)
    : compareDecimals(other, one);

/** Those with the largest movement first, those without a value last; equals keep their order. */
export const byWorth = (found: readonly Found[], thin: ReadonlySet<string>): readonly Found[] =>
  found
    .map((each) => {
      const [worth = null] = each.matching.map((item) => worthOf(item, thin)).toSorted(byValue);
      return { each, worth };
    })
    .toSorted((one, other) => byValue(one.worth, other.worth))
    .map(({ each }) => each);

/** What came in, went out and was swapped, in US dollars. */
export const sumsOf = (found: readonly Found[], thin: ReadonlySet<string>) => {
  const values = { in: [] as string[], out: [] as string[], swapped: [] as string[] };
  for (const item of found.flatMap(({ matching }) => matching)) {
    const worth = worthOf(item, thin);
    const [move] = movesOf(item);
    if (worth !== null && move) values[item.type === 'SWAP' ? 'swapped' : move.direction].push(worth);
  }
  return { in: sumDecimals(values.in), out: sumDecimals(values.out), swapped: sumDecimals(values.swapped) };
};

/** The sent or received activity with the largest value, and its transaction's hash; null where none has a value. */
export const largestTransfer = (found: readonly Found[], thin: ReadonlySet<string>) => {
  const transfers = found.flatMap(({ hash, matching }) =>
    matching.flatMap((item) => {
      const worth = isOfKind(item, 'transfer') ? worthOf(item, thin) : null;
      return worth === null ? [] : [{ hash, item, worth }];
    }),
  );
  return transfers.toSorted((one, other) => byValue(one.worth, other.worth))[0] ?? null;
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

type Called = NonNullable<TransactionRowFragment['decoded']>;

/** The called function, which the service writes as it likes; null where it says none. */
export const functionOf = ({ function: called }: Pick<ActivityItem, 'function'>): Called | null => {
  if (!isRecord(called)) return null;
  const inputs = Array.isArray(called.inputs) ? called.inputs.filter(isRecord) : [];
  const name = textOrNull(called.name) ?? textOrNull(called.signature);
  if (name === null && inputs.length === 0) return null;
  return {
    name,
    inputs: inputs.map((input) => ({
      name: textOrNull(input.name),
      type: textOrNull(input.type),
      value: input.value ?? null,
    })),
  };
};
