import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse, print, separateOperations, type VariableDefinitionNode } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import type { Contents } from '../../support/blockscout/contents.ts';
import { madeUp, TOKEN, WALLET } from '../../support/blockscout/made-up.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { keysOf, type Page, pageAt, walk } from '../../support/clients/walk.ts';
import { codesOf, type Gateway, startGateway } from '../../support/gateway/start.ts';
import { anyList, selectLists } from '../../support/lookups/asked-lists.ts';
import { runs } from '../../support/runs.ts';
import { hashOf } from '../indexer/support/blocks.ts';
import { KEY } from './support/asking.ts';

/**
 * The laws of lists, caches and budgets, and the console's questions, over the hosted API with a chain of each version. Most of its time
 * is that of gateways that start.
 */

const CHAINS = [
  {
    id: 1,
    version: '11.2.7',
    sizes: { transactions: 60, pending: 2, transfers: 70, tokens: 55, nfts: 60, holders: 120 },
  },
  {
    id: 8453,
    version: '12.0.2',
    sizes: { transactions: 110, pending: 1, transfers: 40, tokens: 5, nfts: 101 },
  },
] as const;

const contentsOf = ({ id, sizes }: (typeof CHAINS)[number]): Contents => madeUp(sizes, id);

const openHosted = (contents: (chain: (typeof CHAINS)[number]) => Contents | (() => Contents) = contentsOf) =>
  startBlockscout({
    chains: CHAINS.map((chain) => ({ ...chain, contents: contents(chain) })),
    hosted: { key: KEY, perSecond: 10_000, credits: 10_000_000 },
  });

type Hosted = Awaited<ReturnType<typeof openHosted>>;

const openGateway = ({ url }: Pick<Hosted, 'url'>, env: Record<string, string> = {}): Promise<Gateway> =>
  startGateway(
    { BLOCKSCOUT: '1,8453', BLOCKSCOUT_API_KEY: KEY, BLOCKSCOUT_URL: url, CACHE_HEAD_MS: '600000', ...env },
    { readsChains: true },
  );

let hosted: Hosted;
let gateway: Gateway;

beforeAll(async () => {
  hosted = await openHosted();
  gateway = await openGateway(hosted);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await hosted[Symbol.asyncDispose]();
});

/** What explorers do not have. */
const UNSUPPORTED = ['approvals', 'defiPositions'];
const LISTS = lookups.filter(({ name }) => !UNSUPPORTED.includes(name));

const addressOf = (list: string): string => (list === 'holders' ? TOKEN : WALLET);

const LENGTHS: Readonly<Record<string, number>> = {
  ...{ transactions: 60 + 110, balances: 55 + 1 + 5 + 1, collectibles: 60 + 101, holders: 120 },
};

test.each(LISTS)(
  'walks through $name by 3, by 10 and by the maximum are the same, and have each item once',
  async ({ name, maxItems }) => {
    const [all = [], ...others] = await Promise.all(
      [maxItems, 10, 3].map((first) => walk(gateway, name, addressOf(name), first)),
    );
    const keys = keysOf(all);
    expect(keys).toHaveLength(LENGTHS[name] ?? keys.length);
    expect(keys.length).toBeGreaterThan(60);
    for (const pages of others) {
      expect(keysOf(pages)).toEqual(keys);
      const cursors = pages.flatMap(({ edges }) => edges.map((edge) => edge?.cursor));
      expect(new Set(cursors).size).toBe(keys.length);
      for (const { edges, pageInfo } of pages) {
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor, edges.at(-1)?.cursor]);
      }
      for (const { edges } of pages.slice(0, -1)) expect(edges).toHaveLength(pages[0]?.edges.length ?? 0);
    }
  },
);

/** The same chain, later: so many transactions of the wallet more. */
const grown = (contents: Contents, count: number): Contents => {
  const [last] = contents.blocks.slice(-1);
  const [sent] = contents.transactions;
  if (last === undefined || sent === undefined) throw new Error('expected a block and a transaction');
  const blocks = Array.from({ length: count }, (_, at) => ({
    ...{ number: last.number + 1 + at, time: last.time + 2000 * (1 + at) },
    ...{ hash: hashOf('later', at), parentHash: at === 0 ? last.hash : hashOf('later', at - 1) },
  }));
  const transactions = blocks.map((block, at) => ({
    ...sent,
    block,
    hash: hashOf('sent later', at),
    logs: [],
  }));
  return {
    ...contents,
    blocks: [...contents.blocks, ...blocks],
    transactions: [...contents.transactions, ...transactions],
  };
};

test('cursors are good for another gateway, after more has come', async () => {
  let isLater = false;
  await using growing = await openHosted((chain) => {
    const [now, later] = [contentsOf(chain), grown(contentsOf(chain), 3)];
    // The blocks of the other chain would be among those that were already read.
    return () => (isLater && chain.id === 8453 ? later : now);
  });
  const secret = { DELIVERY_SECRET: 'one secret of all gateways, of thirty-two bytes or more' };
  await using first = await openGateway(growing, secret);
  const lists = ['transactions', 'activity'];
  const walks = await Promise.all(lists.map((list) => walk(first, list, WALLET, 50)));
  isLater = true;
  await using second = await openGateway(growing, secret);
  for (const [at, list] of lists.entries()) {
    const [start, ...rest] = walks[at] ?? [];
    const found: Page[] = [];
    for (let { endCursor, hasNextPage } = start?.pageInfo ?? NO_PAGE; hasNextPage; ) {
      const page = await pageAt(second, list, WALLET, 50, endCursor);
      found.push(page);
      ({ endCursor, hasNextPage } = page.pageInfo);
    }
    expect(keysOf(found)).toEqual(keysOf(rest));
    expect(keysOf([await pageAt(second, list, WALLET, 50)])).not.toEqual(keysOf(start ? [start] : []));
  }
});

