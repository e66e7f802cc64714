import { address, chainChoice, flag, limit, list, oneChain, Refused, single, words } from '../http/query.ts';
import {
  type ActivityFilter,
  type ChainReader,
  DETAILS,
  type Detail,
  type FailedChain,
  type Listed,
  type PageStart,
  type Place,
} from '../source.ts';
import {
  ACTIVITY_TYPES,
  ASSET_TYPES,
  type Chain,
  type EffectiveTransaction,
  type Hex,
  type ListedTransaction,
  type LogEntry,
} from '../types.ts';
import { type Activity, activitiesOf } from './activity-items.ts';
import {
  type Asked,
  beginnings,
  isoTime,
  type Lookup,
  lacking,
  scopeOf,
  unreadable,
  type Warning,
  warnings,
} from './lookup.ts';
import { NO_REVERTS, outcomeOf, quantity, type Reverts, readReverts } from './outcome.ts';

const MAX_LIMIT = 100;
/** What a list of a chain without its oldest blocks lacks at its end. */
const OLDER = 'what was before is missing';

/** A wallet's transactions, newest first. */
export const transactions: Lookup = {
  path: '/v1/evm/transactions/{address}',
  errors: 'message',
  computeUnits: () => 1,
  async answer(asked) {
    const { data, cursors, now, path, query } = asked;
    const requestedAt = now();
    const wallet = address(path.address, 'Invalid address: expected 0x and 40 hexadecimal digits');
    const { chains, unsupported } = chainChoice(query, data.chains, 'transactions');
    const shown = shownIn(query);
    const count = limit(query, MAX_LIMIT, MAX_LIMIT);
    const scope = ['transactions', wallet, ...scopeOf(chains)];
    const place = cursors.read(scope, single(query, 'offset'));
    const start = place && { place, including: false };
    const chainIds = new Set(scopeOf(chains));
    const { items, next, failed } = await data.transactions(wallet, chainIds, count, start, shown.details);
    const listed = items.map(({ transaction }) => transaction);
    const reverts = shown.reverts ? await readReverts(data, listed) : NO_REVERTS;
    const others = [
      ...(next === null ? endings(asked, chains, failed) : []),
      ...unreadable('The transactions', chains, items, failed),
      ...(shown.decode ? unnamed(await data.learnAbis(listed)) : []),
    ];
    const body = {
      wallet_address: wallet,
      transactions: listed.map((each) => transactionItem(data, wallet, each, shown, reverts)),
      ...reverts.failures,
      ...warnings('Transactions', unsupported, asked, others),
      ...(next !== null && { next_offset: cursors.issue(scope, next) }),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
    };
    return { body, chains: chains.length };
  },
};

/**
 * One transaction by its hash, as its sender's list has it; null when the chain has none. Only this project's own service has
 * this lookup.
 */
export const transaction: Lookup = {
  path: '/v1/evm/transaction/{hash}',
  errors: 'message',
  computeUnits: (chains) => Math.min(1, chains),
  async answer(asked) {
    const { data, path, query } = asked;
    const { chains, unsupported } = oneChain(query, data.chains, 'transaction');
    const hash = path.hash?.toLowerCase() ?? '';
    if (!isHash(hash)) throw new Refused(400, 'Invalid hash: expected 0x and 64 hexadecimal digits');
    const shown = shownIn(query);
    const [chain] = chains;
    if (chain === undefined) throw new Refused(400, `Unsupported chain id: ${unsupported}`);
    const found = await data.transaction(chain.id, hash, shown.details);
    if (found === null) return { body: { transaction: null }, chains: 1 };
    const reverts = shown.reverts ? await readReverts(data, [found]) : NO_REVERTS;
    const others = shown.decode ? unnamed(await data.learnAbis([found])) : [];
    const item = transactionItem(data, found.from, found, shown, reverts);
    const body = { transaction: item, ...reverts.failures, ...warnings('Transactions', [], asked, others) };
    return { body, chains: 1 };
  },
};

const isHash = (text: string): text is Hex => /^0x[0-9a-f]{64}$/.test(text);

