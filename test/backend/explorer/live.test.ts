import { expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { growingChain } from '../../support/blockscout/growing.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { folderOf } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { KEY } from './support/asking.ts';

/** Watched wallets of BLOCKSCOUT, over a simulated explorer whose chain grows. */

const ALICE: Hex = `0x${'a1'.repeat(20)}`;
const BOB: Hex = `0x${'b0'.repeat(20)}`;
const PATIENT = { timeout: 60_000, interval: 100 };

/** The hosted API with one chain, and what a gateway over it is set to. */
const openHosted = async ({ version = '12.0.2' } = {}) => {
  const chain = growingChain();
  chain.mine(20);
  const explorer = await startBlockscout({
    chains: [1, 2, 3].map((id) => ({ id, contents: chain.contents, version })),
    hosted: { key: KEY, credits: 1e9, perSecond: 1_000 },
  });
  const seen = (end: string) => explorer.requests.filter(({ path }) => path.endsWith(end)).length;
  return {
    ...{ chain, explorer, seen },
    env: {
      BLOCKSCOUT: '1',
      BLOCKSCOUT_API_KEY: KEY,
      BLOCKSCOUT_URL: explorer.url,
      BLOCKSCOUT_LIVE: 'on',
      BLOCKSCOUT_LIVE_CREDITS: '1000000000',
      BLOCKSCOUT_LIVE_CONFIRMATIONS: '5',
    },
    /** Resolves once a watched address was asked for so many times more. */
    async polls(count: number): Promise<void> {
      const before = explorer.requests.length;
      await expect.poll(() => explorer.requests.length, PATIENT).toBeGreaterThanOrEqual(before + 2 * count);
    },
    /** Resolves once the newest block was asked for, from which on the first poll tells. */
    began: () => expect.poll(() => seen('/v2/blocks'), PATIENT).toBeGreaterThan(0),
    [Symbol.asyncDispose]: () => explorer[Symbol.asyncDispose](),
  };
};

type Asking = Pick<Gateway, 'data'>;

const watch = (gateway: Asking, input: object) =>
  gateway.data<{ watchWallet: { watchedWallet?: { polling: object | null }; message?: string } }>(
    `mutation ($input: WatchWalletInput!) { watchWallet(input: $input) {
      ... on WatchWalletPayload { watchedWallet { polling { chainIds everySeconds creditsPerDay confirmations } } }
      ... on WebhookError { message }
    } }`,
    { input },
  );

type Item = Readonly<Record<string, unknown>>;
type Delivery = { type: string; payload: Record<string, Item[]> };

/** What is in the log: `type hash`, in the order of arrival. */
const delivered = async (gateway: Asking): Promise<readonly string[]> => {
  const { deliveries } = await gateway.data<{ deliveries: { nodes: Delivery[] } }>(
    '{ deliveries(first: 1000) { nodes { type payload } } }',
  );
  return deliveries.nodes.flatMap(({ type, payload }) =>
    Object.values(payload)
      .filter(Array.isArray)
      .flat()
      .map((item) => `${type} ${item.hash ?? item.tx_hash ?? item.transaction_hash}`),
  );
};

/** Each once. */
const inTypes = (hashes: readonly Hex[], types = ['ACTIVITIES', 'BALANCES', 'TRANSACTIONS']) =>
  types.flatMap((type) => hashes.map((hash) => `${type} ${hash}`)).toSorted();

test('what happens at a watched wallet is delivered once, after its confirmations, and the reply says what that takes', async () => {
  await using opened = await openHosted();
  const { chain, env } = opened;
  chain.send({ from: BOB, to: ALICE });
  chain.mine(5);
  await using gateway = await startGateway(env, { readsChains: true });
  const { watchWallet } = await watch(gateway, { address: ALICE });
  expect(watchWallet).toEqual({
    watchedWallet: {
      polling: { chainIds: [1], everySeconds: 2, creditsPerDay: 2_160_000, confirmations: 5 },
    },
  });
  await opened.began();
  const paid = chain.send({ from: BOB, to: ALICE, value: 7n });
  const sent = chain.send({ from: ALICE, to: BOB });
  const moved = chain.move({ from: BOB, to: ALICE });
  const failed = chain.send({ from: ALICE, to: BOB, status: 'error' });
  // What has happened has too few confirmations.
  await opened.polls(3);
  expect(await delivered(gateway)).toEqual([]);
  chain.mine(5);
  const all = [
    ...inTypes([paid, sent]),
    ...inTypes([moved], ['ACTIVITIES', 'BALANCES']),
    ...inTypes([failed], ['TRANSACTIONS']),
  ].toSorted();
  await expect.poll(async () => (await delivered(gateway)).toSorted(), PATIENT).toEqual(all);
  await opened.polls(3);
  expect((await delivered(gateway)).toSorted()).toEqual(all);
});

test('without BLOCKSCOUT_LIVE nothing is delivered of the chain, which says so and is refused', async () => {
  await using opened = await openHosted();
  const supports = async (gateway: Gateway) => {
    const { chains } = await gateway.data<{ chains: { supports: string[] }[] }>('{ chains { supports } }');
    return chains.flatMap((each) => each.supports).includes('WEBHOOKS');
  };
  await using off = await startGateway({ ...opened.env, BLOCKSCOUT_LIVE: 'off' }, { readsChains: true });
  await using on = await startGateway(opened.env, { readsChains: true });
  await expect.poll(() => supports(on)).toBe(true);
  expect(await supports(off)).toBe(false);
  const { watchWallet } = await watch(off, { address: ALICE, chainIds: [1] });
  expect(watchWallet.message).toContain('Chains not supported for webhooks: 1');
});

test('a gateway that is killed goes on where it was: what came meanwhile is delivered, and nothing again', async () => {
  await using opened = await openHosted();
  const { chain } = opened;
  await using folder = await folderOf({});
  const env = { ...opened.env, DATA_DIR: folder.path('data'), PORT: String(await freePort()) };
  await using first = await spawnGateway(env);
  await watch(first, { address: ALICE });
  await opened.began();
  const before = chain.send({ from: BOB, to: ALICE });
  chain.mine(5);
  await expect.poll(async () => (await delivered(first)).toSorted(), PATIENT).toEqual(inTypes([before]));
  await first.end('SIGKILL');
  const meanwhile = [1n, 2n, 3n].map((value) => chain.send({ from: BOB, to: ALICE, value }));
  chain.mine(5);
  await using second = await spawnGateway(env);
  const all = inTypes([before, ...meanwhile]);
  await expect.poll(async () => (await delivered(second)).toSorted(), PATIENT).toEqual(all);
  await opened.polls(3);
  expect((await delivered(second)).toSorted()).toEqual(all);
});

test('while an explorer fails, and in the middle of what came meanwhile, nothing is lost or repeated', async () => {
  // Version 11 has pages of 50.
  await using opened = await openHosted({ version: '11.2.7' });
  const { chain, explorer } = opened;
  await using gateway = await startGateway(opened.env, { readsChains: true });
  await watch(gateway, { address: ALICE, types: ['ACTIVITIES'] });
  await opened.began();
  // Nor does the other route answer, which stands in for a list that is too slow.
  const isSecondPage = ({ query }: (typeof explorer.requests)[number]) =>
    query.has('block_number') || query.get('action') === 'txlist';
  explorer.plant({ status: 500, json: { message: 'busy' } }, isSecondPage);
  const hashes = Array.from({ length: 120 }, (_, at) =>
    chain.send({ from: BOB, to: ALICE, value: BigInt(at + 1) }),
  );
  chain.mine(5);
  const named = () => gateway.logLines.filter((line) => line.includes('could not be asked for'));
  await expect.poll(() => named().length, PATIENT).toBe(1);
  expect(await delivered(gateway)).toEqual([]);
  explorer.mend();
  await expect
    .poll(async () => (await delivered(gateway)).toSorted(), PATIENT)
    .toEqual(inTypes(hashes, ['ACTIVITIES']));
  expect(gateway.logLines.some((line) => line.includes('is asked for again'))).toBe(true);
});

test('when the credits of a day are used up, it stops and says so, and lookups go on', async () => {
  await using opened = await openHosted();
  const { explorer } = opened;
  // The first poll takes 20 of them.
  await using gateway = await startGateway(
    { ...opened.env, BLOCKSCOUT_LIVE_CREDITS: '100' },
    { readsChains: true },
  );
  for (const address of [ALICE, BOB]) await watch(gateway, { address, types: ['BALANCES'] });
  const live = async () => {
    const response = await fetch(`${gateway.url}/health/ready`);
    const { explorers } = (await response.json()) as {
      explorers: { live?: { credits: { left: number } } }[];
    };
    return explorers[0]?.live;
  };
  await opened.began();
  await expect
    .poll(live, PATIENT)
    .toMatchObject({ addresses: 2, failing: 0, gaps: 0, credits: { left: 80 } });
  // One with a budget of a poll less.
  await using poor = await startGateway(
    { ...opened.env, BLOCKSCOUT: '1,2,3', BLOCKSCOUT_LIVE_CREDITS: '100' },
    { readsChains: true },
  );
  await watch(poor, { address: ALICE });
  const said = () => poor.logLines.filter((line) => line.includes('watched addresses are not asked for'));
  await expect.poll(() => said().length, PATIENT).toBe(1);
  expect(said().join()).toMatch(
    /BLOCKSCOUT_LIVE_CREDITS.*T00:00:00.000Z|T00:00:00.000Z.*BLOCKSCOUT_LIVE_CREDITS/,
  );
  const before = explorer.requests.length;
  const { wallet } = await poor.data<{ wallet: { transactions: object } }>(
    `{ wallet(address: "${BOB}") { transactions(chainIds: [1]) { nodes { hash } } } }`,
  );
  expect(wallet.transactions).toEqual({ nodes: [] });
  expect(explorer.requests.length).toBe(before + 1);
});

test('what is more than is read at once is named, and the newest of it delivered', async () => {
  await using opened = await openHosted({ version: '11.2.7' });
  const { chain } = opened;
  await using gateway = await startGateway(opened.env, { readsChains: true });
  await watch(gateway, { address: ALICE, types: ['ACTIVITIES'] });
  await opened.began();
  // Many in a block, as pages of 50 end within blocks.
  const hashes: Hex[] = [];
  for (let count = 0; count < 230; count += 1) {
    const block = chain.mine();
    for (let at = 0; at < 10; at += 1) hashes.push(chain.send({ from: BOB, to: ALICE }, block));
  }
  chain.mine(5);
  const named = () => gateway.logLines.filter((line) => line.includes('events of blocks are not told'));
  await expect.poll(() => named().length, PATIENT).toBe(1);
  const newest = hashes.slice(-100);
  await expect
    .poll(async () => {
      const all = new Set(await delivered(gateway));
      return newest.every((hash) => all.has(`ACTIVITIES ${hash}`));
    }, PATIENT)
    .toBe(true);
  const { from, to } = JSON.parse(named().join()) as { from: number; to: number };
  expect(from).toBeLessThan(to);
  expect(to).toBeLessThan(100);
});
