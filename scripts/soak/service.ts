// The soak's upstream service, in a process of its own: true to the contract for honest wallets, and not for others.
import process from 'node:process';
import {
  collection,
  hashOf,
  numbered,
  type RestTransaction,
  transaction,
  transactionsEnvelope,
} from '../../test/support/upstream/builders.ts';
import { type Answer, type Reply, startFakeService } from '../../test/support/upstream/fake-service.ts';
import { servingCollectibles, servingTransactions } from '../../test/support/upstream/paging.ts';
import { kindOf, type WalletKind } from './wallets.ts';

const TRANSACTIONS = 700;
const COLLECTIBLES = 600;
const BIG_TRANSACTIONS = 1000;
const GROWS_EVERY_MS = 2000;
const FORGETS_EVERY_MS = 1000;

const MB = 1024 * 1024;

/** Each is a newest-first list of numbers down to 1, which grows at its head. */
const honest = new Map<string, { transactions: RestTransaction[]; answer: Answer }>();

const honestWallet = (address: string) => {
  const known = honest.get(address);
  if (known) return known;
  const transactions = Array.from({ length: TRANSACTIONS }, (_, place) => numbered(TRANSACTIONS - place, 3));
  const made = { transactions, answer: servingTransactions(transactions) };
  honest.set(address, made);
  return made;
};

const log = {
  address: `0x${'cc'.repeat(20)}`,
  data: `0x${'00'.repeat(256)}`,
  topics: [hashOf(1), hashOf(2)],
};

const big = servingTransactions(
  Array.from({ length: BIG_TRANSACTIONS }, (_, place) => ({
    ...numbered(BIG_TRANSACTIONS - place),
    data: `0x${'ab'.repeat(200)}`,
    logs: [log, log],
  })),
);

/** A whole answer of one transaction, of which one field stands as this text. */
const around = (text: string, field: string): string =>
  JSON.stringify(transactionsEnvelope([{ ...transaction(), [field]: '#' }])).replace('"#"', text);

const JSON_TYPE = { 'content-type': 'application/json' };

const odd = (text: string): Reply => ({ text, headers: JSON_TYPE });

const NESTED = `${'['.repeat(5000)}${']'.repeat(5000)}`;

/** `unread` is a field that no selection asks for. */
const BAD: Readonly<Record<Exclude<WalletKind, 'honest' | 'big'>, Reply>> = {
  'empty items': odd(`{"transactions":[${'{},'.repeat(MB)}{}]}`),
  'deep values': odd(around(`{"name":"f","inputs":[{"name":"a","value":${NESTED}}]}`, 'decoded')),
  'dense numbers': odd(around(`[${'1e1,'.repeat(1.5 * MB)}1]`, 'unread')),
  'big body': odd(around(`"${'x'.repeat(30 * MB)}"`, 'unread')),
  'long number': odd(around('9'.repeat(MB), 'value')),
  'long offset': { json: transactionsEnvelope([transaction()], { next_offset: 'n'.repeat(3100) }) },
};

const transactions: Answer = (request) => {
  const kind = kindOf(request.address);
  if (kind === 'honest') return honestWallet(request.address).answer(request);
  return kind === 'big' ? big(request) : BAD[kind];
};

const service = await startFakeService({
  transactions,
  collectibles: servingCollectibles(collection(COLLECTIBLES)),
});

setInterval(() => {
  for (const { transactions: list } of honest.values()) list.unshift(numbered(list.length + 1, 3));
}, GROWS_EVERY_MS).unref();
// It remembers what it was asked, for tests; this would be too much.
setInterval(() => service.requests.splice(0), FORGETS_EVERY_MS).unref();

process.on('disconnect', () => process.exit());
process.send?.(service.url);