/** Warnings of what lists of transactions lack at their end. Where older ones could not be read, another warning says so. */
const endings = (
  asked: Asked,
  chains: readonly Chain[],
  failed: readonly FailedChain[] = [],
): readonly Warning[] =>
  chains.flatMap((chain) => {
    const beginning = asked.data.beginning(chain.id);
    if (!beginning?.hasOlder) return beginnings(asked, [chain], OLDER);
    if (failed.some(({ chainId }) => chainId === chain.id)) return [];
    const message = `${lacking(chain, beginning)}: of what was before, its node lists what the wallet sent or was called in, and not what only moved tokens to it`;
    return [{ code: 'START_BLOCK', message, chain_ids: [chain.id] }];
  });

/** A warning of chains of which it could not be found out whose ABI decodes a contract's calls and logs. */
const unnamed = (chainIds: readonly number[]): readonly Warning[] =>
  chainIds.length === 0
    ? []
    : [
        {
          code: 'ABIS_UNKNOWN',
          message:
            'It could not be found out whose ABIs some contracts have: parameters that ABIs call differently have no names, and some calls and events may not be decoded',
          chain_ids: chainIds,
        },
      ];

/** What a request wants to know of each transaction. */
type Shown = {
  readonly decode: boolean;
  readonly reverts: boolean;
  readonly details: ReadonlySet<Detail>;
};

/** A client that does not need a detail may say so: only this project's own service takes these parameters. */
const shownIn = (query: URLSearchParams): Shown => ({
  decode: flag(query, 'decode', false),
  reverts: flag(query, 'revert_reasons', false),
  details: new Set(DETAILS.filter((detail) => flag(query, detail, true))),
});

/** A transaction in the lookup's format. `to` is null when the transaction creates a contract. */
const transactionItem = (
  reader: ChainReader,
  wallet: Hex,
  transaction: ListedTransaction,
  { decode, details }: Shown,
  reverts: Reverts,
) => {
  const decoded = decode ? reader.decodeCall(transaction) : null;
  const { logs } = transaction;
  return {
    address: wallet,
    ...(details.has('block_hash') && { block_hash: transaction.blockHash }),
    block_number: transaction.blockNumber.toString(),
    block_time: isoTime(transaction.blockTime),
    chain: transaction.chain.name,
    from: transaction.from,
    to: transaction.to,
    data: transaction.data,
    gas_price: quantity(transaction.gasPrice),
    ...outcomeOf(transaction),
    ...reverts.of(transaction),
    hash: transaction.hash,
    index: transaction.index.toString(),
    nonce: quantity(transaction.nonce),
    transaction_type: quantity(transaction.type),
    value: quantity(transaction.value),
    ...(decoded !== null && { decoded }),
    ...(details.has('logs') &&
      logs !== null && { logs: logs.map((log) => logItem(reader, transaction.chain.id, log, decode)) }),
  };
};

const logItem = (reader: ChainReader, chainId: number, log: LogEntry, decode: boolean) => {
  const decoded = decode ? reader.decodeLog(chainId, log) : null;
  return { address: log.address, data: log.data, topics: log.topics, ...(decoded !== null && { decoded }) };
};

const DEFAULT_LIMIT = 20;
/** The transactions that one page looks at: behind it a filter makes pages that are short, or empty. */
const MAX_LOOKED_AT = 1_000;
const BATCH = 200;

/** An activity with its place: its transaction's, and then its own among the activities of the transaction. */
type Placed = { readonly activity: Activity; readonly place: Place };

const filterOf = (query: URLSearchParams): ActivityFilter => ({
  types: words(query, 'activity_type', ACTIVITY_TYPES),
  assetTypes: words(query, 'asset_type', ASSET_TYPES),
  tokens: list(query, 'token_address')?.map((item) => address(item, 'Invalid address format')) ?? null,
});

const passes = ({ activity, assets }: Activity, { types, assetTypes, tokens }: ActivityFilter): boolean =>
  (types === null || types.includes(activity)) &&
  ((assetTypes === null && tokens === null) ||
    assets.some(
      ({ type, token }) =>
        (assetTypes === null || (type !== null && assetTypes.includes(type))) &&
        (tokens === null || (token !== null && tokens.includes(token))),
    ));

/** The activities of a wallet in one transaction, the last first. */
const placedOf = (
  { data, now }: Asked,
  wallet: Hex,
  { transaction, place }: Listed<EffectiveTransaction>,
): readonly Placed[] =>
  [...activitiesOf(data, transaction, { as: 'lookup', time: now() })]
    .filter((activity) => activity.address === wallet)
    .map((activity, at) => ({ activity, place: [...place, at] }))
    .reverse();

