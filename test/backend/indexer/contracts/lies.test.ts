import { encode } from 'ox/AbiParameters';
import { expect, test } from 'vitest';
import type { Hex } from '../../../../src/backend/types.ts';
import { startGateway } from '../../../support/gateway/start.ts';
import { startReceiver } from '../../dispatch/support/receiver.ts';
import { startAnvil } from '../support/anvil.ts';
import {
  accountsOf,
  type Contract,
  deploy,
  deployLiar,
  type Lie,
  receiptOf,
  sendTransaction,
} from '../support/contracts.ts';
import { API_KEY, openIndexed } from '../support/service.ts';

/** Tokens that lie, on a real chain: what the clients of the gateway, and the receivers of deliveries, get of them. */

const MAX = 2n ** 256n - 1n;
const ZERO = 0n;

const word = (value: bigint) => value.toString(16).padStart(64, '0');
const topic = (value: bigint): Hex => `0x${word(value)}`;
const data = (...values: bigint[]): Hex => `0x${values.map(word).join('')}`;
const string = (text: string): Lie => ({ returns: encode([{ type: 'string' }], [text]) });
const number = (value: bigint): Lie => ({ returns: data(value) });

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

const NAMED = { 'name()': string('Named'), 'symbol()': string('NMD') };
const UNKNOWN = { symbol: null, name: null, decimals: null };

/** What each says of itself, and what clients see of it; null for nothing at all. */
const LIARS: readonly (readonly [lies: Readonly<Record<string, Lie>>, seen: object | null])[] = [
  [
    { ...NAMED, 'decimals()': number(18n) },
    { symbol: 'NMD', name: 'Named', decimals: 18 },
  ],
  [
    { ...NAMED, 'decimals()': number(255n) },
    { symbol: 'NMD', name: 'Named', decimals: 255 },
  ],
  [{ ...NAMED, 'decimals()': number(2n ** 200n) }, UNKNOWN],
  [NAMED, UNKNOWN],
  [{}, null],
  [{ 'name()': 'burns gas', 'symbol()': 'burns gas', 'decimals()': 'burns gas' }, null],
  [{ 'name()': 're-enters', 'symbol()': 're-enters', 'decimals()': 're-enters' }, null],
  [
    { 'name()': { length: 10_000_000 }, 'symbol()': string('LONG'), 'decimals()': number(3n) },
    { symbol: 'LONG', name: 'LONG', decimals: 3 },
  ],
  [
    {
      'name()': string('\u202eelbat\u0000"\\</script>'),
      'symbol()': string('U\u200bS\u2066D'),
      'decimals()': number(6n),
    },
    { symbol: 'USD', name: 'elbat "\\</script>', decimals: 6 },
  ],
];

const WALLET = `query ($user: Address!) {
  wallet(address: $user) {
    balances(first: 100) { nodes { amount valueUsd token { address symbol name decimals } } }
    portfolio { totalUsd }
    activity(first: 100) {
      nodes { typeName assetType value valueUsd tokenId tokenAddress contractName function token { symbol name decimals } }
    }
    collectibles(first: 100, includeSpam: true) { nodes { contractAddress tokenId balance name symbol imageUrl isSpam } }
    transactions(first: 100) {
      nodes {
        hash
        decoded { name inputs { name type value } }
        logs { address topics data decoded { name inputs { name type value } } }
      }
    }
  }
}`;

type Token = Readonly<Record<'address' | 'symbol' | 'name' | 'decimals', unknown>>;

type Seen = {
  readonly wallet: {
    readonly balances: { readonly nodes: readonly { readonly amount: string; readonly token: Token }[] };
    readonly activity: { readonly nodes: readonly object[] };
    readonly collectibles: { readonly nodes: readonly object[] };
    readonly transactions: { readonly nodes: readonly object[] };
  };
};

/** Emits logs that no honest contract would: amounts without end, arrays beyond the data, logs of nothing. */
const report = async (liar: Contract, from: bigint, to: bigint): Promise<void> => {
  const log = (topics: readonly Hex[], bytes: Hex) => liar.mine('report', [topics, bytes]);
  await log([TRANSFER, topic(ZERO), topic(to), topic(MAX)], '0x');
  await log([SINGLE, topic(from), topic(ZERO), topic(to)], data(MAX, MAX));
  await log([SINGLE, topic(from), topic(ZERO), topic(to)], data(MAX, MAX));
  await log([SINGLE, topic(from), topic(to), topic(ZERO)], data(5n, MAX));
  await log([BATCH, topic(from), topic(ZERO), topic(to)], data(64n, 64n, 2n ** 32n));
  await log([BATCH, topic(from), topic(ZERO), topic(to)], data(2n ** 255n, MAX, 1n));
  await log([BATCH, topic(from), topic(ZERO), topic(to)], data(64n, 64n, 2n, 1n, 2n));
  await log([TRANSFER], data(ZERO, to, 7n));
  await log([TRANSFER, topic(from), topic(2n ** 200n)], data(7n));
  await log([TRANSFER, topic(from), topic(to)], '0x12');
  await log([], '0x1234');
  await log([topic(1n), topic(2n), topic(3n), topic(4n)], `0x${'ab'.repeat(100_000)}`);
};

