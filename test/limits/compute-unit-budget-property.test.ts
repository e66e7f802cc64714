import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GraphQLReply, startGateway } from '../support/gateway/start.ts';
import { runs } from '../support/runs.ts';
import { collection, freshAddress, history } from '../support/upstream/builders.ts';
import { servingCollectibles, servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The estimate equals what upstream bills, where no page is cached and all pages are full. */

const chains = fc.constantFrom('', 'chainIds: [1]', 'chainIds: [8453, 1]', 'chainIds: [1, 8453]');

const transactions = fc
  .record({ first: fc.integer({ min: 0, max: 450 }), chains, decoded: fc.boolean() })
  .map(({ first, chains: filter, decoded }) => {
    const selection = decoded ? 'nodes { hash decoded { name } }' : 'edges { cursor }';
    return `transactions(first: ${first} ${filter}) { ${selection} }`;
  });

const collectibles = fc
  .record({ first: fc.integer({ min: 0, max: 2800 }), chains, includeSpam: fc.boolean() })
  .map(({ first, chains: filter, includeSpam }) => {
    const spam = includeSpam ? 'includeSpam: true' : '';
    return `collectibles(first: ${first} ${filter} ${spam}) { nodes { tokenId } }`;
  });

const wallet = fc.record({
  which: fc.integer({ min: 0, max: 2 }),
  by: fc.constantFrom('wallet', 'wallets', 'node'),
  lists: fc.array(fc.oneof(transactions, collectibles), { minLength: 1, maxLength: 4 }),
});

type Wallet = typeof wallet extends fc.Arbitrary<infer Value> ? Value : never;

const select = ({ which, by, lists }: Wallet, addresses: readonly string[], alias: number) => {
  const address = addresses[which] ?? '';
  const fields = lists.map((list, index) => `l${index}: ${list}`).join('\n');
  if (by === 'wallet') return `w${alias}: wallet(address: "${address}") { ${fields} }`;
  if (by === 'wallets') return `w${alias}: wallets(addresses: ["${address}", "${address}"]) { ${fields} }`;
  const id = Buffer.from(`Wallet:${address}`).toString('base64');
  return `w${alias}: node(id: "${id}") { ... on Wallet { ${fields} } }`;
};

const estimateIn = ({ errors }: GraphQLReply) =>
  (errors?.[0]?.extensions as { estimatedComputeUnits?: number } | undefined)?.estimatedComputeUnits;

test('the estimate of any operation equals its cost', async () => {
  await using fake = await startFakeWallets();
  await using strict = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '1' });
  await using generous = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '1000000' });
  const serveTransactions = servingTransactions(history(600));
  const serveCollectibles = servingCollectibles(collection(3000));
  let compared = 0;

  await fc.assert(
    fc.asyncProperty(fc.array(wallet, { minLength: 1, maxLength: 4 }), async (wallets) => {
      const addresses = Array.from({ length: 3 }, freshAddress);
      for (const address of addresses) {
        fake.transactions.set(address, serveTransactions);
        fake.collectibles.set(address, async (request) => {
          const billed = request.query.get('chain_ids')?.split(',').length ?? 14;
          const headers = { 'X-Compute-Units-Cost': String(billed) };
          return { ...(await serveCollectibles(request)), headers };
        });
      }
      const document = `{ ${wallets.map((each, index) => select(each, addresses, index)).join('\n')} }`;
      const estimate = estimateIn(await strict.query(document));
      // An operation of at most one unit is never rejected, so no error tells its estimate.
      if (estimate === undefined) return;
      compared += 1;
      const reply = await generous.query(document);
      expect(reply.errors).toBeUndefined();
      expect(reply.extensions.upstream.computeUnits).toBe(estimate);
    }),
    { numRuns: runs(60) },
  );
  expect(compared).toBeGreaterThan(4);
});