type Walk = {
  readonly wallet: Hex;
  readonly chainIds: ReadonlySet<number>;
  readonly after: Place | null;
  readonly filter: ActivityFilter;
  /** Is told each chain that could not be read. */
  readonly onFailed: (failed: FailedChain) => void;
  /** Gets the ids of chains of which it is not known whose ABI decodes a call. */
  readonly unknown: Set<number>;
};

/**
 * The activities after a place, newest first. Returns the place to go on from where there may be more; else null.
 */
async function* placedAfter(
  asked: Asked,
  { wallet, chainIds, after, filter, onFailed, unknown }: Walk,
): AsyncGenerator<Placed, Place | null> {
  // The transaction of the last activity may have more: 0 is the lowest place of an activity within its transaction.
  let start: PageStart | null = after && { place: after.slice(0, -1), including: after.at(-1) !== 0 };
  for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += BATCH) {
    const part = await asked.data.effects(wallet, chainIds, BATCH, start, filter);
    part.failed?.forEach(onFailed);
    const calls = part.items.map(({ transaction }) => ({ ...transaction, logs: [] }));
    for (const chainId of await asked.data.learnAbis(calls)) unknown.add(chainId);
    for (const listed of part.items) {
      const isCut = after !== null && isSamePlace(listed.place, after.slice(0, -1));
      yield* placedOf(asked, wallet, listed).filter(
        ({ place }) => !isCut || Number(place.at(-1)) < Number(after.at(-1)),
      );
    }
    if (part.next === null) return null;
    start = { place: part.next, including: false };
    if (part.isEnough) break;
  }
  // All of the transaction counts as looked at.
  return start && [...start.place, 0];
}

const isSamePlace = (one: Place, other: Place): boolean =>
  one.length === other.length && one.every((member, at) => member === other[at]);

/** The first activities of a walk that pass a filter; `stoppedAt` is null unless it stopped without looking at all. */
const take = async (
  steps: AsyncGenerator<Placed, Place | null>,
  count: number,
  filter: ActivityFilter,
): Promise<{ readonly found: readonly Placed[]; readonly stoppedAt: Place | null }> => {
  const found: Placed[] = [];
  while (found.length < count) {
    const { done, value } = await steps.next();
    if (done === true) return { found, stoppedAt: value };
    if (passes(value.activity, filter)) found.push(value);
  }
  return { found, stoppedAt: null };
};

/** A wallet's activity, newest first. An offset is a position in time, so that pages do not shift. */
export const activity: Lookup = {
  path: '/v1/evm/activity/{address}',
  errors: 'text',
  computeUnits: (chains) => (chains === 0 ? 0 : 3),
  async answer(asked) {
    const { data, cursors, path, query, fault } = asked;
    const wallet = address(path.address, 'Invalid address format');
    const { chains, unsupported } = chainChoice(query, data.chains, 'activity');
    const filter = filterOf(query);
    const count = Math.max(1, limit(query, DEFAULT_LIMIT, MAX_LIMIT) - (fault?.short ?? 0));
    const scope = ['activity', wallet, ...scopeOf(chains), JSON.stringify(Object.values(filter))];
    const after = cursors.read(scope, single(query, 'offset'));
    const chainIds = new Set(scopeOf(chains));
    const unknown = new Set<number>();
    // One item more than the page has shows that there is another page.
    const failed = new Map<number, FailedChain>();
    const onFailed = (each: FailedChain) => void failed.set(each.chainId, each);
    const { found, stoppedAt } = await take(
      placedAfter(asked, { wallet, chainIds, after, filter, onFailed, unknown }),
      count + 1,
      filter,
    );
    const page = found.slice(0, count);
    const last = page.at(-1);
    const next = found.length > count && last !== undefined ? last.place : stoppedAt;
    const others = [
      ...(next === null ? beginnings(asked, chains, OLDER) : []),
      ...unreadable('The activities', chains, page, [...failed.values()]),
      ...unnamed([...unknown]),
    ];
    const body = {
      activity: page.map((placed) => placed.activity.item()),
      ...(next !== null && { next_offset: cursors.issue(scope, next) }),
      ...warnings('Activities', unsupported, asked, others),
    };
    return { body, chains: chains.length };
  },
};
