import { describe, expect, test } from 'vitest';
import { madeUp, TOKEN, WALLET } from '../../support/blockscout/made-up.ts';
import { type Fault, startBlockscout } from '../../support/blockscout/server.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { hashOf } from '../indexer/support/blocks.ts';
import { KEY } from './support/asking.ts';

/** What clients read where an explorer can't be read: which one, why, and what helps. */

const BESIDE = 100;

/** Every lookup that explorers answer, of one chain. What has partial errors says them beside what it has. */
const LOOKUPS: readonly (readonly [name: string, selection: string])[] = [
  [
    'transactions',
    'wallet(address: $address) { transactions(first: 5, chainIds: $only) { nodes { hash } } }',
  ],
  ['activity', 'wallet(address: $address) { activity(first: 5, chainIds: $only) { nodes { id } } }'],
  [
    'balances',
    'wallet(address: $address) { balances(first: 5, chainIds: $only) { nodes { amount } partialErrors } }',
  ],
  ['portfolio', 'wallet(address: $address) { portfolio(chainIds: $only) { totalUsd partialErrors } }'],
  ['collectibles', 'wallet(address: $address) { collectibles(first: 5, chainIds: $only) { nodes { id } } }'],
  ['balance', 'wallet(address: $address) { balance(token: $token) { amount } }'],
  ['name', 'wallet(address: $address) { name(chainId: $chain) }'],
  ['transaction', 'transaction(chainId: $chain, hash: $hash) { nonce }'],
  ['token', 'token(token: $token) { symbol }'],
  ['market', 'token(token: $token) { market { priceUsd } }'],
  ['holders', 'token(token: $token) { holders(first: 5) { nodes { balance } } }'],
  ['search', 'searchTokens(query: "coin", first: 3, chainIds: $only) { nodes { symbol } }'],
];

/** The query of a selection, with its variables as literals. */
const queryOf = (selection: string, chain: number): string => {
  const values: Readonly<Record<string, string>> = {
    ...{ address: `"${WALLET}"`, only: `[${chain}]`, chain: String(chain) },
    ...{
      hash: `"${hashOf('transaction', 0)}"`,
      token: `{ contract: { address: "${TOKEN}", chainId: ${chain} } }`,
    },
  };
  return `{ ${selection.replace(/\$(\w+)/g, (_, name: string) => values[name] ?? '')} }`;
};

type Case = {
  readonly says: string;
  /** What the hosted API answers. */
  readonly fault?: Fault;
  readonly key?: string | undefined;
  readonly chain?: number;
  readonly isDown?: boolean;
};

const CASES: Readonly<Record<string, Case>> = {
  'out of credits': {
    fault: { status: 402, json: { error: `Out of credits ${KEY}` } },
    says: 'chain 1 has no credits left for the key. They are counted anew at 20',
  },
  'cooling down': {
    fault: { status: 429, json: { error: KEY }, headers: { 'x-ratelimit-reset': '600000' } },
    says: 'chain 1 had too many requests. It is asked again at 20',
  },
  'a wrong key': { key: `${KEY}-other`, says: 'chain 1 does not accept the key: BLOCKSCOUT_API_KEY' },
  'no key': { key: undefined, says: 'chain 1 wants a key: set BLOCKSCOUT_API_KEY' },
  'not hosted': { chain: 5, says: 'chain 5 is not part of the hosted API (404): set the URL' },
  'a failure': { fault: { status: 500, text: KEY }, says: 'chain 1 failed (500)' },
  down: { isDown: true, says: "chain 1 can't be reached" },
};

const open = async ({ fault, isDown = false, ...given }: Case) => {
  await using made = new AsyncDisposableStack();
  const hosted = await startBlockscout({
    chains: [{ id: 1, contents: madeUp() }],
    hosted: { key: KEY, perSecond: 1_000 },
  });
  if (!isDown) made.use(hosted);
  const beside = await startBlockscout({ chains: [{ id: BESIDE, contents: madeUp({}, BESIDE) }] });
  made.use(beside);
  if (fault) hosted.plant(fault);
  if (isDown) await hosted[Symbol.asyncDispose]();
  const gateway = await startGateway(
    {
      BLOCKSCOUT: `1,5,${BESIDE}=${beside.url}`,
      BLOCKSCOUT_API_KEY: 'key' in given ? given.key : KEY,
      BLOCKSCOUT_URL: hosted.url,
    },
    { readsChains: true },
  );
  made.use(gateway);
  const opened = made.move();
  return { gateway, [Symbol.asyncDispose]: () => opened.disposeAsync() };
};

describe.each(Object.entries(CASES))('%s', (_, given) => {
  const { chain = 1, says } = given;

  test('is said by each lookup, and the key by none', async () => {
    await using opened = await open(given);
    const { gateway } = opened;
    for (const [name, selection] of LOOKUPS) {
      const { body, errors } = await gateway.query(queryOf(selection, chain));
      expect(body, name).toContain(says);
      expect(body, name).not.toContain(KEY);
      for (const { message } of errors ?? []) expect(message, name).not.toContain('Upstream');
    }
    expect(gateway.logLines.join()).not.toContain(KEY);
  });

  test('is a warning beside the chains that answer, and takes none of them with it', async () => {
    await using opened = await open(given);
    const { gateway } = opened;
    const list = (chains: readonly number[], at: number) =>
      gateway.query<{ wallet: { transactions: { nodes: object[]; partialErrors: object | null } } }>(
        `query ($address: Address!, $chains: [ChainId!]) { wallet(address: $address) {
          transactions(first: 5, chainIds: $chains) { nodes { hash } partialErrors } } }`,
        { address: at === 0 ? WALLET : `0x${at.toString(16).padStart(40, '0')}`, chains },
      );
    const { data, body } = await list([chain, BESIDE], 0);
    expect(data?.wallet.transactions.nodes).not.toEqual([]);
    expect(JSON.stringify(data?.wallet.transactions.partialErrors)).toContain(says);
    expect(body).not.toContain(KEY);
    // More than open a circuit breaker.
    const failed = await Promise.all(Array.from({ length: 12 }, (_, at) => list([chain], at + 1)));
    for (const each of failed) expect(each.body).toContain(says);
    expect((await list([BESIDE], 0)).data?.wallet.transactions.nodes).not.toEqual([]);
  });
});
