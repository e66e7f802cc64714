import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { runs } from '../support/runs.ts';
import { startReceiver } from './dispatch/support/receiver.ts';
import { items, type Json, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

/** One ledger gives all: what one lookup or delivery says, every other one agrees with. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ retryBaseMs: 1 });
});
afterAll(() => sandbox.stop());

const LIVE = [1, 10, 56, 137, 8453, 42161];
const ODD = ['thin', 'unpriced', 'dust', 'native', 'stable', 'defi', 'caller'];

const balancesOf = async (address: string, query = ''): Promise<ReadonlyMap<string, bigint>> => {
  const pages = await walk(sandbox, `/v1/evm/balances/${address}?${query}`, 'balances');
  return new Map(
    pages.flat().map((item) => [`${item.chain_id}/${item.address}`, BigInt(String(item.amount))]),
  );
};

const activityOf = async (address: string, query = ''): Promise<readonly Json[]> =>
  (await walk(sandbox, `/v1/evm/activity/${address}?limit=100${query}`, 'activity')).flat();

/** What an activity changes of its wallet's balances, by chain and asset; NFTs are no balances. */
const changesOf = (item: Json): readonly (readonly [asset: string, change: bigint])[] => {
  const { type, asset_type, chain_id, token_address = 'native', value } = item;
  const change = (asset: unknown, amount: unknown, sign: bigint) =>
    [`${chain_id}/${asset}`, sign * BigInt(String(amount))] as const;
  if (type === 'swap') {
    return [
      change(item.from_token_address, item.from_token_value, -1n),
      change(item.to_token_address, item.to_token_value, 1n),
    ];
  }
  if (asset_type !== 'erc20' && asset_type !== 'native') return [];
  if (type === 'receive' || type === 'mint') return [change(token_address, value, 1n)];
  return type === 'send' || type === 'burn' ? [change(token_address, value, -1n)] : [];
};

const sumOf = (activity: readonly Json[]): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const [asset, change] of activity.flatMap(changesOf))
    sums.set(asset, (sums.get(asset) ?? 0n) + change);
  return sums;
};

/** Only the balances of ERC-20s: native transfers within calls are no activity. */
const erc20s = (balances: ReadonlyMap<string, bigint>) =>
  new Map([...balances].filter(([asset, amount]) => !asset.endsWith('/native') && amount !== 0n));

describe('balances', () => {
  test.each(ODD)('of %s are the sum of all of its activity', async (name) => {
    const balances = await balancesOf(demoAddress(name));
    const sums = sumOf(await activityOf(demoAddress(name)));
    expect(balances.size).toBeGreaterThan(0);
    expect(new Map([...balances].toSorted())).toEqual(
      new Map([...sums].filter(([, amount]) => amount !== 0n).toSorted()),
    );
  });

  test('change by the activity of each block, and by nothing else', async () => {
    const wallets = ['metronome', 'swapper', 'payer', 'wrapper'].map(demoAddress);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...LIVE), { minLength: 1, maxLength: 6 }), async (chains) => {
        const before = await Promise.all(wallets.map((wallet) => balancesOf(wallet)));
        const hashes = new Set(
          chains.flatMap((chain) => sandbox.mine(chain).transactions.map(({ hash }) => String(hash))),
        );
        for (const [at, wallet] of wallets.entries()) {
          const page = items(await sandbox.ask(`/v1/evm/activity/${wallet}?limit=100`), 'activity');
          const expected = new Map(before[at]);
          for (const [asset, change] of sumOf(page.filter(({ tx_hash }) => hashes.has(String(tx_hash)))))
            expected.set(asset, (expected.get(asset) ?? 0n) + change);
          expect(erc20s(await balancesOf(wallet))).toEqual(erc20s(expected));
        }
      }),
      { numRuns: runs(40, 8) },
    );
  });

  test('of a list are those of one lookup each, also for accounts that are no demo wallets', async () => {
    for (const holder of items(
      await sandbox.ask(`/v1/evm/token-holders/1/${coins(1)[1]}?limit=12`),
      'holders',
    )) {
      const path = `/v1/evm/balances/${holder.wallet_address}/token/${coins(1)[1]}?chain_ids=1`;
      const [balance] = items(await sandbox.ask(path), 'balances');
      expect(balance?.amount).toBe(holder.balance);
    }
  });
});

/** The coins of a chain that wallets trade, whose addresses are no dust's. */
const coins = (chainId: number): readonly string[] =>
  sandbox.simulator
    .tokens(new Set([chainId]))
    .filter(({ symbol }) => !symbol.startsWith('DUST'))
    .map(({ address }) => address);

