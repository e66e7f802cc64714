import type { Hex } from '../../../src/backend/types.ts';
import type { Contents, KnownHolding, KnownInternal, KnownTransaction, KnownTransfer } from './contents.ts';
import {
  addressTokenRow,
  blockRow,
  holderRow,
  internalRow,
  logRow,
  nftRow,
  tokenRow,
  transactionRow,
  transferRow,
} from './rows.ts';

/** A value of a cursor, and of what a list is ordered by. Null is the last. */
export type Key = number | bigint | string | null;

export type Entry = {
  readonly row: () => Readonly<Record<string, unknown>>;
  /** What its list is ordered by. */
  readonly place: readonly Key[];
  readonly cursor: Readonly<Record<string, string | number | boolean | null>>;
};

/** A list as a simulated explorer pages it. */
export type List = {
  readonly entries: readonly Entry[];
  /** Its own parameters. */
  readonly own: readonly string[];
  /** The parameters that a cursor may have. */
  readonly members: readonly string[];
  /** The place that a cursor names; what it leaves out is open, so that it begins behind all that has the rest. */
  readonly placeOf: (cursor: URLSearchParams) => readonly (Key | undefined)[];
  /** For each member of a place, 1 where the smallest comes first, and -1 where the greatest does. */
  readonly directions: readonly (1 | -1)[];
  /** Beside the items. */
  readonly more?: Readonly<Record<string, unknown>>;
};

const numberIn = (cursor: URLSearchParams, name: string): number | undefined =>
  cursor.has(name) && cursor.get(name) !== '' ? Number(cursor.get(name)) : undefined;

const hexIn = (cursor: URLSearchParams, name: string): string | undefined =>
  cursor.get(name)?.toLowerCase() || undefined;

/** A missing or empty value means null. */
const bigintIn = (cursor: URLSearchParams, name: string): bigint | null => {
  const text = cursor.get(name) ?? '';
  return text === '' ? null : BigInt(text);
};

const isOf = (address: Hex, filter: string | null, from: Hex, ...to: readonly (Hex | null)[]): boolean =>
  (filter !== 'to' && from === address) || (filter !== 'from' && to.includes(address));

const typesIn = (query: URLSearchParams): ReadonlySet<string> | null => {
  const types = query.get('type') ?? '';
  return types === '' ? null : new Set(types.split(','));
};

export const transactionsOf = (contents: Contents, address: Hex, query: URLSearchParams): List => ({
  own: ['filter', 'sort', 'order'],
  members: ['block_number', 'index', 'inserted_at', 'hash', 'value', 'fee'],
  placeOf(cursor) {
    const hash = hexIn(cursor, 'hash');
    const block = numberIn(cursor, 'block_number');
    if (block !== undefined) return [block, numberIn(cursor, 'index'), hash];
    // Those in no block yet come first.
    return hash === undefined ? [] : [Number.POSITIVE_INFINITY, 0, hash];
  },
  directions: [-1, -1, 1],
  entries: contents.transactions
    .filter(({ from, to, created }) => isOf(address, query.get('filter'), from, to, created))
    .map((transaction: KnownTransaction) => ({
      row: () => transactionRow(contents, transaction),
      place: [
        transaction.block?.number ?? Number.POSITIVE_INFINITY,
        transaction.block === null ? 0 : transaction.position,
        transaction.hash,
      ],
      cursor: {
        block_number: transaction.block?.number ?? null,
        index: transaction.block === null ? null : transaction.position,
        inserted_at: new Date(transaction.block?.time ?? 0).toISOString(),
        hash: transaction.hash,
        value: String(transaction.value),
        fee: String(transaction.gasUsed * transaction.gasPrice),
      },
    })),
});

const BATCH = ['batch_log_index', 'batch_block_hash', 'batch_transaction_hash', 'index_in_batch'];

const transfers = (contents: Contents, rows: readonly KnownTransfer[], own: readonly string[]): List => ({
  ...{ own, members: ['block_number', 'index', ...BATCH], directions: [-1, -1, 1] },
  placeOf: (cursor) => [
    numberIn(cursor, 'block_number'),
    numberIn(cursor, 'index'),
    numberIn(cursor, 'index_in_batch'),
  ],
  entries: rows.map((transfer) => {
    const { block, hash } = transfer.transaction;
    const batch = {
      batch_log_index: transfer.logIndex,
      batch_block_hash: block.hash,
      batch_transaction_hash: hash,
      index_in_batch: transfer.place,
    };
    return {
      row: () => transferRow(contents, transfer),
      place: [block.number, transfer.logIndex, transfer.place ?? 0],
      cursor: {
        ...{ block_number: block.number, index: transfer.logIndex },
        ...(transfer.place !== null && batch),
      },
    };
  }),
});

