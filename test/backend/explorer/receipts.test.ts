import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import type { ReadContents } from '../../support/blockscout/contents.ts';
import { contentsOfNode } from '../../support/blockscout/from-node.ts';
import { startAnvil } from '../indexer/support/anvil.ts';
import { accountsOf, deploy } from '../indexer/support/contracts.ts';
import { type Answer, type Call, startFaultyNode } from '../indexer/support/faulty-node.ts';
import { openExplored } from './support/exploring.ts';

/** RECEIPTS: a node of an explorer's chain, and what becomes of what it answers. */

const CHAIN = 31_337;
const SECRET = 'very-secret-key';
/** More than an explorer is asked for the logs of in one page. */
const COUNT = 15;

let anvil: Awaited<ReturnType<typeof startAnvil>>;
let contents: ReadContents;
let wallet: Hex;

beforeAll(async () => {
  anvil = await startAnvil();
  const [alice, bob] = (await accountsOf(anvil.url)) as [Hex, Hex];
  wallet = bob;
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  await coin.mine('mint', [bob, 5_000_000n], { from: bob });
  for (let count = 2; count < COUNT; count += 1) await coin.mine('transfer', [alice, 1n], { from: bob });
  await coin.mine('transfer', [alice, 2n ** 200n], { from: bob, gas: 100_000n });
  contents = contentsOfNode({ chainId: CHAIN, call: anvil.rpc });
});

afterAll(() => anvil[Symbol.asyncDispose]());

/** An explorer of the chain, and a node of it that a test makes faulty. */
const open = async () => {
  const node = await startFaultyNode(anvil.url);
  const receipts = `http://user:${SECRET}@${node.host}/v3/${SECRET}`;
  const service = await openExplored([{ id: CHAIN, contents, receipts }]);
  return {
    ...{ node, service },
    details: () =>
      service.seen().filter(({ path }) => path.endsWith('/logs') || path.includes('/blocks/')).length,
    /** The newest transactions of the wallet, as far as a page has them. */
    ask: () => rowsOf(service),
    lines: () => service.lines.map((line) => JSON.stringify(line)),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await node[Symbol.asyncDispose]();
    },
  };
};

type Service = Awaited<ReturnType<typeof openExplored>>;

const rowsOf = (service: Service) =>
  service.walk(`transactions/${wallet}?chain_ids=${CHAIN}`, 'transactions');

/** As an explorer alone says it. */
const truth = async () => {
  await using service = await openExplored([{ id: CHAIN, contents }]);
  return await rowsOf(service);
};

const isReceipt = ({ method }: Call): boolean => method === 'eth_getTransactionReceipt';

test('logs and hashes of blocks come from the node in batches, as the explorer has them, for no request of it', async () => {
  await using opened = await open();
  const rows = await opened.ask();
  expect(rows).toEqual(await truth());
  expect([rows.length, opened.details(), opened.lines()]).toEqual([COUNT, 0, []]);
  expect(opened.node.requests.filter((calls) => calls.some(isReceipt)).length).toBe(1);
  const [first] = rows;
  const { json } = await opened.service.ask(`transaction/${first?.hash}?chain_ids=${CHAIN}`);
  expect([json.transaction, opened.details()]).toEqual([first, 0]);
  await opened.service.ask(`transactions/${wallet}?chain_ids=${CHAIN}&logs=false&block_hash=false`);
  expect(opened.node.requests.filter((calls) => calls.some(isReceipt)).length).toBe(2);
});

const changed =
  (members: object) =>
  async (_: Call, ask: () => Promise<Answer>): Promise<Answer> => {
    const { result, ...answer } = await ask();
    return { ...answer, result: { ...(result as object), ...members } };
  };
const OTHER = `0x${'ab'.repeat(32)}`;

const FAULTS: readonly (readonly [
  name: string,
  said: string | null,
  answer: (call: Call, ask: () => Promise<Answer>) => Answer | Promise<Answer>,
])[] = [
  ['of another block', 'in block', changed({ blockNumber: '0x1234' })],
  ['of another place', 'at position', changed({ transactionIndex: '0x7' })],
  [
    'of another end',
    'with success',
    async (call, ask) => {
      const answer = await ask();
      const { status } = answer.result as { status: string };
      return changed({ status: status === '0x1' ? '0x0' : '0x1' })(call, async () => answer);
    },
  ],
  ['of another transaction', 'expected the receipt of', changed({ transactionHash: OTHER })],
  ['without logs', 'expected a list of logs', changed({ logs: undefined })],
  ['with odd logs', 'expected', changed({ logs: [{ address: SECRET, topics: [], data: '0x' }] })],
  ['of a node that is behind', null, () => ({ result: null })],
  [
    'of a node without them',
    'no such method',
    () => ({ error: { code: -32_601, message: 'no such method' } }),
  ],
];

test.each(FAULTS)(
  'a receipt %s is not believed: the explorer is asked, and the log says why',
  async (_, said, answer) => {
    await using opened = await open();
    opened.node.faults.call = (call, ask) => (isReceipt(call) ? answer(call, ask) : ask());
    expect(await opened.ask()).toEqual(await truth());
    expect(opened.details()).toBeGreaterThan(0);
    const lines = opened.lines();
    expect(lines.length).toBe(said === null ? 0 : 1);
    if (said !== null) expect(lines[0]).toContain(said);
    expect(opened.lines().join()).not.toContain(SECRET);
  },
);

test('those receipts that are right are used beside others that are not', async () => {
  await using opened = await open();
  let count = 0;
  opened.node.faults.call = (call, ask) => {
    if (!isReceipt(call)) return ask();
    count += 1;
    return count % 3 === 0 ? { result: null } : ask();
  };
  expect(await opened.ask()).toEqual(await truth());
  expect(opened.details()).toBeLessThan(COUNT);
  expect(opened.details()).toBeGreaterThan(0);
});

test.each([
  [
    'belongs to another chain',
    'expected a node of chain 31337, got chain 5',
    (call: Call) => (call.method === 'eth_chainId' ? { result: '0x5' } : null),
  ],
  ['is down', 'HTTP 503', null],
] as const)('a node that %s is not asked, and takes nothing with it', async (_, said, answer) => {
  await using opened = await open();
  if (answer === null)
    opened.node.faults.request = (_calls, response) => {
      response.writeHead(503).end();
      return true;
    };
  else opened.node.faults.call = (call, ask) => answer(call) ?? ask();
  expect(await opened.ask()).toEqual(await truth());
  expect(opened.lines().filter((line) => line.includes(said))).toHaveLength(1);
  expect(opened.lines().join()).not.toContain(SECRET);
});
