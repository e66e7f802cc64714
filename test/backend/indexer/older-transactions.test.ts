import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, deploy, sendTransaction } from './support/contracts.ts';
import { type Answer, type Call, startFaultyNode } from './support/faulty-node.ts';
import { openIndexed } from './support/service.ts';

/** Transactions of before the first block of an index, which nodes with the API of Otterscan list: Anvil does. */

const [ONE, TWO] = [31_337, 31_338];
const BLOCKS = 14;
/** The first block of the indexes that lack older ones. */
const START = 12;

const anvils: Anvil[] = [];
let wallet: Hex = '0x';
/** What an index of all blocks lists, and the hashes of what only moved tokens to the wallet. */
let whole: readonly Json[] = [];
const received = new Set<unknown>();

/** Blocks with several transactions that concern a wallet in different ways. */
const mineAll = async (anvil: Anvil): Promise<void> => {
  const [alice = '0x', bob = '0x'] = await accountsOf(anvil.url);
  wallet = bob;
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const payer = await deploy(anvil.url, 'Payer');
  await coin.mine('mint', [alice, 5_000n]);
  await anvil.rpc('evm_setAutomine', false);
  const gas = 1_000_000n;
  for (let block = 0; block < BLOCKS; block += 1) {
    const sent = [
      () => sendTransaction(anvil.url, alice, '0x', { from: bob, value: 1n, gas }),
      () => sendTransaction(anvil.url, bob, '0x', { from: alice, value: 2n, gas }),
      () => payer.send('split', [[bob]], { from: alice, value: 3n, gas }),
      () => coin.send('mint', [bob, 1n], { from: bob, gas }),
      () => coin.send('transfer', [alice, 2n ** 200n], { from: bob, gas }),
    ];
    for (const send of sent.slice(0, 1 + (block % sent.length))) await send();
    if (block % 3 === 0) received.add(await coin.send('transfer', [bob, 1n], { from: alice, gas }));
    await anvil.mine();
  }
};

type Service = Awaited<ReturnType<typeof openIndexed>>;

const PATH = (chains: readonly number[]) => `/v1/evm/transactions/${wallet}?chain_ids=${chains.join()}`;

/** Every page of a list, and the warnings of the last one. */
const walk = async ({ ask }: Pick<Service, 'ask'>, chains: readonly number[], limit: number) => {
  const rows: Json[] = [];
  for (let offset = ''; ; ) {
    const { status, json } = await ask(`${PATH(chains)}&limit=${limit}${offset}`);
    expect([status, json]).toEqual([200, json]);
    rows.push(...(json.transactions as readonly Json[]));
    if (json.next_offset === undefined) return { rows, warnings: json.warnings };
    offset = `&offset=${json.next_offset}`;
  }
};

const openLate = async (urls: readonly string[]) => {
  await readWhole();
  const chains = urls.map((url, at) => ({ id: at === 0 ? ONE : TWO, url, startBlock: START }));
  const service = await openIndexed({ chains });
  for (const [at, { id }] of chains.entries()) {
    const head = await anvils[at]?.head();
    await expect
      .poll(() => service.progress())
      .toContainEqual(expect.objectContaining({ chain_id: id, indexedTo: head, indexedFrom: START }));
    // Those in whose calls native currency moved are in the index once their blocks are traced.
    await expect
      .poll(async () => (await service.progress()).find(({ chain_id }) => chain_id === id)?.traces)
      .toEqual({ behind: 0, problem: null });
  }
  return service;
};

/** What a list of these chains must have: newest first, of one time those of the greater chain. */
const expected = (chains: readonly number[]): readonly Json[] =>
  whole.filter(
    ({ hash, chain, block_number }) =>
      chains.some((id) => String(chain).endsWith(String(id)) || (id === ONE && chain === 'anvil')) &&
      (Number(block_number) >= START || !received.has(hash)),
  );

beforeAll(async () => {
  for (const id of [ONE, TWO]) {
    const anvil = await startAnvil({ args: ['--chain-id', String(id)] });
    anvils.push(anvil);
    await mineAll(anvil);
  }
}, 60_000);

/** Lists all once, from an index of all blocks. */
const readWhole = async (): Promise<void> => {
  if (whole.length > 0) return;
  const chains = anvils.map(({ url }, at) => ({ id: at === 0 ? ONE : TWO, url, startBlock: 0 }));
  await using service = await openIndexed({ chains });
  for (const [at, { id }] of chains.entries()) await service.traced((await anvils[at]?.head()) ?? 0, id);
  whole = (await walk(service, [ONE, TWO], 100)).rows;
};

afterAll(async () => {
  for (const anvil of anvils) await anvil[Symbol.asyncDispose]();
});

