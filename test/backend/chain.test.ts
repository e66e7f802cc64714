import { expect, test } from 'vitest';
import { ChainSimulator } from '../../src/backend/sandbox/chain/simulator.ts';
import { DEMO_WALLETS, demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { CHAINS } from '../../src/backend/sandbox/chains.ts';
import type { Hex, Transfer } from '../../src/backend/types.ts';
import { NOON } from './support/sandbox.ts';

const EVERYWHERE = new Set(CHAINS.map((chain) => chain.id));
const all = (simulator: ChainSimulator, wallet: Hex) =>
  simulator.transactions(wallet, EVERYWHERE, 1e6, null).items.map(({ transaction }) => transaction);
const simulatorAt = (now: number, seed = 'sandbox') => new ChainSimulator({ seed, now: () => now });
/** For what only reads its history. */
const still = simulatorAt(NOON);
const hashesOf = (simulator: ChainSimulator, name: string) =>
  all(simulator, demoAddress(name)).map(({ hash }) => hash);

test('there are the 14 chains of the default tag, more under other tags, and an id beyond 2^31-1', () => {
  const tagged = (tag: string) => CHAINS.filter(({ tags }) => tags.includes(tag)).map(({ id }) => id);
  expect(tagged('default')).toEqual([
    1, 10, 56, 100, 137, 324, 999, 8453, 42161, 42170, 42220, 43114, 81457, 7777777,
  ]);
  for (const tag of ['mainnet', 'testnet', 'devnet', 'omni']) expect(tagged(tag).length).toBeGreaterThan(0);
  expect(CHAINS.some(({ id }) => id > 2 ** 31 - 1)).toBe(true);
  expect(CHAINS.some(({ tags, webhooks }) => tags.includes('default') && !webhooks)).toBe(true);
});

test('there are at least 20 demo wallets, whose addresses do not depend on the seed', () => {
  expect(new Set(DEMO_WALLETS.map(({ address }) => address)).size).toBeGreaterThanOrEqual(20);
  expect(demoAddress('whale')).toBe('0xc7928e7865fb684cc7629937d4064aa69989eab4');
});

test('a seed has one history, whenever the sandbox starts; another seed has another', () => {
  const first = hashesOf(still, 'swapper');
  expect(hashesOf(simulatorAt(NOON + 86_400_000), 'swapper')).toEqual(first);
  expect(hashesOf(simulatorAt(NOON, 'other'), 'swapper')).not.toEqual(first);
});

test('the history ends at the start of 2026, or at the clock if that is earlier', () => {
  const newest = (simulator: ChainSimulator) => all(simulator, demoAddress('whale'))[0]?.blockTime ?? 0;
  const [end, day] = [Date.UTC(2026, 0, 1), 86_400_000];
  expect(newest(still)).toBeLessThan(end);
  expect(newest(still)).toBeGreaterThan(end - 3 * day);
  const early = Date.UTC(2025, 2, 3);
  const before = newest(simulatorAt(early));
  expect(before).toBeLessThanOrEqual(early);
  expect(before).toBeGreaterThan(early - 3 * day);
});

test('live blocks depend on the seed and their number, and have the current time', () => {
  const [one, two] = [simulatorAt(NOON), simulatorAt(NOON)];
  for (let block = 0; block < 20; block += 1) {
    const [mined, again] = [one.mine(8453), two.mine(8453)];
    expect(mined.time).toBe(NOON);
    expect(again.hash).toBe(mined.hash);
    expect(again.transactions.map(({ hash, data }) => [hash, data])).toEqual(
      mined.transactions.map(({ hash, data }) => [hash, data]),
    );
  }
});

test('a restart mines other blocks, even if it mines the same numbers', () => {
  expect(simulatorAt(NOON).mine(1).hash).not.toBe(simulatorAt(NOON + 1_000).mine(1).hash);
});

test('block numbers rise by one, and time never falls even if the clock does', () => {
  let time = NOON;
  const simulator = new ChainSimulator({ seed: 'sandbox', now: () => time });
  const first = simulator.mine(1);
  time -= 60_000;
  const second = simulator.mine(1);
  expect([second.number, second.time]).toEqual([first.number + 1, first.time]);
});

test('the metronome transacts in every live block', () => {
  const simulator = simulatorAt(NOON);
  for (let tick = 0; tick < 50; tick += 1) {
    for (const { transactions } of simulator.tick()) {
      expect(
        transactions.some(({ from, effects }) => involves(demoAddress('metronome'), from, effects)),
      ).toBe(true);
    }
  }
});

const involves = (wallet: Hex, from: Hex, effects: readonly object[]) =>
  from === wallet || effects.some((effect) => Object.values(effect).includes(wallet));

/** One side's balance before and after a transfer. */
const sideOf = (wallet: Hex, transfer: Transfer) =>
  transfer.from === wallet
    ? { ...transfer.balances?.from, change: -transfer.value }
    : { ...transfer.balances?.to, change: transfer.value };

test('balances continue from one transfer to the next, and are never negative', () => {
  const simulator = simulatorAt(NOON);
  for (let tick = 0; tick < 100; tick += 1) simulator.tick();
  for (const name of ['whale', 'metronome', 'wrapper', 'flipper', 'editions']) {
    const wallet = demoAddress(name);
    const balances = new Map<string, bigint>();
    for (const { chain, effects } of all(simulator, wallet).toReversed()) {
      for (const effect of effects) {
        if (effect.kind !== 'transfer' || ![effect.from, effect.to].includes(wallet)) continue;
        const { before: had, after: has, change } = sideOf(wallet, effect);
        const [before, after] = [had ?? -1n, has ?? -1n];
        const key = `${chain.id}/${effect.token}/${effect.tokenId}`;
        expect(before).toBe(balances.get(key) ?? before);
        expect(after).toBe(before + change);
        expect(after).toBeGreaterThanOrEqual(0n);
        balances.set(key, after);
      }
    }
    expect(balances.size).toBeGreaterThan(3);
  }
});

test('every fungible transfer except wrapping has its log, with the same parties and value', () => {
  let compared = 0;
  for (const transaction of all(still, demoAddress('whale'))) {
    const logged = transaction.logs.flatMap((log) => {
      const decoded = still.decodeLog(transaction.chain.id, log);
      const isCoin = still.token(transaction.chain.id, log.address)?.standard === 'erc20';
      return decoded?.name === 'Transfer' && isCoin ? [decoded.inputs.map(({ value }) => value)] : [];
    });
    const zero = `0x${'0'.repeat(40)}`;
    const moved = transaction.effects.flatMap((effect) =>
      effect.kind === 'transfer' && effect.asset === 'erc20' && effect.from !== zero && effect.to !== zero
        ? [[effect.from, effect.to, effect.value.toString()]]
        : [],
    );
    expect(logged).toEqual(moved);
    compared += moved.length;
  }
  expect(compared).toBeGreaterThan(3_000);
});

test('a failed transaction moves nothing and logs nothing', () => {
  const failed = all(still, demoAddress('unlucky')).filter(({ success }) => !success);
  expect(failed.length).toBeGreaterThan(50);
  for (const { logs, effects } of failed) expect([logs, effects]).toEqual([[], []]);
});

test('memory does not grow with time: old live transactions are deleted, the history stays', () => {
  const simulator = simulatorAt(NOON);
  const history = hashesOf(simulator, 'metronome');
  for (let tick = 0; tick < 800; tick += 1) simulator.tick();
  const kept = hashesOf(simulator, 'metronome');
  expect(kept.length).toBeLessThan(history.length + 2_000);
  expect(kept.slice(-history.length)).toEqual(history);
});

test('mining an unknown chain throws', () => {
  expect(() => still.mine(424242)).toThrow('424242');
});
