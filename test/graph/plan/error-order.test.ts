import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway/start.ts';
import { addressOf, hashOf, timeAt, transaction } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

const MALFORMED = [
  transaction({ hash: hashOf(3), block_time: timeAt(3) }),
  transaction({ hash: 'no hash', block_time: timeAt(2) }),
  transaction({ hash: 'no hash either', block_time: timeAt(1) }),
];

test.each(['fast', 'plain'] as const)(
  'errors come in the order of the data, whichever list upstream sends first (%s)',
  async (readPath) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url }, { readPath });
    const wallets = [0x51, 0x52, 0x53].map(addressOf);
    const serve = servingTransactions(MALFORMED);
    for (const [place, wallet] of wallets.entries())
      fake.transactions.set(wallet, async (request) => ({
        ...(await serve(request)),
        latencyMs: 300 - 150 * place,
      }));
    const { errors } = await gateway.query(
      `query ($wallets: [Address!]!) {
        wallets(addresses: $wallets) { transactions { edges { cursor } pageInfo { hasNextPage } nodes { hash } } }
        failed: wallet(address: "${wallets[0]}") { transactions(after: "of no list") { nodes { hash } } }
      }`,
      { wallets },
    );
    const lists = wallets.flatMap((_, place) => ['edges', 'nodes'].map((list) => ({ place, list })));
    const expected = lists.flatMap(({ place, list }) =>
      [1, 2].map((index) => ['wallets', place, 'transactions', list, index]),
    );
    expect(errors?.map(({ path }) => path)).toEqual([...expected, ['failed', 'transactions']]);
  },
);