describe.each([
  ['one chain', [ONE]],
  ['two chains', [ONE, TWO]],
])('of %s', (_, chains) => {
  test('each comes once, in its place, as an index of all blocks has it, whatever the pages', async () => {
    await using service = await openLate(anvils.slice(0, chains.length).map(({ url }) => url));
    for (const limit of [1, 2, 3, 7, 100]) {
      const { rows, warnings } = await walk(service, chains, limit);
      expect(rows.map(({ hash }) => hash)).toEqual(expected(chains).map(({ hash }) => hash));
      expect(rows).toEqual(expected(chains));
      expect(warnings).toMatchObject(
        chains.map((id) => ({
          code: 'START_BLOCK',
          message: expect.stringContaining('not what only moved tokens to it'),
          chain_ids: [id],
        })),
      );
    }
  });
});

type Change = (call: Call, ask: () => Promise<Answer>) => Answer | Promise<Answer>;

const isPage = ({ method }: Call): boolean => method === 'ots_searchTransactionsBefore';

type Page = { readonly txs: readonly Json[]; readonly receipts: readonly Json[] };

const changed =
  (change: (page: Page) => object): Change =>
  async (_, ask) => {
    const { result, ...answer } = await ask();
    return { ...answer, result: { ...(result as object), ...change(result as Page) } };
  };

const each =
  (members: Json): ((page: Page) => object) =>
  ({ txs }) => ({ txs: txs.map((tx) => ({ ...tx, ...members })) });

const FAULTS: readonly (readonly [name: string, change: Change])[] = [
  ['an error', () => ({ error: { code: -32_000, message: 'the database is busy' } })],
  ['null', () => ({ result: null })],
  ['no transactions, and no last page', changed(() => ({ txs: [], receipts: [], lastPage: false }))],
  ['no list', changed(() => ({ txs: null }))],
  ['no word of a last page', changed(() => ({ lastPage: undefined }))],
  ['those of newer blocks', changed(each({ blockNumber: '0xffff' }))],
  ['those of another block', changed(each({ blockHash: `0x${'ab'.repeat(32)}` }))],
  ['each twice', changed(({ txs }) => ({ txs: [...txs, ...txs] }))],
  ['odd ones', changed(each({ value: 7 }))],
];

test.each(FAULTS)(
  'a node that answers %s is asked again, and then makes no end of the list',
  async (_, change) => {
    await using node = await startFaultyNode(anvils[0]?.url ?? '');
    await using service = await openLate([node.url]);
    node.faults.call = (call, ask) => (isPage(call) ? change(call, ask) : ask());
    const first = await service.ask(`${PATH([ONE])}&limit=100`);
    const above = expected([ONE]).filter(({ block_number }) => Number(block_number) >= START);
    expect([first.status, first.json.transactions]).toEqual([200, above]);
    expect(node.requests.flat().filter(isPage).length).toBe(2);
    const next = () => service.ask(`${PATH([ONE])}&limit=100&offset=${first.json.next_offset}`);
    const failed = await next();
    expect([failed.status, failed.json]).toEqual([
      503,
      { message: expect.stringContaining(`before block ${START} (START_BLOCK) could not be read`) },
    ]);
    node.faults.call = undefined;
    const { json } = await next();
    expect([...above, ...(json.transactions as readonly Json[])]).toEqual(expected([ONE]));
  },
);

test('a page is asked for again once before it fails, and receipts without logs are read by themselves', async () => {
  await using node = await startFaultyNode(anvils[0]?.url ?? '');
  await using service = await openLate([node.url]);
  let asked = 0;
  node.faults.call = (call, ask) => {
    if (!isPage(call)) return ask();
    asked += 1;
    if (asked === 1) return { error: { code: -32_000, message: 'the database is busy' } };
    return changed(({ receipts }) => ({ receipts: receipts.map((each) => ({ ...each, logs: null })) }))(
      call,
      ask,
    );
  };
  expect((await walk(service, [ONE], 100)).rows).toEqual(expected([ONE]));
});

test('of several chains, one that fails is named for the rest of the walk, and leaves the other whole', async () => {
  await using node = await startFaultyNode(anvils[1]?.url ?? '');
  await using service = await openLate([anvils[0]?.url ?? '', node.url]);
  node.faults.call = (call, ask) => (isPage(call) ? { result: null } : ask());
  const lost = expected([ONE, TWO]).filter(
    ({ chain, block_number }) =>
      Number(block_number) >= START || expected([ONE]).some((each) => each.chain === chain),
  );
  const { rows, warnings } = await walk(service, [ONE, TWO], 7);
  expect(rows).toEqual(lost);
  expect(warnings).toMatchObject([
    { code: 'START_BLOCK', chain_ids: [ONE] },
    { code: 'CHAIN_UNAVAILABLE', chain_ids: [TWO] },
  ]);
});

test('a node without them ends the list where its index does, with a warning', async () => {
  await using node = await startFaultyNode(anvils[0]?.url ?? '');
  await using service = await openLate([node.url]);
  node.faults.call = (call, ask) =>
    call.method.startsWith('ots_') ? { error: { code: -32_601, message: 'Method not found' } } : ask();
  const { rows, warnings } = await walk(service, [ONE], 100);
  expect(rows).toEqual(expected([ONE]).filter(({ block_number }) => Number(block_number) >= START));
  expect(warnings).toMatchObject([
    { code: 'START_BLOCK', message: expect.stringContaining('what was before is missing') },
  ]);
});
