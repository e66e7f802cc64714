// The soak's upstream service, in a process of its own: true to the contract for honest wallets, and not for others.
import { startSandbox } from '../../src/backend/sandbox/sandbox.ts';
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
import { answerParent } from '../harness/processes.ts';
import { recordTurns, type Turn } from './loop.ts';
import { kindOf, STRAY, THENABLE, type WalletKind } from './wallets.ts';

/** Where the service is, and what it was sent so far. */
export type Served = {
  readonly url: string;
  /** Of lookups, each from the moment at which it came. */
  readonly computeUnits: number;
  /** Requests that no gateway should send: a stray path or name. */
  readonly stray: readonly string[];
  readonly turns: readonly Turn[];
};

const TRANSACTIONS = 700;
const COLLECTIBLES = 600;
const BIG_TRANSACTIONS = 1000;
const GROWS_EVERY_MS = 2000;
const FORGETS_EVERY_MS = 1000;
const SLOW_MS = 1000;

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

const json = (text: string): Reply => ({ text, headers: { 'content-type': 'application/json' } });

/** A whole answer of one transaction, of which one field stands as this text. */
const around = (text: string, field: string): Reply =>
  json(JSON.stringify(transactionsEnvelope([{ ...transaction(), [field]: '#' }])).replace('"#"', text));

const decoded = (value: string): Reply =>
  around(`{"name":"f","inputs":[{"name":"a","value":${value}}]}`, 'decoded');

/** `unread` is a field that no selection asks for. */
const REPLIES: Readonly<Record<Exclude<WalletKind, 'honest' | 'big'>, Reply>> = {
  slow: { json: transactionsEnvelope([transaction()]), latencyMs: SLOW_MS },
  thenable: decoded(THENABLE),
  'empty items': json(`{"transactions":[${'{},'.repeat(MB)}{}]}`),
  'deep values': decoded(`${'['.repeat(5000)}${']'.repeat(5000)}`),
  'dense numbers': around(`[${'1e1,'.repeat(1.5 * MB)}1]`, 'unread'),
  'big body': around(`"${'x'.repeat(30 * MB)}"`, 'unread'),
  'long number': around('9'.repeat(MB), 'value'),
  'long offset': { json: transactionsEnvelope([transaction()], { next_offset: 'n'.repeat(3100) }) },
};

const transactions: Answer = (request) => {
  const kind = kindOf(request.address);
  if (kind === 'honest') return honestWallet(request.address).answer(request);
  return kind === 'big' ? big(request) : REPLIES[kind];
};

const ofAnyone = servingCollectibles(collection(COLLECTIBLES));
const collectibles: Answer = async (request) => ({
  ...(await ofAnyone(request)),
  ...(kindOf(request.address) === 'slow' && { latencyMs: SLOW_MS }),
});

/** Everything about webhooks is as the sandbox has it. */
const sandbox = await startSandbox();
const other: Answer = async ({ method, path, query, body }) => {
  const answer = await fetch(`${sandbox.url}${path}?${query}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-service-api-key': 'sandbox' },
    ...(body !== '' && { body }),
  });
  const headers = { 'content-type': answer.headers.get('content-type') ?? 'application/json' };
  return { status: answer.status, headers, text: await answer.text() };
};

const turns = recordTurns();
const service = await startFakeService({ transactions, collectibles, other });
let computeUnits = 0;
const stray = new Set<string>();

/** It remembers what it was asked, for tests; this would be too much. */
const forget = (): void => {
  for (const { method, path, query } of service.requests.splice(0)) {
    if (`${path}?${query}`.includes(STRAY)) stray.add(`${method} ${path}?${query}`);
    if (/\/v1\/evm\/(transactions|collectibles)\//.test(path)) computeUnits += 1;
  }
};

setInterval(() => {
  for (const { transactions: list } of honest.values()) list.unshift(numbered(list.length + 1, 3));
}, GROWS_EVERY_MS).unref();
setInterval(forget, FORGETS_EVERY_MS).unref();

answerParent((): Served => {
  forget();
  return { url: service.url, computeUnits, stray: [...stray], turns };
});
