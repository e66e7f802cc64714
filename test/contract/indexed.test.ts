import { expect, test } from 'vitest';
import { namehash, reverseNode } from '../../src/backend/evm/ens.ts';
import { startIndexed } from '../../src/backend/indexer/indexer.ts';
import { type Anvil, startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, deploy, sendTransaction } from '../backend/indexer/support/contracts.ts';
import { folderOf } from '../support/folder.ts';
import type { Result } from './run.ts';
import { said, startBendingProxy } from './support/bending-proxy.ts';
import { judge, remarks } from './support/judge.ts';

/** The points that judge the sandbox and any other server judge the index of a chain of one's own. */

/** What a team does on its chain: a token, a swap, collectibles of both kinds, approvals, payments, a failed call, a name. */
const populate = async ({ url }: Anvil) => {
  const [owner = '0x', friend = '0x', other = '0x'] = await accountsOf(url);
  const coin = await deploy(url, 'Coin', ['Dollar Coin', 'DOLLAR', 6]);
  const second = await deploy(url, 'Coin', ['Second Coin', 'SECOND', 18]);
  const art = await deploy(url, 'Art', ['Art', 'ART']);
  const things = await deploy(url, 'Items', ['https://example.com/{id}.json']);
  const pool = await deploy(url, 'Pool', [coin.address, second.address]);
  await coin.mine('mint', [owner, 10_000_000n]);
  await second.mine('mint', [owner, 10n ** 20n]);
  await coin.mine('transfer', [pool.address, 1_000_000n]);
  await second.mine('transfer', [pool.address, 10n ** 18n]);
  await coin.mine('approve', [pool.address, 500_000n]);
  await pool.mine('swap', [coin.address, 500_000n]);
  for (let at = 1; at <= 8; at++) {
    await coin.mine('transfer', [at % 2 === 0 ? friend : other, BigInt(at * 1_000)]);
    await art.mine('mint', [owner, BigInt(at), `https://example.com/${at}`]);
    await sendTransaction(url, friend, '0x', { value: BigInt(at) * 10n ** 15n });
  }
  await art.mine('transferFrom', [owner, friend, 1n]);
  for (let at = 2; at <= 7; at++) await art.mine('approve', [friend, BigInt(at)]);
  await second.mine('approve', [other, 7n]);
  await things.mine('mintBatch', [owner, [1n, 2n], [5n, 6n]]);
  await coin.mine('transfer', [friend, 10n ** 30n], { gas: 100_000n });
  await coin.mine('burn', [1_000n]);
  const registry = await deploy(url, 'NameRegistry');
  const resolver = await deploy(url, 'NameResolver');
  const reverse = reverseNode(owner);
  for (const node of [reverse, namehash('owner.eth')])
    await registry.mine('setResolver', [node, resolver.address]);
  await resolver.mine('setName', [reverse, 'owner.eth']);
  await resolver.mine('setAddr', [namehash('owner.eth'), owner]);
  return { wallets: [owner, friend], coin, registry };
};

/** The operations of which something was skipped. */
const skippedIn = (results: readonly Result[]): readonly string[] => [
  ...new Set(results.filter(({ status }) => status === 'skipped').map(({ point }) => point.operation)),
];

/** What an index has no data of: stablecoins are not known on a chain of one's own, and positions on none. */
const WITHOUT_DATA = ['GET /v1/evm/balances/{address}/stablecoins', 'GET /v1/evm/defi/positions/{address}'];
const HOLDERS = 'GET /v1/evm/token-holders/{chain_id}/{address}';

const SETTINGS = {
  abiDirectory: null,
  metadata: null,
  prices: null,
  host: '127.0.0.1',
  port: 0,
  apiKey: 'sandbox',
  keyHeader: 'X-Service-Api-Key',
  signatureSecret: null,
  log: () => {},
};

/** A populated chain, and the service over its index, which is complete from a block on. */
const startOver = async (startBlock: number) => {
  await using started = new AsyncDisposableStack();
  const anvil = started.use(await startAnvil());
  const { wallets, coin, registry } = await populate(anvil);
  const prices = { 31337: { native: 3_120.5, [coin.address]: 1.0002 } };
  const folder = started.use(await folderOf({ 'prices.json': JSON.stringify(prices) }));
  const service = await startIndexed({
    ...SETTINGS,
    chains: [{ id: 31_337, url: anvil.url, startBlock, ensRegistry: registry.address }],
    directory: folder.path('index'),
    prices: folder.path('prices.json'),
  });
  started.defer(() => service.stop());
  service.follow();
  const head = await anvil.head();
  const indexed = async (): Promise<unknown> => {
    const response = await fetch(`${service.url}/v1/evm/supported-chains`);
    const { index } = (await response.json()).chains[0];
    return [index?.indexedFrom, index?.indexedTo];
  };
  await expect.poll(indexed).toEqual([startBlock, head]);
  const running = started.move();
  return { url: service.url, wallets, coin, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

test.each([
  ['whole', 0, WITHOUT_DATA, []],
  // A late index does not know all holders of a token. The warnings of its lists name the chain by its id.
  ['late', 12, [...WITHOUT_DATA, HOLDERS], ['activity', 'balances', 'collectibles', 'transactions']],
])('a %s index of a chain keeps the contract in every point', async (_, startBlock, skipped, warned) => {
  await using service = await startOver(startBlock);
  const { url, wallets } = service;
  const results = await judge({ url, wallets });
  expect(skippedIn(results).toSorted()).toEqual(skipped.toSorted());
  const made = remarks(results.filter(({ status }) => status !== 'skipped'));
  const ofWarnings = made.filter((remark) => remark.includes('warnings[].chain_ids[]'));
  expect(made.filter((remark) => !ofWarnings.includes(remark))).toEqual([
    // Its tokens have no logos, and no pools that are known.
    expect.stringMatching(/^note: .*tells logos and pools .*: expected token_metadata or pool with metadata/),
  ]);
  expect(ofWarnings.toSorted()).toEqual(
    warned.map((list) => expect.stringMatching(`^note: GET /v1/evm/${list}/.*expected a decimal text`)),
  );
});

test('what happens on the chain is delivered as the contract says', async () => {
  await using service = await startOver(0);
  const { wallets, coin } = service;
  await using proxy = await startBendingProxy(service.url);
  // The events are those of blocks.
  proxy.bend({ request: ({ path }) => (path.endsWith('/test') ? said(404, 'Not found') : undefined) });
  const judging = judge({ url: proxy.url, wallets, only: ({ expects }) => expects.startsWith('delivers') });
  let isJudging = true;
  const judged = judging.finally(() => {
    isJudging = false;
  });
  while (isJudging) {
    await coin.mine('transfer', [wallets[1], 1n]);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(remarks(await judged)).toEqual([]);
});

test('an index whose node does not answer keeps the contract as far as that can be judged', async () => {
  await using folder = await folderOf({});
  const chains = [{ id: 31_337, url: 'http://127.0.0.1:9', startBlock: null }];
  const service = await startIndexed({ ...SETTINGS, chains, directory: folder.path('index') });
  await using stopped = new AsyncDisposableStack();
  stopped.defer(() => service.stop());
  service.follow();
  const results = await judge({ url: service.url });
  expect(remarks(results.filter(({ status }) => status !== 'skipped'))).toEqual([]);
  const judgedInPart = results.filter(({ status }) => status === 'ok').map(({ point }) => point.operation);
  expect(judgedInPart).toEqual(
    expect.arrayContaining(['GET /v1/evm/supported-chains', 'GET /v1/evm/activity/{address}']),
  );
});
