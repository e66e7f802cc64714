import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { issuerOf, LOOKUPS, type LookupName, type Subjects, untilTold } from './support/freshness.ts';
import { API_KEY, openIndexed } from './support/service.ts';

/**
 * Over an index, a block is in every lookup at once, however long pages are kept: the service tells of it. It takes some seconds of
 * its own, as both kinds of index follow one Anvil.
 */

const CHAIN = 31_337;
const HOUR = '3600000';
/** By their ages alone, the pages of the tests would stay. */
const KEPT = {
  CACHE_HEAD_MS: HOUR,
  CACHE_TAIL_MS: HOUR,
  CACHE_WATCHED_MS: HOUR,
};

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil();
});
afterAll(() => anvil[Symbol.asyncDispose]());

/** A gateway that embeds an index of the chain, and one over a service. */
const openBoth = async () => {
  await using made = new AsyncDisposableStack();
  const service = made.use(await openIndexed({ chains: [{ id: CHAIN, url: anvil.url, startBlock: null }] }));
  const over = { UPSTREAM_URL: service.url, UPSTREAM_API_KEY: API_KEY };
  const gateways = {
    embedded: made.use(
      await startGateway({ ...KEPT, CHAINS: `${CHAIN}=${anvil.url}` }, { readsChains: true }),
    ),
    'over a service': made.use(await startGateway({ ...KEPT, ...over }, { readsChains: true })),
  };
  for (const { logLines } of Object.values(gateways))
    await expect.poll(() => logLines.some((line) => line.includes('changes are told'))).toBe(true);
  const running = made.move();
  return { gateways, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const subjectsOf = async (): Promise<Subjects> => {
  const accounts = await accountsOf(anvil.url);
  const wallet = accounts[1] ?? '0x';
  const coin = await deploy(anvil.url, 'Coin', ['Fresh Coin', 'FRESH', 18]);
  await coin.mine('mint', [wallet, 1n]);
  const art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
  await art.mine('mint', [wallet, 1n, '']);
  return { url: anvil.url, wallet, coin, art };
};

const ALL = Object.keys(LOOKUPS) as LookupName[];
const OF_COIN: readonly LookupName[] = ['balances', 'balance', 'holders', 'market'];

test('each lookup says what a block has changed, and what a revert takes back', async () => {
  const subjects = await subjectsOf();
  const { wallet, coin, art } = subjects;
  await using both = await openBoth();
  const times = new Map<string, number[]>();
  const told = async (hash: string, names: readonly LookupName[]) => {
    for (const [kind, gateway] of Object.entries(both.gateways))
      for (const [name, ms] of await untilTold(gateway, subjects, hash, names))
        times.set(`${kind}: ${name}`, [...(times.get(`${kind}: ${name}`) ?? []), Math.round(ms)]);
  };
  const mined = async (hash: Hex) => {
    await receiptOf(anvil.url, hash);
    return hash;
  };
  const first = await mined(await coin.send('mint', [wallet, 1n]));
  await told(first, ALL);
  const snapshot = await anvil.rpc('evm_snapshot');

  await told(await mined(await coin.send('mint', [wallet, 5n])), [
    ...(['transactions', 'activity', 'index'] as const),
    ...OF_COIN,
  ]);
  await told(await mined(await art.send('mint', [wallet, 2n, ''])), ['transactions', 'collectibles']);
  await told(await mined(await sendTransaction(anvil.url, wallet, '0x', { value: 7n })), [
    ...(['transactions', 'activity', 'native'] as const),
  ]);
  const from = await issuerOf(anvil.url);
  const another = await deploy(anvil.url, 'Coin', ['Another', 'FRESHER', 18], { from });
  await told(await mined(await another.send('mint', [wallet, 1n], { from })), ['search', 'transactions']);

  await anvil.rpc('evm_revert', snapshot);
  await told(first, ALL);
  for (const [name, each] of times) process.stdout.write(`${name}: ${each.join(', ')} ms\n`);
});
