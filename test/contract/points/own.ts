import { expecting, membersOf, Skipped, shown } from '../finding.ts';
import { ask, findWallet, items, type Lookup, nowhere, placesOf, someChain, type Where } from '../lookup.ts';
import { bodyOf, type Judged, type Point, refusal } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  address,
  decimal,
  flag,
  integer,
  listOf,
  nullOr,
  number,
  oneOf,
  record,
  text,
  time,
} from '../shape.ts';
import { transaction as transactionShape, transactions } from './transactions.ts';

/** The lookups that this project's own service has beside those of the hosted one. A service that does not list them is not judged. */

const approvalShape = record(
  {
    chain: text,
    chain_id: integer,
    token_address: address,
    spender: address,
    scope: text,
    is_unlimited: flag,
    is_for_all: flag,
  },
  {
    spender_name: text,
    token_standard: oneOf('ERC20', 'ERC721', 'ERC1155'),
    amount: decimal,
    token_id: decimal,
    token_metadata: record(
      {},
      {
        symbol: text,
        name: text,
        decimals: integer,
        logo: text,
        url: text,
        price_usd: number,
        pool_size: number,
      },
    ),
  },
);

export const approvals: Lookup = {
  method: 'GET',
  path: '/v1/evm/approvals/{address}',
  price: (chains) => chains,
  needsKey: true,
  source: 'docs/wallets.md: Approvals',
  errors: 'message',
  answer: record(
    { approvals: listOf(approvalShape) },
    {
      wallet_address: address,
      next_offset: text,
      request_time: time,
      response_time: time,
      errors: record({}),
      warnings: listOf(record({ code: text, message: text }, { chain_ids: listOf(integer), docs_url: text })),
    },
  ),
  support: 'approvals',
  chains: 'many',
  list: {
    member: 'approvals',
    identity: ({ chain_id, token_address, spender, scope }) =>
      `${chain_id} ${token_address} ${spender} ${scope}`,
    limit: { default: 100, most: 100 },
    pages: true,
  },
  find: (judged) => findWallet(judged, approvals),
};

/** The newest transaction of a wallet. */
const findTransaction = async (judged: Judged): Promise<Where> => {
  await someChain(judged, transaction);
  const where = await transactions.find(judged);
  const [newest] = items(transactions, await ask(judged, transactions, where, { limit: '1' }));
  return { path: { hash: String(newest?.hash) }, query: where.query };
};

export const transaction: Lookup = {
  method: 'GET',
  path: '/v1/evm/transaction/{hash}',
  price: (chains) => Math.min(1, chains),
  needsKey: true,
  source: 'docs/wallets.md: Transactions',
  errors: 'message',
  answer: record(
    { transaction: nullOr(transactionShape) },
    {
      errors: record({}),
      warnings: listOf(record({ code: text, message: text }, { chain_ids: listOf(integer) })),
    },
  ),
  support: 'transaction',
  chains: 'one',
  find: findTransaction,
};

/** A wallet with a name, or else one without. */
const findName = async (judged: Judged): Promise<Where> => {
  const places = await placesOf(judged, name);
  for (const where of places)
    if (membersOf(bodyOf(await ask(judged, name, where))).name !== null) return where;
  const [first] = places;
  if (first === undefined) throw new Skipped('no wallet was found');
  return first;
};

export const name: Lookup = {
  method: 'GET',
  path: '/v1/evm/name/{address}',
  price: (chains) => Math.min(1, chains),
  needsKey: true,
  source: 'docs/wallets.md: Names',
  errors: 'message',
  answer: record({ name: nullOr(text) }, { wallet_address: address, chain_id: integer }),
  support: 'names',
  chains: 'one',
  find: findName,
};

const pointOf =
  (lookup: Lookup) =>
  (expects: string, check: Point['check']): Point => ({
    operation: nameOf(lookup),
    expects,
    source: lookup.source,
    check,
  });
const point = pointOf(transaction);

/** The list says whose it is, which may be the recipient. */
const withoutAddress = (item: unknown): string => JSON.stringify({ ...membersOf(item), address: null });

export const ownPoints: readonly Point[] = [
  pointOf(name)('answers null for a wallet without a name', async (judged) => {
    const answer = await ask(judged, name, nowhere(name, await someChain(judged, name)));
    return expecting(membersOf(bodyOf(answer)).name === null, 'null', answer.text);
  }),
  point('answers null for a hash that no transaction has', async (judged) => {
    const { query } = await findTransaction(judged);
    const answer = await ask(judged, transaction, { path: { hash: `0x${'ab'.repeat(32)}` }, query });
    return expecting(membersOf(bodyOf(answer)).transaction === null, 'null', answer.text);
  }),
  point('refuses what is no hash', async (judged) => {
    const { query } = await findTransaction(judged);
    const asked = { path: { hash: '0xabcd' }, query };
    return refusal(await judged.service.ask(transaction, asked), 400, transaction.errors);
  }),
  point('answers what the list of a wallet has', async (judged) => {
    await someChain(judged, transaction);
    const where = await transactions.find(judged);
    const [listed] = items(transactions, await ask(judged, transactions, where, { limit: '1' }));
    const place = { path: { hash: String(listed?.hash) }, query: where.query };
    const found = membersOf(bodyOf(await ask(judged, transaction, place))).transaction;
    const isSame = withoutAddress(found) === withoutAddress(listed);
    return expecting(isSame, shown(listed), shown(found));
  }),
];
