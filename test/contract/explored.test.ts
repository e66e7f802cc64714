import { expect, test } from 'vitest';
import { openExplored } from '../backend/explorer/support/exploring.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { abiOf } from '../backend/indexer/support/contracts.ts';
import { contentsOfNode } from '../support/blockscout/from-node.ts';
import { judge, remarks, skippedIn } from './support/judge.ts';
import { populate } from './support/populate.ts';

/** The points that judge the sandbox and any other server judge the explorer of a public chain. */

/** What explorers don't offer, and stablecoins, which are not known on a chain of one's own. */
const WITHOUT_DATA = [
  'GET /v1/evm/approvals/{address}',
  'GET /v1/evm/balances/{address}/stablecoins',
  'GET /v1/evm/defi/positions/{address}',
];

test('an explorer keeps the contract in every point, but for what it does not know', async () => {
  await using anvil = await startAnvil();
  const { wallets, coin } = await populate(anvil);
  const contents = contentsOfNode({
    ...{ chainId: 1, call: anvil.rpc },
    prices: new Map([
      [null, 3_120.5],
      [coin.address, 1.0002],
    ]),
    verified: new Map([[coin.address, { name: 'Coin', abi: await abiOf('Coin') }]]),
  });
  await using explored = await openExplored([{ id: 1, contents }]);
  const judging = judge({
    ...{ url: explored.url, key: 'key', keyHeader: 'x-service-api-key' },
    ...{ wallets, only: ({ operation }) => operation.includes(' /v1/evm/') },
  });
  const results = await explored.until(judging);
  expect(skippedIn(results)).toEqual(WITHOUT_DATA);
  const made = remarks(results.filter(({ status }) => status !== 'skipped'));
  expect(made).toEqual([
    expect.stringMatching(/^note: .*\/name\/.*: name: expected a text, got null/),
    expect.stringMatching(
      /^differs: .*\/collectibles\/.*: entries\[\]\.last_acquired: expected a time .*, got nothing/,
    ),
    expect.stringMatching(
      /^differs: .*\/collectibles\/.* explains spam scores .*: expected entries with explanations, got none/,
    ),
    expect.stringMatching(
      /^note: .*\/balances\/.* tells logos and pools .*: expected token_metadata or pool/,
    ),
  ]);
});
