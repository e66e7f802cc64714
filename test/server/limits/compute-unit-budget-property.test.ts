import fc from 'fast-check';
import { expect, test } from 'vitest';
import { balancesLookup } from '../../../src/lookups/balances/balances-rest.ts';
import { lookups } from '../../../src/lookups/registry.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { type GraphQLReply, startGateway } from '../../support/gateway/start.ts';
import { anyList, priceOfPage, selectLists } from '../../support/lookups/asked-lists.ts';
import { sampleItems } from '../../support/lookups/samples.ts';
import { runs } from '../../support/runs.ts';
import { addressOf, type Fields, freshAddress, nativeBalance } from '../../support/upstream/builders.ts';
import type { Answer } from '../../support/upstream/fake-service.ts';
import { serving } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The estimate equals what upstream bills, where no page is cached and all pages are full. It is never less. */

const CHAINS = ['', 'chainIds: [1]', 'chainIds: [8453, 1]', 'chainIds: [1, 8453]'];

/** What is read of the pages of balances, or by a request of its own. */
const ofWallet = fc.constantFrom(
  'portfolio(chainIds: [1]) { totalUsd }',
  'portfolio(chainIds: [1, 8453], priceHoursAgo: [1, 24, 168]) { totalUsd }',
  'balances(chainIds: [1], first: 1000, minPoolSizeUsd: "99999999999") { nodes { amount } }',
  'balances(chainIds: [1], first: 1) { nodes { priceHistory(hoursAgo: [2, 3, 4]) { priceUsd } } }',
  'balance(token: { nativeOf: 1 }) { amount }',
  ...[1, 2, 3].map(
    (number) => `balance(token: { contract: { chainId: 1, address: "${addressOf(number)}" } }) { amount }`,
  ),
);

const wallet = fc.record({
  which: fc.integer({ min: 0, max: 1 }),
  by: fc.constantFrom('wallet', 'wallets', 'node'),
  lists: fc.array(anyList(CHAINS), { minLength: 1, maxLength: 3 }),
  others: fc.array(ofWallet, { minLength: 1, maxLength: 4 }),
});

type Wallet = typeof wallet extends fc.Arbitrary<infer Value> ? Value : never;

const select = ({ which, by, lists, others }: Wallet, addresses: readonly string[], alias: number) => {
  const address = addresses[which] ?? '';
  const more = others.map((text, index) => `o${index}: ${text}`).join(' ');
  const ofParent = (fields: string) => {
    if (by === 'wallet') return `w${alias}: wallet(address: "${address}") { ${fields} }`;
    if (by === 'wallets') return `w${alias}: wallets(addresses: ["${address}", "${address}"]) { ${fields} }`;
    const id = Buffer.from(`Wallet:${address}`).toString('base64');
    return `w${alias}: node(id: "${id}") { ... on Wallet { ${fields} } }`;
  };
  const listed = selectLists(lists, { address, alias: `t${alias}` }, ofParent);
  return `${listed} ${more && `o${alias}: wallet(address: "${address}") { ${more} }`}`;
};

const estimateIn = ({ errors }: GraphQLReply) =>
  (errors?.[0]?.extensions as { estimatedComputeUnits?: number } | undefined)?.estimatedComputeUnits;

const wallets = fc.array(wallet, { minLength: 1, maxLength: 2 });

/** Of others than lists the estimate is a bound. */
const listsAlone = wallets.map((some) => some.map((each) => ({ ...each, others: [] })));

/**
 * Items of a chain that each selection includes: one of a chain that was not asked for is malformed. A native balance passes each
 * filter, so that a filtered list has an item and ends at its bound of pages.
 */
const onEthereum = (lookup: AnyLookup, count: number): Fields[] => {
  const items = sampleItems(lookup, 2 * count).filter(({ chain_id = 1 }) => chain_id === 1);
  const [first] = items;
  if (lookup === balancesLookup && first) items[0] = { ...first, ...nativeBalance() };
  return items.slice(0, count);
};

test('the estimate of any operation equals its cost', async () => {
  await using fake = await startFakeWallets();
  await using strict = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '1' });
  await using generous = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '1000000' });
  const served = lookups.map((lookup): [typeof lookup, Answer] => {
    const { pageSizes, maxItems, isWhole = false } = lookup;
    // A portfolio reads five pages.
    const count = isWhole ? maxItems : pageSizes.newest + 5 * pageSizes.older;
    const serve = serving(lookup, onEthereum(lookup, Math.min(count, MAX_ITEMS)));
    return [
      lookup,
      async (request) => ({
        ...(await serve(request)),
        headers: { 'x-compute-units-cost': String(priceOfPage(lookup, request)) },
      }),
    ];
  });
  const seen = { equal: 0, bound: 0 };

  const check = async (some: readonly Wallet[]) => {
    const addresses = Array.from({ length: 2 }, freshAddress);
    for (const address of addresses)
      for (const [lookup, answer] of served) fake.scriptsOf(lookup).set(address, answer);
    const document = `{ ${some.map((each, index) => select(each, addresses, index)).join('\n')} }`;
    const estimate = estimateIn(await strict.query(document));
    // An operation of at most one unit is never rejected, so no error tells its estimate.
    if (estimate === undefined) return;
    const reply = await generous.query(document);
    expect(reply.errors).toBeUndefined();
    const { computeUnits } = reply.extensions.upstream;
    const isExact = some.every(({ others }) => others.length === 0);
    seen[isExact ? 'equal' : 'bound'] += 1;
    if (isExact) expect({ document, computeUnits }).toEqual({ document, computeUnits: estimate });
    else expect(computeUnits).toBeLessThanOrEqual(estimate);
  };

  await fc.assert(
    fc.asyncProperty(fc.tuple(wallets, listsAlone), async (both) => {
      for (const some of both) await check(some);
    }),
    { numRuns: runs(20, 8) },
  );
  expect(Math.min(seen.equal, seen.bound)).toBeGreaterThan(0);
  if (process.env.FC_RUNS) process.stdout.write(`${JSON.stringify(seen)}\n`);
});

/** More than any list's two pages and a half. */
const MAX_ITEMS = 6500;
