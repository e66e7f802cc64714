import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/backend/indexer/database/database.ts';
import { startReceiver } from '../dispatch/support/receiver.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { type Call, startFaultyNode } from './support/faulty-node.ts';
import { contentsOf, follow } from './support/followed.ts';
import { openIndexed } from './support/service.ts';

const CHAIN = 31_337;
const TRACING = /^debug_|^trace_block$/;

/** A service over a node in front of an Anvil, with a webhook for the activities of an account that calls pay. */
const openTraced = async (anvil: Anvil) => {
  await using made = new AsyncDisposableStack();
  const [, other = '0x', , , watched = '0x'] = await accountsOf(anvil.url);
  const payer = await deploy(anvil.url, 'Payer');
  const faulty = made.use(await startFaultyNode(anvil.url));
  const receiver = made.use(await startReceiver());
  const directory = await mkdtemp(join(tmpdir(), 'traced-'));
  made.defer(() => rm(directory, { recursive: true, force: true }));
  const open = () => openIndexed({ directory, chains: [{ id: CHAIN, url: faulty.url, startBlock: null }] });
  const bodies = () => receiver.received.map(({ body }) => JSON.parse(body) as Json);
  const running = made.move();
  return {
    faulty,
    payer,
    watched,
    open,
    subscribe: (
      service: Awaited<ReturnType<typeof open>>,
      type: 'activities' | 'balances' | 'transactions',
    ) => service.subscribe(type, receiver.url, [watched]),
    /** Pays the account by a call within a transaction. Resolves with the number of the block. */
    pay: async (value: number): Promise<number> =>
      (await payer.mine('split', [[watched, other]], { value: BigInt(2 * value) })).blockNumber,
    bodies,
    /** The values of the activities that were delivered. */
    received: () =>
      bodies().flatMap(({ activities }) => (activities as readonly Json[]).map(({ value }) => Number(value))),
    /** What the index has, while no service uses it. */
    contents() {
      const database = openDatabase(join(directory, 'index.sqlite'));
      try {
        return contentsOf(database);
      } finally {
        database.close();
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const tracesOf = async (service: Awaited<ReturnType<typeof openIndexed>>): Promise<unknown> =>
  (await service.progress())[0]?.traces;

const fails =
  (answer: Readonly<Record<string, unknown>>) =>
  async (call: Call, ask: () => Promise<Readonly<Record<string, unknown>>>) =>
    TRACING.test(call.method) ? answer : ask();

/** Resolves when all blocks are traced. */
const isTraced = (service: Awaited<ReturnType<typeof openIndexed>>) =>
  expect.poll(() => tracesOf(service)).toEqual({ behind: 0, problem: null });

/** Whether a call traces a block or one of its transactions. */
const isAbout = async (anvil: Anvil, { params }: Call, number: number): Promise<boolean> => {
  const tag = `0x${number.toString(16)}`;
  const block = (await anvil.rpc('eth_getBlockByNumber', tag, false)) as {
    hash: string;
    transactions: readonly string[];
  };
  return [tag, block.hash, ...block.transactions].includes(String(params[0]));
};

describe('a block is indexed without its traces', () => {
  test.each<[what: string, answer: Readonly<Record<string, unknown>>, problem: RegExp]>([
    ['has no tracing', { error: { code: -32601, message: 'Method not found' } }, /Method not found/],
    ['fails', { error: { code: -32603, message: 'Internal error' } }, /Internal error/],
    ['limits the rate', { error: { code: 429, message: 'rate limit exceeded' } }, /rate limit/],
    ['answers in another format', { result: [{ trace: [] }] }, /expected the calls/],
    ['gives up within its tracer', { result: [{ error: 'execution timeout' }] }, /expected the calls/],
    ['answers nothing', { result: null }, /expected the calls/],
  ])(
    'while the node %s, and what they add is delivered in order when it comes',
    async (_, answer, problem) => {
      await using anvil = await startAnvil();
      await using traced = await openTraced(anvil);
      await using service = await traced.open();
      await service.indexed(await anvil.head());
      await isTraced(service);
      await traced.subscribe(service, 'activities');
      traced.faulty.faults.call = fails(answer);
      for (const value of [1, 2, 3]) await traced.pay(value);
      await service.indexed(await anvil.head());
      await expect.poll(() => tracesOf(service)).toMatchObject({ problem: expect.stringMatching(problem) });
      expect(await tracesOf(service)).toMatchObject({ behind: 3 });
      expect((await service.ask('/health')).status).toBe(200);
      expect(traced.received()).toEqual([]);
      traced.faulty.faults.call = undefined;
      await expect.poll(() => traced.received()).toEqual([1, 2, 3]);
      await isTraced(service);
      const activity = await service.ask(`/v1/evm/activity/${traced.watched}`);
      expect((activity.json.activity as readonly Json[]).map(({ value }) => Number(value))).toEqual([
        3, 2, 1,
      ]);
      const named = service.lines.filter(({ message }) => message === 'blocks not traced');
      expect(named).toHaveLength(1);
    },
  );

  test('that alone can not be traced, without holding up the others', async () => {
    await using anvil = await startAnvil();
    await using traced = await openTraced(anvil);
    await using service = await traced.open();
    await service.indexed(await anvil.head());
    await isTraced(service);
    await traced.subscribe(service, 'activities');
    let bad = Number.POSITIVE_INFINITY;
    traced.faulty.faults.call = async (call, ask) =>
      TRACING.test(call.method) && (await isAbout(anvil, call, bad))
        ? { error: { code: -32000, message: 'execution timeout' } }
        : ask();
    bad = (await anvil.head()) + 1;
    for (const value of [1, 2, 3]) await traced.pay(value);
    await expect.poll(() => traced.received()).toEqual([2, 3]);
    expect(await tracesOf(service)).toMatchObject({
      behind: 1,
      problem: expect.stringMatching(`block ${bad}: execution timeout`),
    });
    await traced.pay(4);
    await expect.poll(() => traced.received()).toEqual([2, 3, 4]);
    traced.faulty.faults.call = undefined;
    await expect.poll(() => traced.received()).toEqual([2, 3, 4, 1]);
    await isTraced(service);
  });

  test('that is too large to trace, transaction by transaction', async () => {
    await using anvil = await startAnvil();
    await using traced = await openTraced(anvil);
    traced.faulty.faults.call = (call, ask) =>
      /^trace_block$|^debug_traceBlockByHash$/.test(call.method)
        ? { error: { code: -32008, message: 'too large' } }
        : ask();
    await using service = await traced.open();
    await service.indexed(await anvil.head());
    await traced.subscribe(service, 'activities');
    await traced.pay(1);
    await expect.poll(() => traced.received()).toEqual([1]);
    await isTraced(service);
  });

  test('and without asking for them where no transaction runs code', async () => {
    await using anvil = await startAnvil();
    const [from = '0x', to = '0x'] = await accountsOf(anvil.url);
    await receiptOf(anvil.url, await sendTransaction(anvil.url, to, '0x', { from, value: 7n }));
    await using traced = await openTraced(anvil);
    await using service = await traced.open();
    await service.indexed(await anvil.head());
    await isTraced(service);
    const methods = () => traced.faulty.requests.flat().filter(({ method }) => TRACING.test(method)).length;
    const asked = methods();
    await receiptOf(anvil.url, await sendTransaction(anvil.url, to, '0x', { from, value: 7n }));
    await service.indexed(await anvil.head());
    await service.indexed(await traced.pay(1));
    await isTraced(service);
    expect(methods()).toBe(asked + 1);
  });

  test('and what they add is delivered after a restart, once, and leaves with its block', async () => {
    await using anvil = await startAnvil();
    await using traced = await openTraced(anvil);
    traced.faulty.faults.call = fails({ error: { code: -32603, message: 'Internal error' } });
    {
      await using service = await traced.open();
      await service.indexed(await anvil.head());
      await traced.subscribe(service, 'activities');
      for (const value of [1, 2, 3]) await traced.pay(value);
      await service.indexed(await anvil.head());
    }
    // The block of the third is replaced.
    await anvil.rpc('anvil_reorg', 1, []);
    {
      await using service = await traced.open();
      await traced.pay(4);
      await service.indexed(await anvil.head());
      traced.faulty.faults.call = undefined;
      await isTraced(service);
      await expect.poll(() => traced.received()).toEqual([1, 2, 4]);
    }
    await using fresh = await follow({ url: anvil.url });
    await fresh.caughtUp();
    expect(traced.contents()).toEqual(fresh.contents());
  });

  test('and they tell of the balances and the transactions that they concern', async () => {
    await using anvil = await startAnvil();
    await using traced = await openTraced(anvil);
    await using service = await traced.open();
    await service.indexed(await anvil.head());
    await traced.subscribe(service, 'balances');
    const balance = async (number: number) =>
      BigInt(String(await anvil.rpc('eth_getBalance', traced.watched, `0x${number.toString(16)}`)));
    const number = await traced.pay(5);
    await expect
      .poll(() => traced.bodies())
      .toMatchObject([
        {
          balance_changes: [
            {
              amount_before: String(await balance(number - 1)),
              amount_after: String(await balance(number)),
              direction: 'in',
            },
          ],
        },
      ]);
    const { json } = await service.ask(`/v1/evm/transactions/${traced.watched}`);
    expect(json.transactions).toMatchObject([{ to: traced.payer.address, block_number: String(number) }]);
  });
});