const typeOf = ({ tokens }: Contents, token: Hex): string => tokens.get(token)?.type ?? '';

export const transfersOf = (contents: Contents, address: Hex, query: URLSearchParams): List => {
  const types = typesIn(query);
  const token = query.get('token')?.toLowerCase();
  return transfers(
    contents,
    contents.transfers.filter(
      (transfer) =>
        isOf(address, query.get('filter'), transfer.from, transfer.to) &&
        (types === null || types.has(typeOf(contents, transfer.token))) &&
        (token === undefined || token === transfer.token),
    ),
    ['filter', 'type', 'token'],
  );
};

export const transfersOfTransaction = (contents: Contents, hash: string): List =>
  transfers(
    contents,
    contents.transfers.filter(({ transaction }) => transaction.hash === hash),
    ['type'],
  );

export const transfersOfNft = (contents: Contents, token: Hex, id: bigint): List =>
  transfers(
    contents,
    contents.transfers.filter((transfer) => transfer.token === token && transfer.tokenId === id),
    [],
  );

const internals = (contents: Contents, rows: readonly KnownInternal[], direction: 1 | -1): List => ({
  ...{ own: ['filter'], members: ['block_number', 'transaction_index', 'index'] },
  directions: [direction, direction, direction],
  placeOf: (cursor) => [
    numberIn(cursor, 'block_number'),
    numberIn(cursor, 'transaction_index'),
    numberIn(cursor, 'index'),
  ],
  entries: rows.map((internal) => {
    const { block, position } = internal.transaction;
    return {
      row: () => internalRow(contents, internal),
      place: [block.number, position, internal.index],
      cursor: { block_number: block.number, transaction_index: position, index: internal.index },
    };
  }),
});

export const internalsOf = (contents: Contents, address: Hex, query: URLSearchParams): List =>
  internals(
    contents,
    contents.internals.filter(({ from, to, created }) =>
      isOf(address, query.get('filter'), from, to, created),
    ),
    -1,
  );

export const internalsOfTransaction = (contents: Contents, hash: string): List =>
  internals(
    contents,
    contents.internals.filter(({ transaction }) => transaction.hash === hash),
    1,
  );

export const logsOfTransaction = (contents: Contents, transaction: KnownTransaction): List => ({
  ...{ own: [], members: ['block_number', 'index'], directions: [1] },
  placeOf: (cursor) => [numberIn(cursor, 'index')],
  entries: transaction.logs.map((log) => ({
    row: () => logRow(contents, transaction, log),
    place: [log.index],
    cursor: { block_number: transaction.block?.number ?? null, index: log.index },
  })),
});

const worthOf = ({ tokens }: Contents, { token, value }: KnownHolding): number | null => {
  const { price = null, decimals = null } = tokens.get(token) ?? {};
  return price === null || decimals === null ? null : (price * Number(value)) / 10 ** decimals;
};

/** Those that clients see: scam is hidden unless it is asked for. */
const seen = (contents: Contents, token: Hex, showsScam: boolean): boolean =>
  showsScam || contents.tokens.get(token)?.isScam === false;

export const tokensOf = (
  contents: Contents,
  address: Hex,
  query: URLSearchParams,
  showsScam: boolean,
): List => {
  const types = typesIn(query);
  return {
    ...{ own: ['type'], members: ['fiat_value', 'value', 'id'], directions: [-1, -1, -1] },
    placeOf: (cursor) => {
      if (!cursor.has('id')) return [];
      const worth = cursor.get('fiat_value') ?? '';
      return [worth === '' ? null : Number(worth), bigintIn(cursor, 'value'), numberIn(cursor, 'id')];
    },
    entries: contents.holdings.flatMap((holding, id) => {
      const isListed =
        holding.owner === address &&
        holding.value > 0n &&
        seen(contents, holding.token, showsScam) &&
        (types === null || types.has(typeOf(contents, holding.token)));
      if (!isListed) return [];
      const worth = worthOf(contents, holding);
      return [
        {
          row: () => addressTokenRow(contents, holding),
          place: [worth, holding.value, id],
          cursor: { fiat_value: worth === null ? null : String(worth), value: String(holding.value), id },
        },
      ];
    }),
  };
};

