import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import type { ReadContents } from '../../support/blockscout/contents.ts';
import { contentsOfNode } from '../../support/blockscout/from-node.ts';
import { startAnvil } from '../indexer/support/anvil.ts';
import { abiOf, accountsOf, deploy } from '../indexer/support/contracts.ts';
import { items, type Json } from '../support/sandbox.ts';
import { openExplored } from './support/exploring.ts';

/** ABIs of verified contracts, asked for where calls and logs came without a decoding. */

const CHAIN = 31_337;

let anvil: Awaited<ReturnType<typeof startAnvil>>;
let contents: ReadContents;
let wallet: Hex;

beforeAll(async () => {
  anvil = await startAnvil();
  const [alice, bob] = (await accountsOf(anvil.url)) as [Hex, Hex];
  wallet = bob;
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const other = await deploy(anvil.url, 'Coin', ['Other', 'OTHER', 6]);
  for (const each of [coin, other]) {
    await each.mine('mint', [bob, 5_000n], { from: bob });
    await each.mine('transfer', [alice, 7n], { from: bob });
  }
  // Nobody has verified the other one.
  const verified = new Map([[coin.address, { name: 'Coin', abi: await abiOf('Coin') }]]);
  contents = contentsOfNode({ chainId: CHAIN, call: anvil.rpc, verified });
});

afterAll(() => anvil[Symbol.asyncDispose]());

type Service = Awaited<ReturnType<typeof openExplored>>;

const open = () => openExplored([{ id: CHAIN, contents, receipts: anvil.url }]);

const list = (service: Service, query = '&decode=true') =>
  service.ask(`transactions/${wallet}?chain_ids=${CHAIN}${query}`);

const asked = (service: Service) => service.seen().filter(({ path }) => path.includes('/smart-contracts/'));

const busy = (service: Service) =>
  service.explorers[0]?.plant({ status: 500, json: { message: 'late' } }, ({ path }) =>
    path.endsWith('/transactions'),
  );

test('logs of receipts are decoded by the ABIs of their contracts, each asked for once, and only where that is wanted', async () => {
  await using service = await open();
  await list(service, '');
  expect(asked(service)).toEqual([]);
  const rows = items(await list(service), 'transactions');
  const decoded = rows.flatMap(({ logs }) => (logs as readonly Json[]).map((log) => log.decoded ?? null));
  expect(decoded).toEqual([
    null,
    null,
    ...[7n, 5_000n].map((value) =>
      expect.objectContaining({
        name: 'Transfer',
        inputs: expect.arrayContaining([expect.objectContaining({ value: String(value) })]),
      }),
    ),
  ]);
  // The rows have said already that the other one is not verified.
  expect(asked(service).length).toBe(1);
  await list(service);
  expect(asked(service).length).toBe(1);
});

test('calls of a busy wallet are decoded as the explorer itself decodes them', async () => {
  await using service = await open();
  const path = '&decode=true&logs=false&block_hash=false';
  const truth = items(await list(service, path), 'transactions');
  expect(truth.map(({ decoded }) => (decoded as Json | undefined)?.name)).toEqual([
    undefined,
    undefined,
    'transfer',
    'mint',
  ]);
  await using late = await open();
  busy(late);
  const rows = items(await list(late, path), 'transactions');
  expect(rows.map(({ decoded }) => decoded)).toEqual(truth.map(({ decoded }) => decoded));
  expect(asked(late).length).toBe(2);
  expect((await list(late, path)).json).not.toHaveProperty('warnings');
  expect(asked(late).length).toBe(2);
});

test('contracts that can not be asked about are named, and asked about again', async () => {
  await using service = await open();
  service.explorers[0]?.plant({ status: 500, json: { message: 'late' } }, ({ path }) =>
    path.includes('/smart-contracts/'),
  );
  const { json } = await list(service);
  expect(json.warnings).toMatchObject([{ code: 'ABIS_UNKNOWN', chain_ids: [CHAIN] }]);
  service.explorers[0]?.mend();
  expect((await list(service)).json).not.toHaveProperty('warnings');
});

test.each([
  ['no list', { abi: 'none' }],
  [
    'of odd items',
    { abi: [{}, { type: 'function', name: 'f', inputs: [{ type: 'no type' }] }, { type: 'event', name: 7 }] },
  ],
])('an ABI that is %s decodes nothing, and breaks nothing', async (_, members) => {
  await using service = await open();
  service.explorers[0]?.plant({ change: (body) => ({ ...(body as object), ...members }) }, ({ path }) =>
    path.includes('/smart-contracts/'),
  );
  const rows = items(await list(service), 'transactions');
  expect(rows.flatMap(({ logs }) => (logs as readonly Json[]).filter((log) => 'decoded' in log))).toEqual([]);
});