test('the holders of each token add up to its supply, at any block', async () => {
  const check = async (chainId: number) => {
    for (const token of coins(chainId)) {
      const pages = await walk(sandbox, `/v1/evm/token-holders/${chainId}/${token}?limit=200`, 'holders');
      const [info] = items(await sandbox.ask(`/v1/evm/token-info/${token}?chain_ids=${chainId}`), 'tokens');
      const held = pages.flat().reduce((sum, { balance }) => sum + BigInt(String(balance)), 0n);
      expect([token, held.toString()]).toEqual([token, info?.total_supply]);
    }
  };
  for (let round = 0; round < 3; round += 1) {
    await check(1);
    await check(8453);
    for (let block = 0; block < 20; block += 1) sandbox.tick();
  }
});

test('the amount, price and liquidity after a delivery are those of the next lookup', async () => {
  await using receiver = await startReceiver();
  const body = {
    name: 'balances',
    url: receiver.url,
    type: 'balances',
    asset_type: 'erc20',
    addresses: ['metronome', 'swapper', 'payer'].map(demoAddress),
  };
  const init = { method: 'POST', body: JSON.stringify(body) };
  expect((await sandbox.ask('/beta/evm/subscriptions/webhooks', init)).status).toBe(200);
  let compared = 0;
  for (let round = 0; round < 15; round += 1) {
    const seen = receiver.received.length;
    const blocks = sandbox.tick();
    await sandbox.webhooks.settled();
    const last = new Map<string, Json>();
    for (const { body: text, headers } of receiver.received.slice(seen)) {
      const chainId = Object.entries(headers).find(([name]) => name.endsWith('webhook-chain-id'))?.[1];
      for (const change of items({ json: JSON.parse(text) }, 'balance_changes'))
        last.set(`${chainId}/${change.subscribed_address}/${Object(change.asset).token_address}`, change);
    }
    expect(blocks.length).toBe(LIVE.length);
    for (const [key, change] of last) {
      const [chainId, wallet, token] = key.split('/');
      const path = `/v1/evm/balances/${wallet}/token/${token}?chain_ids=${chainId}&metadata=logo`;
      const [balance] = items(await sandbox.ask(path), 'balances');
      const asset = Object(change.asset);
      expect([balance?.amount ?? '0', balance?.symbol, balance?.pool_size]).toEqual([
        change.amount_after,
        asset.symbol,
        asset.pool_size_usd,
      ]);
      expect(balance?.low_liquidity ?? false).toBe(asset.low_liquidity);
      expect(balance?.token_metadata).toEqual(asset.token_metadata);
      if (change.price_usd === null) expect(balance).not.toHaveProperty('price_usd');
      else expect(Number(balance?.price_usd)).toBeCloseTo(Number(change.price_usd), 10);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(30);
});

test('what one side sends, the other side receives', async () => {
  for (let block = 0; block < 10; block += 1) sandbox.tick();
  const sent = (await activityOf(demoAddress('caller'), '&activity_type=send')).concat(
    items(
      await sandbox.ask(`/v1/evm/activity/${demoAddress('payer')}?limit=30&activity_type=send`),
      'activity',
    ),
  );
  expect(sent.length).toBeGreaterThan(20);
  for (const { to, type, ...item } of sent) {
    const received = await activityOf(String(to), `&activity_type=receive&chain_ids=${item.chain_id}`);
    const found = received.filter(({ tx_hash }) => tx_hash === item.tx_hash);
    expect([type, found.map(({ from, type, ...other }) => other)]).toEqual(['send', [item]]);
  }
});

test('deliveries and lookups tell the same activities', async () => {
  await using receiver = await startReceiver();
  const address = demoAddress('metronome');
  const body = { name: 'activities', url: receiver.url, type: 'activities', addresses: [address] };
  await sandbox.ask('/beta/evm/subscriptions/webhooks', { method: 'POST', body: JSON.stringify(body) });
  for (let round = 0; round < 5; round += 1) sandbox.mine(1);
  await sandbox.webhooks.settled();
  const told = receiver.received.flatMap((each) => items({ json: JSON.parse(each.body) }, 'activities'));
  const listed = items(await sandbox.ask(`/v1/evm/activity/${address}?limit=100&chain_ids=1`), 'activity');
  const essence = ({ tx_hash, type, asset_type, token_address, value, id, from, to, spender }: Json) =>
    JSON.stringify([tx_hash, type, asset_type, token_address, value, id, from, to, spender]);
  expect(told.length).toBeGreaterThanOrEqual(5);
  expect(told.map(essence).toSorted()).toEqual(listed.slice(0, told.length).map(essence).toSorted());
});
