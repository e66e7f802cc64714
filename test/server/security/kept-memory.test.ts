import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { FeedCache, FeedPages, positionOf } from '../../../src/deliveries/feed/cache.ts';
import { executeAny, executeFast } from '../../../src/graph/executor.ts';
import type { OperationContext } from '../../../src/server/graphql/operation-plugin.ts';
import { createPipeline } from '../../../src/server/graphql/pipeline.ts';
import { Frame } from '../../../src/server/subscriptions/frame.ts';
import { temporaryDirectory } from '../../deliveries/support/builders.ts';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** What is kept of small events and answers takes about their own size, and not the pools that their bytes were cut from. */

const COUNT = 200;
/** Of each, with what lists and maps have of it. A pool of Buffers has 64 KB. */
const BYTES = 16_384;

setFlagsFromString('--expose-gc');
const collectGarbage: NonNullable<typeof globalThis.gc> = runInNewContext('gc');

/** The memory of all that something refers to. */
const memoryInUse = async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    collectGarbage();
    await pause(20);
  }
  return process.memoryUsage();
};

const bufferBytes = async (): Promise<number> => (await memoryInUse()).arrayBuffers;

const keptBytes = async (): Promise<number> => {
  const { heapUsed, arrayBuffers } = await memoryInUse();
  return heapUsed + arrayBuffers;
};

/** Has the next small Buffer lie in another pool. */
const usePool = (): void => {
  for (let used = 0; used <= Buffer.poolSize; used += Buffer.poolSize / 4)
    Buffer.allocUnsafe(Buffer.poolSize / 4);
};

test('small events in the cache of feeds take no more memory than it may have', async () => {
  const bytes = 32 * 1024 * 1024;
  const count = 40_000;
  const pages = new FeedPages<Frame>(new FeedCache(bytes));
  const cursorAt = (number: number): string => `cursor ${number}`.padEnd(28);
  let blocks = 0;
  const before = await keptBytes();
  for (let number = 1; number <= count; number += 1) {
    const after = cursorAt(number - 1);
    const cursor = cursorAt(number);
    const item = new Frame({ cursor, receivedAt: Date.now() }, [Buffer.alloc(250)]);
    blocks += item.eventStreamBlock.length;
    const entry = { after, item, next: positionOf(cursor), bytes: item.memoryBytes };
    pages.publish(new Map([[after, entry]]), () => {});
  }
  expect((await keptBytes()) - before).toBeLessThan(bytes);
  expect(blocks).toBe(count);
  expect(pages.entryAfter(cursorAt(0))).toBeUndefined();
  expect(pages.entryAfter(cursorAt(count - 1))).toBeDefined();
});

test('kept events take about their own size', async () => {
  // A log in memory would keep them, too.
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: await temporaryDirectory() });
  const { deliveryUrl, head } = await deliveriesOf(gateway.url);
  await using subscriber = subscribe(gateway.url, { after: head });
  const post = async (number: number) => {
    usePool();
    expect(await deliver(deliveryUrl, { body: activity(number) })).toBe(200);
    await eventually(() => subscriber.edges.length === number);
  };
  await post(1);
  const before = await bufferBytes();
  for (let number = 2; number <= COUNT; number += 1) await post(number);
  expect((await bufferBytes()) - before).toBeLessThan(COUNT * BYTES);
});

test('kept answers take about their own size', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '600000' });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(3)));
  const ask = (number: number) =>
    gateway.data(`query { wallet(address: "${address}") { transactions { nodes { a${number}: hash } } } }`);
  await ask(0);
  const before = await bufferBytes();
  for (let number = 1; number <= COUNT; number += 1)
    for (let turn = 0; turn < 3; turn += 1) {
      usePool();
      await ask(number);
    }
  expect((await bufferBytes()) - before).toBeLessThan(COUNT * BYTES);
});

test.each([
  ['executeFast', executeFast],
  ['executeAny', executeAny],
])(
  'an operation that has waited for something is freed by a collection of young objects alone: %s',
  async (_, executor) => {
    const schema = buildSchema('type Query { later: String }');
    const document = parse('{ later }');
    const pipeline = createPipeline(executor, []);
    const rootValue = { later: () => pause(1, 'a value') };
    const execute = async () => {
      const contextValue = {};
      const result = await pipeline.execute({
        schema,
        document,
        rootValue,
        contextValue: contextValue as OperationContext,
      });
      expect(result.data).toEqual({ later: 'a value' });
      return new WeakRef(contextValue);
    };
    const contexts = await Promise.all(Array.from({ length: 20 }, execute));
    // The turn of the event loop that creates a WeakRef keeps its target.
    await pause(1);
    for (let turn = 0; turn < 2; turn += 1) collectGarbage({ type: 'minor' });
    expect(contexts.filter((context) => context.deref() !== undefined)).toEqual([]);
  },
);
