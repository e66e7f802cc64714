import { expect, test } from 'vitest';
import { heldKey, startGateway } from '../support/gateway/start.ts';
import { type Answer, startFakeService } from '../support/upstream/fake-service.ts';

/** Logs and hashes of blocks, which a service over explorers leaves out of requests that say so. */

const ADDRESS = `0x${'ab'.repeat(20)}`;
const HASH = `0x${'cd'.repeat(32)}`;

const listed = (optional?: readonly unknown[]) => ({
  chains: [
    {
      name: 'ethereum',
      chain_id: 1,
      tags: ['default'],
      transactions: { supported: true },
      transaction: { supported: true },
    },
  ],
  ...(optional && { optional }),
});

const item = (query: URLSearchParams) => ({
  ...{ address: ADDRESS, chain: 'ethereum', hash: HASH, from: ADDRESS, to: null, block_number: '7' },
  ...{ block_time: '2026-06-01T12:00:00.000Z', index: '0', nonce: '0x0', value: '0x0', data: '0x' },
  ...(query.get('block_hash') !== 'false' && { block_hash: HASH }),
  ...(query.get('logs') !== 'false' && { logs: [{ address: ADDRESS, data: '0x', topics: [] }] }),
});

const open = async (optional?: readonly unknown[], env: Record<string, string> = {}) => {
  const asked: string[] = [];
  const answerWith =
    (body: (query: URLSearchParams) => object): Answer =>
    ({ query }) => {
      asked.push(['logs', 'block_hash'].map((name) => `${name}=${query.get(name) ?? ''}`).join('&'));
      return { json: body(query) };
    };
  const service = await startFakeService({
    chains: () => ({ json: listed(optional) }),
    transactions: answerWith((query) => ({ transactions: [item(query)] })),
    other: answerWith((query) => ({ transaction: item(query) })),
  });
  const gateway = await startGateway(
    { UPSTREAM_URL: service.url, UPSTREAM_API_KEY: heldKey, ...env },
    { readsChains: true },
  );
  await expect
    .poll(async () => JSON.stringify(await gateway.data('{ chains { chainId } }')))
    .toBe('{"chains":[{"chainId":1}]}');
  const list = async (selection: string) => {
    const data = await gateway.data<{ wallet: { transactions: { nodes: readonly object[] } } }>(
      `{ wallet(address: "${ADDRESS}") { transactions(first: 1) { nodes { hash ${selection} } } } }`,
    );
    return data.wallet.transactions.nodes;
  };
  return {
    ...{ gateway, asked, list },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
};

test('logs and hashes of blocks are left out of what is asked unless they are selected', async () => {
  await using opened = await open(['logs', 'block_hash', 'unheard_of']);
  const { list, asked } = opened;
  expect(await list('')).toEqual([{ hash: HASH }]);
  expect(await list('logs { address }')).toEqual([{ hash: HASH, logs: [{ address: ADDRESS }] }]);
  expect(await list('blockHash')).toEqual([{ hash: HASH, blockHash: HASH }]);
  expect(asked).toEqual(['logs=false&block_hash=false', 'logs=&block_hash=false', 'logs=&block_hash=']);
  // The last page has all of it.
  expect(await list('blockHash logs { address }')).toEqual([
    { hash: HASH, blockHash: HASH, logs: [{ address: ADDRESS }] },
  ]);
  expect(asked).toHaveLength(3);
});

test('one transaction is asked for without them as well', async () => {
  await using opened = await open(['logs', 'block_hash']);
  const { gateway, asked } = opened;
  const read = (selection: string) =>
    gateway.data(`{ transaction(chainId: 1, hash: "${HASH}") { hash ${selection} } }`);
  expect(await read('')).toEqual({ transaction: { hash: HASH } });
  expect(await read('logs { address }')).toEqual({
    transaction: { hash: HASH, logs: [{ address: ADDRESS }] },
  });
  expect(asked).toEqual(['logs=false&block_hash=false', 'logs=&block_hash=false']);
});

test('a service that does not say that it leaves them out is asked as ever, and one page serves all', async () => {
  await using opened = await open();
  const { list, asked } = opened;
  expect(await list('')).toEqual([{ hash: HASH }]);
  expect(await list('blockHash logs { address }')).toEqual([
    { hash: HASH, blockHash: HASH, logs: [{ address: ADDRESS }] },
  ]);
  expect(asked).toEqual(['logs=&block_hash=']);
});

test('the estimate counts the requests that they make of a list, and a rejected client is told', async () => {
  await using opened = await open(['block_hash', { name: 'logs', page: 12 }], { MAX_COMPUTE_UNITS: '1' });
  const { gateway } = opened;
  const estimateOf = async (first: number, selection: string) => {
    const { errors } = await gateway.query(
      `{ wallet(address: "${ADDRESS}") { transactions(first: ${first}) { nodes { hash ${selection} } } } }`,
    );
    const [error] = errors ?? [];
    return [Reflect.get(error?.extensions ?? {}, 'estimatedComputeUnits') ?? null, error?.message ?? ''];
  };
  expect(await estimateOf(100, '')).toEqual([null, '']);
  expect(await estimateOf(100, 'blockHash')).toEqual([null, '']);
  expect(await estimateOf(12, 'logs { data }')).toEqual([null, '']);
  expect(await estimateOf(100, 'logs { data }')).toEqual([
    9,
    expect.stringContaining('Without logs and blockHash, a page of the service has 100 items'),
  ]);
});
