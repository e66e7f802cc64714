import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createNode } from '../../../src/backend/node/node.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, deploy, deployLiar, said } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { BATCH_FAULTS, BATCH_REFUSALS } from './support/node-faults.ts';

/** Calls go to a node in batches, as large as it takes them. */

let anvil: Anvil;

beforeAll(async () => {
  anvil = await startAnvil();
});

afterAll(async () => {
  await anvil[Symbol.asyncDispose]();
});

const nodeOf = (url: string, options: { timeoutMs?: number } = {}) =>
  createNode({ url, chainId: 31_337, ...options });

/** What a coin says that accounts have, and a contract that says nothing, and one that the node can't ask. */
const startAsking = async (url: string) => {
  const accounts = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  for (const [at, account] of accounts.entries()) await coin.mine('mint', [account, BigInt(at)]);
  const liar = await deployLiar(anvil.url, { 'decimals()': 'burns gas', 'symbol()': { reverts: '0x' } });
  const asked = [
    ...accounts.map((account) => ({ to: coin.address, data: coin.data('balanceOf', account) })),
    ...['decimals', 'symbol'].map((method) => ({ to: liar.address, data: coin.data(method) })),
  ];
  const expected = [
    ...accounts.map((_, at) => `0x${at.toString(16).padStart(64, '0')}`),
    ...['failed', null],
  ];
  const natives = await nodeOf(anvil.url).balances(accounts);
  const node = nodeOf(url, { timeoutMs: 3_000 });
  return {
    async expectAnswers() {
      expect(await said(node.calls(asked))).toEqual(expected);
      expect(await node.balances(accounts)).toEqual(natives);
    },
    [Symbol.asyncDispose]: () => node.close(),
  };
};

test.each([...BATCH_REFUSALS, ...BATCH_FAULTS])('$name: each of its calls is answered', async (fault) => {
  await using faulty = await startFaultyNode(anvil.url);
  faulty.inject(fault);
  await using asking = await startAsking(faulty.url);
  for (let block = 0; block < 2; block += 1) await asking.expectAnswers();
  expect(Math.max(...faulty.requests.map(({ length }) => length))).toBeGreaterThan(3);
});

test.each(BATCH_REFUSALS)('$name: another one is sent after a minute, and not before', async (fault) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    await using faulty = await startFaultyNode(anvil.url);
    const refused = () => faulty.requests.filter(({ length }) => length > 3).length;
    const refusing = faulty.inject(fault);
    await using asking = await startAsking(faulty.url);
    await asking.expectAnswers();
    const before = refused();
    for (let block = 0; block < 2; block += 1) await asking.expectAnswers();
    expect(refused()).toBe(before);
    vi.advanceTimersByTime(60_000);
    await asking.expectAnswers();
    const later = refused();
    expect(later).toBeGreaterThan(before);
    await asking.expectAnswers();
    expect(refused()).toBe(later);
    refusing.end();
    vi.advanceTimersByTime(120_000);
    faulty.requests.length = 0;
    for (let block = 0; block < 3; block += 1) await asking.expectAnswers();
    expect(faulty.requests.slice(-2).map(({ length }) => length)).toEqual([12, 10]);
  } finally {
    vi.useRealTimers();
  }
});

test('calls over a WebSocket are sent at once, each by itself', async () => {
  await using faulty = await startFaultyNode(anvil.url, { webSocket: true });
  await using asking = await startAsking(faulty.url.replace('http', 'ws'));
  await asking.expectAnswers();
  expect(Math.max(...faulty.requests.map(({ length }) => length))).toBe(1);
});
