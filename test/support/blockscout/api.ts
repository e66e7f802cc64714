import type { Hex } from '../../../src/backend/types.ts';
import type { Contents } from './contents.ts';
import {
  blocksIn,
  holdersOf,
  inOrder,
  internalsOf,
  internalsOfTransaction,
  isBehind,
  type List,
  logsOfTransaction,
  nftsOf,
  tokensFound,
  tokensOf,
  transactionsOf,
  transfersOf,
  transfersOfNft,
  transfersOfTransaction,
} from './lists.ts';
import { addressInfoRow, blockRow, etherscanRow, tokenRow, transactionRow } from './rows.ts';

export type Reply = { readonly status: number; readonly json: unknown };

export type Asked = {
  readonly contents: Contents;
  /** Below `/api`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether the request asks for scam tokens too. */
  readonly showsScam: boolean;
  /** Such as `12.0.2`. */
  readonly version: string;
};

const ok = (json: unknown): Reply => ({ status: 200, json });
const NOT_FOUND: Reply = { status: 404, json: { message: 'Not found' } };

const rejected = (name: string, detail: string): Reply => ({
  status: 422,
  json: { errors: [{ title: 'Invalid value', source: { pointer: `/${name}` }, detail }] },
});

const BAD_HASH: Reply = { status: 422, json: { message: 'Invalid parameter(s)' } };

type Route = {
  readonly pattern: RegExp;
  readonly answer: (asked: Asked, parts: readonly string[]) => Reply;
};

const at = (pattern: RegExp, answer: Route['answer']): Route => ({ pattern, answer });

const isAddress = (text: string): text is Hex => /^0x[0-9a-f]{40}$/.test(text);
const isHash = (text: string): text is Hex => /^0x[0-9a-f]{64}$/.test(text);

/** Of an address: any is known. */
const ofAddress =
  (answer: (asked: Asked, address: Hex) => Reply): Route['answer'] =>
  (asked, [text = '']) =>
    isAddress(text) ? answer(asked, text) : BAD_HASH;

const ofToken =
  (answer: (asked: Asked, token: Hex, parts: readonly string[]) => Reply): Route['answer'] =>
  (asked, [text = '', ...parts]) => {
    if (!isAddress(text)) return BAD_HASH;
    return asked.contents.tokens.has(text) ? answer(asked, text, parts) : NOT_FOUND;
  };

const ofTransaction =
  (answer: (asked: Asked, hash: Hex) => Reply): Route['answer'] =>
  (asked, [text = '']) => {
    if (!isHash(text)) return BAD_HASH;
    return asked.contents.transactions.some(({ hash }) => hash === text) ? answer(asked, text) : NOT_FOUND;
  };

/** Rows on a page of version 11, and of 12 where the request does not say how many. */
const PAGE_ROWS = 50;
const MAX_ROWS = 100;

const majorOf = (version: string): number => Number.parseInt(version, 10);

const unknownParameter = (query: URLSearchParams, known: readonly string[]): Reply | null => {
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  return unknown === undefined ? null : rejected(unknown, `Unexpected field: ${unknown}`);
};

const pageOf = ({ query, version }: Asked, list: List): Reply => {
  const isSized = majorOf(version) >= 12;
  const refusal = unknownParameter(query, [...list.own, ...list.members, 'items_count']);
  if (refusal !== null) return refusal;
  const count = Number(query.get('items_count') ?? (isSized ? PAGE_ROWS : 0));
  if (!Number.isInteger(count) || (isSized && count < 1))
    return rejected('items_count', `${count} is smaller than inclusive minimum 1`);
  const rows = isSized ? Math.min(MAX_ROWS, count) : PAGE_ROWS;
  const place = list.placeOf(query);
  const left = inOrder(list).filter((entry) => isBehind(entry, place, list.directions));
  const items = left.slice(0, rows);
  const last = left.length > rows ? (items.at(-1)?.cursor ?? null) : null;
  const kept = ['sort', 'order'].flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : []));
  const next =
    last === null || isSized ? last : { ...last, items_count: count + rows, ...Object.fromEntries(kept) };
  return ok({ items: items.map(({ row }) => row()), next_page_params: next, ...list.more });
};