const STANDARDS = ['ERC-721', 'ERC-1155'];

export const nftsOf = (
  contents: Contents,
  address: Hex,
  query: URLSearchParams,
  showsScam: boolean,
): List => {
  const types = typesIn(query);
  return {
    ...{ own: ['type'], members: ['token_contract_address_hash', 'token_id', 'token_type'] },
    directions: [1, 1, -1],
    placeOf: (cursor) => {
      const type = cursor.get('token_type');
      return [
        type === null ? undefined : STANDARDS.indexOf(type),
        hexIn(cursor, 'token_contract_address_hash'),
        cursor.has('token_id') ? bigintIn(cursor, 'token_id') : undefined,
      ];
    },
    entries: contents.holdings
      .filter(
        ({ owner, token, tokenId, value }) =>
          owner === address &&
          tokenId !== null &&
          value > 0n &&
          seen(contents, token, showsScam) &&
          (types === null || types.has(typeOf(contents, token))),
      )
      .map((holding) => {
        const type = typeOf(contents, holding.token);
        return {
          row: () => nftRow(contents, holding),
          place: [STANDARDS.indexOf(type), holding.token, holding.tokenId],
          cursor: {
            token_contract_address_hash: holding.token,
            token_id: String(holding.tokenId),
            token_type: type,
          },
        };
      }),
  };
};

export const holdersOf = (contents: Contents, token: Hex): List => ({
  ...{ own: [], members: ['address_hash', 'value'], directions: [-1, -1] },
  placeOf: (cursor) =>
    cursor.has('address_hash') ? [bigintIn(cursor, 'value'), hexIn(cursor, 'address_hash')] : [],
  entries: contents.holdings
    .filter((holding) => holding.token === token && holding.value > 0n)
    .map((holding) => ({
      row: () => holderRow(contents, holding),
      place: [holding.value, holding.owner],
      cursor: { address_hash: holding.owner, value: String(holding.value) },
    })),
});

/** Without an order that is asked for: by their addresses. */
export const tokensFound = (contents: Contents, query: URLSearchParams, showsScam: boolean): List => {
  const words = (query.get('q') ?? '').toLowerCase();
  const types = typesIn(query);
  return {
    ...{ own: ['q', 'type', 'sort', 'order'], directions: [1] },
    members: ['contract_address_hash', 'fiat_value', 'holders_count', 'is_name_null', 'market_cap', 'name'],
    placeOf: (cursor) => [hexIn(cursor, 'contract_address_hash')],
    entries: [...contents.tokens.values()]
      .filter(
        ({ address, name, symbol, type }) =>
          seen(contents, address, showsScam) &&
          (types === null || types.has(type)) &&
          [address, name, symbol].some((each) => each?.toLowerCase().includes(words)),
      )
      .map(({ address, name }) => ({
        row: () => tokenRow(contents, address),
        place: [address],
        cursor: {
          ...{ contract_address_hash: address, fiat_value: null, holders_count: null },
          ...{ is_name_null: name === null, market_cap: null, name },
        },
      })),
  };
};

export const blocksIn = (contents: Contents): List => ({
  ...{ own: ['type'], members: ['block_number'], directions: [-1] },
  placeOf: (cursor) => [numberIn(cursor, 'block_number')],
  entries: contents.blocks.map((block) => ({
    row: () => blockRow(contents, block),
    place: [block.number],
    cursor: { block_number: block.number },
  })),
});

/** Null is behind all others. */
const compareKeys = (one: Key, other: Key, direction: 1 | -1): number => {
  if (one === other) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return one < other ? -direction : direction;
};

export const inOrder = ({ entries, directions }: List): readonly Entry[] =>
  entries.toSorted((one, other) => {
    for (const [at, direction] of directions.entries()) {
      const order = compareKeys(one.place[at] ?? null, other.place[at] ?? null, direction);
      if (order !== 0) return order;
    }
    return 0;
  });

/** Whether an entry is behind a place. */
export const isBehind = (
  { place }: Entry,
  cursor: readonly (Key | undefined)[],
  directions: List['directions'],
): boolean => {
  for (const [at, direction] of directions.entries()) {
    const key = cursor[at];
    if (key === undefined) return at === 0;
    const order = compareKeys(place[at] ?? null, key, direction);
    if (order !== 0) return order > 0;
  }
  return false;
};
