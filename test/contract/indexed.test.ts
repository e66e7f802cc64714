import { expect, test } from 'vitest';
import { startIndexed } from '../../src/backend/indexer/indexer.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { folderOf } from '../support/folder.ts';
import { said, startBendingProxy } from './support/bending-proxy.ts';
import { judge, remarks, skippedIn } from './support/judge.ts';
import { populate } from './support/populate.ts';

/** The points that judge the sandbox and any other server judge the index of a chain of one's own. */

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
