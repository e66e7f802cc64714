import { expecting, type Finding, membersOf, note, Skipped, shown } from '../finding.ts';
import { ask, findWallet, items, type Lookup, largest } from '../lookup.ts';
import { bodyOf, type Point, refusal } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  address,
  anything,
  bytes,
  decimal,
  flag,
  hash,
  hexNumber,
  is,
  judge,
  listOf,
  mixedAddress,
  nullOr,
  observed,
  or,
  quantity,
  record,
  text,
  time,
} from '../shape.ts';

/** What a decoded parameter may be: a text or a list of texts by the specification, and any JSON in practice. */
const value = or(
  is(
    'a text, or a list of texts',
    (each) =>
      typeof each === 'string' || (Array.isArray(each) && each.every((one) => typeof one === 'string')),
  ),
  anything,
);
const decodedShape = record({ name: text, inputs: listOf(record({ name: text, type: text, value })) });
const decoded = or(
  decodedShape,
  is('an empty object', (each) => Object.keys(membersOf(each)).length === 0),
);

const logShape = record({ address, data: bytes, topics: listOf(hexNumber) }, { decoded });

/** The fields that the lookup and deliveries have in common. */
export const transactionFields = {
  address,
  block_hash: hash,
  block_time: time,
  chain: text,
  from: address,
  data: bytes,
  gas_price: quantity,
  hash,
  nonce: quantity,
  value: quantity,
  logs: nullOr(listOf(logShape)),
};

/** How it ended. The hosted service says the first three, in deliveries alone. */
const outcomeFields = {
  success: flag,
  gas_used: quantity,
  effective_gas_price: quantity,
  fee: quantity,
  created_contract: address,
  revert_reason: record({}, { message: text, data: bytes, decoded }),
};

export const transaction = record(
  { ...transactionFields, block_number: decimal, index: decimal, transaction_type: quantity },
  // Absent or null when the transaction creates a contract.
  { to: address, decoded, ...outcomeFields },
);

const warnings = listOf(
  record({ code: text, message: text }, { chain_ids: listOf(decimal), docs_url: text }),
);
export const tolerantWarnings = observed(warnings);

export const transactions: Lookup = {
  method: 'GET',
  path: '/v1/evm/transactions/{address}',
  price: () => 1,
  needsKey: true,
  source: 'specification: Get transactions',
  errors: null,
  answer: record(
    { transactions: listOf(transaction) },
    {
      wallet_address: mixedAddress,
      next_offset: text,
      request_time: time,
      response_time: time,
      errors: record({}),
      warnings: tolerantWarnings,
    },
  ),
  support: 'transactions',
  chains: 'many',
  list: {
    member: 'transactions',
    identity: ({ chain, hash: id }) => `${chain} ${id}`,
    limit: { default: 100, most: 100 },
    pages: true,
  },
  find: (judged) => findWallet(judged, transactions),
};

/** Whether times go from new to old. Returns the first that does not, and the one before it. */
export const newestFirst = (times: readonly unknown[]) => {
  const at = times.findIndex(
    (each, index) => index > 0 && Date.parse(String(each)) > Date.parse(String(times[index - 1])),
  );
  return expecting(at < 0, 'the newest first', `${shown(times[at - 1])} before ${shown(times[at])}`);
};

const point = (expects: string, check: Point['check']): Point => ({
  operation: nameOf(transactions),
  expects,
  source: transactions.source,
  check,
});

export const transactionPoints: readonly Point[] = [
  point('orders by descending block time', async (judged) =>
    newestFirst((await largest(judged, transactions)).map(({ block_time }) => block_time)),
  ),
  point('says whose transactions they are', async (judged) => {
    const where = await transactions.find(judged);
    const { wallet_address } = membersOf(bodyOf(await ask(judged, transactions, where)));
    const wallet = where.path.address ?? '';
    const others = (await largest(judged, transactions)).filter(
      (each) => String(each.address).toLowerCase() !== wallet,
    );
    return [
      ...expecting(others.length === 0, `address ${wallet} in each`, others[0]?.address),
      ...(wallet_address === undefined
        ? [note('wallet_address', 'nothing')]
        : expecting(
            String(wallet_address).toLowerCase() === wallet,
            `wallet_address ${wallet}`,
            wallet_address,
          )),
    ];
  }),
  point('answers of the default chains without chain_ids', async (judged) => {
    const { path } = await transactions.find(judged);
    const answer = await ask(judged, transactions, { path, query: {} });
    const names = (await judged.chains.tagged('default', 'transactions')).map(({ name }) => name);
    const others = items(transactions, answer).filter(({ chain }) => !names.includes(String(chain)));
    return expecting(others.length === 0, 'chains with the tag default', others[0]?.chain);
  }),
  point('refuses a decode other than true and false', async (judged) => {
    const where = await transactions.find(judged);
    const found: Finding[] = [];
    for (const decode of ['maybe', '1', 'TRUE', ''])
      found.push(...refusal(await ask(judged, transactions, where, { decode })));
    return found;
  }),
  point('decodes nothing unless asked to', async (judged) => {
    const where = await transactions.find(judged);
    const not = await ask(judged, transactions, where, { limit: '100', decode: 'false' });
    const found = [...(await largest(judged, transactions)), ...items(transactions, not)];
    const isDecoded = (each: unknown) => (membersOf(each).decoded ?? null) !== null;
    const early = found.some(
      (each) => isDecoded(each) || (Array.isArray(each.logs) && each.logs.some(isDecoded)),
    );
    return expecting(!early, 'no decoded calls and events', 'decoded ones');
  }),
  point('decodes calls and events with decode=true', async (judged) => {
    const where = await transactions.find(judged);
    const answer = await ask(judged, transactions, where, { limit: '100', decode: 'true' });
    const found = items(transactions, answer);
    const isDecoded = (each: unknown) => typeof membersOf(membersOf(each).decoded).name === 'string';
    const count = found.filter(
      (each) => isDecoded(each) || (Array.isArray(each.logs) && each.logs.some(isDecoded)),
    ).length;
    if (found.length > 0 && count === 0)
      throw new Skipped(
        'none of the transactions is decodable: name a wallet that calls known contracts by --wallet',
      );
    const problems = found
      .flatMap((each) => [each, ...(Array.isArray(each.logs) ? each.logs : [])])
      .filter(isDecoded);
    return judge(listOf(record({ decoded })), problems);
  }),
];