const ROUTES: readonly Route[] = [
  at(
    /^\/v2\/addresses\/(\w+)$/,
    ofAddress(({ contents }, address) => ok(addressInfoRow(contents, address))),
  ),
  at(
    /^\/v2\/addresses\/(\w+)\/transactions$/,
    ofAddress((asked, address) => pageOf(asked, transactionsOf(asked.contents, address, asked.query))),
  ),
  at(
    /^\/v2\/addresses\/(\w+)\/token-transfers$/,
    ofAddress((asked, address) => pageOf(asked, transfersOf(asked.contents, address, asked.query))),
  ),
  at(
    /^\/v2\/addresses\/(\w+)\/internal-transactions$/,
    ofAddress((asked, address) => {
      const list = internalsOf(asked.contents, address, asked.query);
      const meta = { meta: { status: 1, message: null } };
      return pageOf(asked, majorOf(asked.version) >= 12 ? { ...list, more: meta } : list);
    }),
  ),
  at(
    /^\/v2\/addresses\/(\w+)\/tokens$/,
    ofAddress((asked, address) =>
      pageOf(asked, tokensOf(asked.contents, address, asked.query, asked.showsScam)),
    ),
  ),
  at(
    /^\/v2\/addresses\/(\w+)\/nft$/,
    ofAddress((asked, address) =>
      pageOf(asked, nftsOf(asked.contents, address, asked.query, asked.showsScam)),
    ),
  ),
  at(
    /^\/v2\/transactions\/(\w+)$/,
    ofTransaction(({ contents }, hash) => {
      const found = contents.transactions.find((transaction) => transaction.hash === hash);
      if (found === undefined) return NOT_FOUND;
      return ok({ ...transactionRow(contents, found), token_transfers: [], token_transfers_overflow: false });
    }),
  ),
  at(
    /^\/v2\/transactions\/(\w+)\/logs$/,
    ofTransaction((asked, hash) => {
      const found = asked.contents.transactions.find((transaction) => transaction.hash === hash);
      return found === undefined ? NOT_FOUND : pageOf(asked, logsOfTransaction(asked.contents, found));
    }),
  ),
  at(
    /^\/v2\/transactions\/(\w+)\/token-transfers$/,
    ofTransaction((asked, hash) => pageOf(asked, transfersOfTransaction(asked.contents, hash))),
  ),
  at(
    /^\/v2\/transactions\/(\w+)\/internal-transactions$/,
    ofTransaction((asked, hash) => pageOf(asked, internalsOfTransaction(asked.contents, hash))),
  ),
  at(/^\/v2\/tokens$/, (asked) => pageOf(asked, tokensFound(asked.contents, asked.query, asked.showsScam))),
  at(
    /^\/v2\/tokens\/(\w+)$/,
    ofToken(({ contents }, token) => ok(tokenRow(contents, token))),
  ),
  at(
    /^\/v2\/tokens\/(\w+)\/holders$/,
    ofToken((asked, token) => pageOf(asked, holdersOf(asked.contents, token))),
  ),
  at(
    /^\/v2\/tokens\/(\w+)\/instances\/(\d+)\/transfers$/,
    ofToken((asked, token, [id = '']) => pageOf(asked, transfersOfNft(asked.contents, token, BigInt(id)))),
  ),
  at(/^\/v2\/blocks$/, (asked) => pageOf(asked, blocksIn(asked.contents))),
  at(/^\/v2\/blocks\/(\w+)$/, ({ contents }, [name = '']) => {
    const found = contents.blocks.find(({ number, hash }) => String(number) === name || hash === name);
    return found === undefined ? NOT_FOUND : ok(blockRow(contents, found));
  }),
  at(
    /^\/v2\/smart-contracts\/(\w+)$/,
    ofAddress(({ contents }, address) => {
      const contract = contents.contracts.get(address);
      if (contract === undefined) return NOT_FOUND;
      const { name = null, abi = null } = contract.verified ?? {};
      return ok({
        name,
        abi,
        is_verified: contract.verified !== null,
        implementations: [],
        proxy_type: null,
      });
    }),
  ),
  at(/^\/v2\/stats$/, ({ contents }) =>
    ok({
      coin_price: contents.coinPrice === null ? null : String(contents.coinPrice),
      total_blocks: String(contents.blocks.length),
    }),
  ),
  at(/^\/v2\/main-page\/indexing-status$/, () =>
    ok({
      ...{ finished_indexing: true, finished_indexing_blocks: true, indexed_blocks_ratio: '1.00' },
      indexed_internal_transactions_ratio: '1.00',
    }),
  ),
  at(/^\/v2\/config\/backend-version$/, ({ version }) => ok({ backend_version: `v${version}` })),
  at(/^$/, ({ contents, query }) => {
    const address = (query.get('address') ?? '').toLowerCase();
    if (query.get('action') !== 'txlist' || !isAddress(address))
      return ok({ status: '0', message: 'Unknown action', result: null });
    const [page, offset] = [Number(query.get('page') ?? 1), Number(query.get('offset') ?? 10_000)];
    const [first, last] = [Number(query.get('startblock') ?? 0), Number(query.get('endblock') ?? Infinity)];
    const direction = query.get('sort') === 'asc' ? -1 : 1;
    const all = contents.transactions
      .flatMap((each) => (each.block === null ? [] : [{ ...each, number: each.block.number }]))
      .filter(
        ({ number, from, to, created }) =>
          [from, to, created].includes(address) && number >= first && number <= last,
      )
      .toSorted((one, other) => direction * (other.number - one.number || other.position - one.position));
    const result = all.slice((page - 1) * offset, page * offset);
    return result.length === 0
      ? ok({ status: '0', message: 'No transactions found', result: [] })
      : ok({
          ...{ status: '1', message: 'OK' },
          result: result.map((transaction) => etherscanRow(contents, transaction)),
        });
  }),
];

/** Answers as an instance does. */
export const answer = (asked: Asked): Reply => {
  for (const { pattern, answer } of ROUTES) {
    const match = pattern.exec(asked.path.toLowerCase());
    if (match !== null) return answer(asked, match.slice(1));
  }
  return { status: 404, json: { error: 'Page not found' } };
};

/** What the hosted API takes for a request, by its documentation. */
export const creditsOf = (path: string): number => {
  if (/\/transactions\/\w+\/(?:logs|token-transfers|state-changes)$/.test(path)) return 30;
  if (/\/addresses\/\w+\/(?:logs|token-transfers)$|\/v2\/tokens$|\/v2\/token-transfers$/.test(path))
    return 30;
  if (/\/internal-transactions$/.test(path)) return 40;
  if (/\/(?:summary|raw-trace|coin-balance-history)$/.test(path)) return 50;
  return 20;
};