const NO_PAGE = { endCursor: null, hasNextPage: false };

const FIRST_SCREEN = `query ($address: Address!) {
  wallet(address: $address) {
    portfolio { top(first: 10) { amount token { symbol } } }
    activity(first: 20) { nodes { typeName } }
    collectibles(first: 20) { nodes { tokenId } }
  }
}`;

test('ten equal first screens at a time are five requests of each explorer, and those that follow none', async () => {
  // What the wallet has fits on one page of either version.
  await using small = await openHosted(({ id }) => madeUp({}, id));
  await using fresh = await openGateway(small);
  const ask = () => fresh.query(FIRST_SCREEN, { address: WALLET });
  const screens = await Promise.all(Array.from({ length: 10 }, ask));
  const asked = () =>
    CHAINS.map(
      ({ id }) =>
        small.requests.filter(({ chainId, path }) => chainId === id && !path.endsWith('/backend-version'))
          .length,
    );
  expect(new Set(screens.map(({ data, errors }) => JSON.stringify([data, errors]))).size).toBe(1);
  expect(asked()).toEqual([5, 5]);
  expect((await ask()).extensions.upstream).toMatchObject({ requests: 0, computeUnits: 0 });
  expect(asked()).toEqual([5, 5]);
});

test('no operation costs more than MAX_COMPUTE_UNITS, and its client no more than its budget', async () => {
  const [most, budget] = [9, 60];
  const lists = fc.array(anyList(['', 'chainIds: [1]', 'chainIds: [1, 8453]']), {
    minLength: 1,
    maxLength: 3,
  });
  const seen = { paid: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(lists, { minLength: 6, maxLength: 10 }), async (operations) => {
      await using limited = await openGateway(hosted, {
        MAX_COMPUTE_UNITS: String(most),
        CLIENT_COMPUTE_UNITS_PER_MINUTE: String(budget),
      });
      const since = Date.now();
      let spent = 0;
      for (const asked of operations) {
        const document = selectLists(
          asked,
          { address: WALLET, alias: 'token' },
          (selection) => `wallet(address: "${WALLET}") { ${selection} }`,
        );
        const { errors, extensions } = await limited.query(`{ ${document} }`);
        expect(extensions.upstream.computeUnits).toBeLessThanOrEqual(most);
        spent += extensions.upstream.computeUnits;
        const codes = codesOf({ errors });
        seen[codes.some((code) => /COMPLEX|BUDGET/.test(code)) ? 'refused' : 'paid'] += 1;
      }
      const earned = (budget * (Date.now() - since)) / 60_000;
      expect(spent).toBeLessThanOrEqual(Math.ceil(budget + earned));
    }),
    { numRuns: runs(20, 2) },
  );
  expect(Math.min(seen.paid, seen.refused)).toBeGreaterThan(0);
});

const OPERATIONS = new URL('../../../src/console/operations/', import.meta.url);

const [SENT] = madeUp(CHAINS[0].sizes, 1).transactions;

const COIN = { contract: { chainId: 1, address: TOKEN } };

/** By the types of variables. Others may be null. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ 'Address!': WALLET, '[ChainId!]': [1, 8453], 'ChainId!': 1, 'Int!': 5, 'Boolean!': true },
  ...{ 'Hex!': SENT?.hash, 'String!': 'coin', '[Int!]!': [1, 24], '[UUID!]!': [] },
  ...{ 'TokenInput!': COIN, '[TokenInput!]!': [COIN] },
  'UUID!': '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41',
  'ID!': Buffer.from('Wallet:none').toString('base64'),
};

/** The question about a delivery, which never comes. */
const OF_A_DELIVERY = 'DeliveryPayload';

const variablesOf = (definitions: readonly VariableDefinitionNode[] = []) =>
  Object.fromEntries(
    definitions.map(({ variable, type }) => [variable.name.value, VALUES[print(type)] ?? null]),
  );

test('the console’s questions are answered, but for those that explorers can not answer', async () => {
  const texts = readdirSync(OPERATIONS).map((name) => readFileSync(new URL(name, OPERATIONS), 'utf8'));
  const refused: Record<string, string> = {};
  for (const [name, document] of Object.entries(separateOperations(parse(texts.join('\n'))))) {
    const [definition] = document.definitions.filter((each) => each.kind === 'OperationDefinition');
    if (definition?.operation !== 'query' || name === OF_A_DELIVERY) continue;
    const reply = await gateway.query(print(document), variablesOf(definition.variableDefinitions));
    for (const { message } of reply.errors ?? []) refused[name] = message;
  }
  expect(refused).toEqual({
    WalletApprovals: expect.stringContaining('APPROVALS'),
    WalletPositions: expect.stringContaining('DEFI_POSITIONS'),
  });
});