test('tokens that lie are seen as far as they make sense, and break nothing', async () => {
  await using anvil = await startAnvil({ args: ['--gas-limit', '300000000'] });
  const { url } = anvil;
  const [owner = '0x', user = '0x'] = await accountsOf(url);
  await using service = await openIndexed({ chains: [{ id: 31_337, url, startBlock: null }] });
  await using receiver = await startReceiver();
  await service.indexed(0);
  for (const type of ['transactions', 'activities', 'balances'] as const)
    await service.subscribe(type, receiver.url, [user]);

  const liars: Contract[] = [];
  for (const [lies] of LIARS) {
    const liar = await deployLiar(url, lies);
    await liar.mine('mint', [user, 1000n]);
    liars.push(liar);
  }
  // More than there can be, and less than nothing.
  for (const liar of liars.slice(0, 2)) await liar.mine('pretend', [owner, user, MAX]);
  const debtor = await deployLiar(url, { ...NAMED, 'decimals()': number(0n) });
  await debtor.mine('pretend', [user, owner, MAX]);
  const mixed = await deployLiar(url, {
    ...{ ...NAMED, 'uri(uint256)': string('data:,{"name":"x"}') },
    ...{ 'ownerOf(uint256)': number(BigInt(user)), 'balanceOf(address,uint256)': number(MAX) },
  });
  await report(mixed, BigInt(owner), BigInt(user));
  // Call data for Multicall3 of which a thousand parts are the same, and for a transfer to no address.
  const parts = Array.from({ length: 1_000 }, () => 32_000n);
  for (const call of [
    `82ad56cb${data(32n, 1_000n, ...parts, 1n).slice(2)}`,
    `a9059cbb${word(MAX)}${word(1n)}`,
  ])
    await receiptOf(url, await sendTransaction(url, user, `0x${call}`));
  const honest = await deploy(url, 'Coin', ['Honest', 'HON', 2]);
  await honest.mine('mint', [user, 5n]);
  await service.indexed(await anvil.head());
  expect((await service.ask('/health')).status).toBe(200);

  await using gateway = await startGateway({
    UPSTREAM_URL: service.url,
    UPSTREAM_API_KEY: API_KEY,
    CACHE_HEAD_MS: '0',
  });
  const look = async () => (await gateway.data<Seen>(WALLET, { user })).wallet;
  const tokens = async () => {
    const { balances } = await look();
    const found = new Map(balances.nodes.map(({ token: { address, ...token } }) => [address, token]));
    return [...liars, honest].map(({ address }) => found.get(address) ?? null);
  };
  const expected = [...LIARS.map(([, seen]) => seen), { symbol: 'HON', name: 'Honest', decimals: 2 }];
  await expect.poll(tokens).toEqual(expected);

  const { balances, activity, collectibles, transactions } = await look();
  expect(balances.nodes.filter(({ amount }) => BigInt(amount) <= 0n)).toEqual([]);
  expect(activity.nodes).toHaveLength(await countOf(service.ask, `activity/${user}`, 'activity'));
  expect(transactions.nodes).toHaveLength(await countOf(service.ask, `transactions/${user}`, 'transactions'));
  expect(collectibles.nodes).toHaveLength(4);
  // Of one it is not known yet what it is: it took all the gas that the node gives.
  const isUnknown = new Set(
    liars.filter((_, at) => Object.values(LIARS[at]?.[0] ?? {}).includes('burns gas')),
  );
  for (const token of [...liars, debtor, mixed])
    for (const path of [
      `token-info/${token.address}?chain_ids=31337`,
      `token-holders/31337/${token.address}`,
    ]) {
      const statusOf = async () => (await service.ask(`/v1/evm/${path}`)).status;
      if (isUnknown.has(token)) expect(await statusOf()).toBe(503);
      else await expect.poll(async () => [200, 404].includes(await statusOf())).toBe(true);
    }
  const { json } = await service.ask(`/v1/evm/balances/${user}`);
  expect(json.errors).toMatchObject({ token_errors: [{ chain_id: 31_337 }] });

  await expect.poll(() => receiver.received.some(({ body }) => body.includes(honest.address))).toBe(true);
  const changes = receiver.received.flatMap(({ body }) => JSON.parse(body).balance_changes ?? []);
  expect(changes.length).toBeGreaterThan(LIARS.length);
  const amounts = changes.flatMap(({ amount_before, amount_after }) => [amount_before, amount_after]);
  expect(amounts.filter((amount) => amount !== null && BigInt(amount) < 0n)).toEqual([]);
  expect(service.lines.filter(({ details }) => 'problem' in details)).toEqual([]);
});

/** The number of items of a page of the service. */
const countOf = async (
  ask: (path: string) => Promise<{ readonly json: Readonly<Record<string, unknown>> }>,
  path: string,
  member: string,
): Promise<number> => {
  const { json } = await ask(`/v1/evm/${path}?limit=100&decode=true`);
  return Array.isArray(json[member]) ? json[member].length : -1;
};
