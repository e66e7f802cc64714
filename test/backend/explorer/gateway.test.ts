import { describe, expect, test } from 'vitest';
import { madeUp, WALLET } from '../../support/blockscout/made-up.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { KEY } from './support/asking.ts';

/** The gateway with BLOCKSCOUT, over a simulated hosted API. */

const LISTS = `query ($address: Address!) {
  wallet(address: $address) {
    transactions(first: 20, chainIds: [1, 8453, 5]) { nodes { chainId hash } partialErrors }
  }
}`;

type Lists = {
  wallet: { transactions: { nodes: { chainId: number }[]; partialErrors: { warnings: object[] } } };
};

const open = async () => {
  const hosted = await startBlockscout({
    chains: [1, 8453].map((id) => ({ id, contents: madeUp({}, id) })),
    hosted: { key: KEY, perSecond: 1_000 },
  });
  const gateway = await startGateway(
    { BLOCKSCOUT: '1,8453,5', BLOCKSCOUT_API_KEY: KEY, BLOCKSCOUT_URL: hosted.url },
    { readsChains: true },
  );
  return {
    ...{ hosted, gateway },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await hosted[Symbol.asyncDispose]();
    },
  };
};

test('a chain that is not hosted is named, once in the log, and beside what the others say', async () => {
  await using opened = await open();
  const { gateway, hosted } = opened;
  const { wallet } = await gateway.data<Lists>(LISTS, { address: WALLET });
  expect(new Set(wallet.transactions.nodes.map(({ chainId }) => chainId))).toEqual(new Set([1, 8453]));
  expect(wallet.transactions.partialErrors.warnings).toMatchObject([
    { code: 'CHAIN_NOT_SERVED', chain_ids: [5] },
  ]);
  const named = () => gateway.logLines.filter((line) => line.includes('an explorer does not answer'));
  await expect.poll(() => named().length).toBe(1);
  expect(named().join()).toContain('not part of the hosted API');
  // Nothing was asked for that nobody has selected.
  expect(hosted.requests.filter(({ path }) => path.endsWith('/logs'))).toEqual([]);
  expect(gateway.logLines.join()).not.toContain(KEY);
  expect(hosted.requests.every(({ target }) => !target.includes(KEY))).toBe(true);
});

describe('The key of the hosted API', () => {
  const NAMED = 'BLOCKSCOUT_API_KEY: expected the key of the hosted API for the chains 1, 8453, got none';

  const openWith = async (key: string | undefined) => {
    await using made = new AsyncDisposableStack();
    const hosted = await startBlockscout({
      chains: [1, 8453].map((id) => ({ id, contents: madeUp({}, id) })),
      hosted: { key: KEY, perSecond: 1_000 },
    });
    made.use(hosted);
    const instance = await startBlockscout({ chains: [{ id: 100, contents: madeUp({}, 100) }] });
    made.use(instance);
    const gateway = await startGateway(
      {
        ...{ BLOCKSCOUT: `1,8453,100=${instance.url}`, BLOCKSCOUT_API_KEY: key },
        BLOCKSCOUT_URL: hosted.url,
      },
      { readsChains: true },
    );
    made.use(gateway);
    const ready = async () => (await fetch(`${gateway.url}/health/ready`)).json();
    // Both explorers were asked for their versions.
    await expect.poll(async () => (await ready()).explorers).toHaveLength(2);
    await expect.poll(() => hosted.requests.length).toBeGreaterThan(0);
    const opened = made.move();
    return { gateway, ready, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  };

  const problems = (lines: readonly string[]) =>
    lines.flatMap((line) => (line.includes('"level":"warn"') && line.includes('index: ') ? [line] : []));

  test.each([
    ['missing', undefined, NAMED],
    ['wrong', `${KEY}-other`, 'does not accept the key'],
  ])(
    'that is %s is named once in the log, and by readiness, and other chains go on',
    async (_, key, says) => {
      await using opened = await openWith(key);
      const { gateway, ready } = opened;
      await expect.poll(ready).toMatchObject({
        status: 'degraded',
        reasons: [{ part: 'explorers', message: expect.stringContaining(says) }],
      });
      const { wallet } = await gateway.data<Lists>(LISTS.replace(', 5]', ', 100]'), { address: WALLET });
      expect(new Set(wallet.transactions.nodes.map(({ chainId }) => chainId))).toEqual(new Set([100]));
      const named = problems(gateway.logLines);
      expect(named).toHaveLength(1);
      expect(named.join()).toContain(says);
      expect(gateway.logLines.join()).not.toContain(KEY);
    },
  );

  test('that is right is no reason', async () => {
    await using opened = await openWith(KEY);
    await expect.poll(opened.ready).toMatchObject({ status: 'ready' });
    expect(problems(opened.gateway.logLines)).toEqual([]);
  });
});

test('a chain says which explorer it is of, and where its pages are, but no URL that may be a secret', async () => {
  await using gateway = await startGateway(
    {
      BLOCKSCOUT: '1,5,100=http://127.0.0.1:9/,137=http://127.0.0.1:9/secret',
      BLOCKSCOUT_API_KEY: KEY,
      BLOCKSCOUT_URL: 'http://127.0.0.1:9',
    },
    { readsChains: true },
  );
  const explorers = async () => {
    const { chains } = await gateway.data<{ chains: { chainId: number; explorer: object | null }[] }>(
      '{ chains { chainId explorer { name url } } }',
    );
    return chains.map(({ chainId, explorer }) => [chainId, explorer]);
  };
  const named = (url: string | null) => ({ name: 'Blockscout', url });
  await expect.poll(explorers).toEqual([
    [1, named('https://eth.blockscout.com')],
    [5, named(null)],
    [100, named('http://127.0.0.1:9')],
    [137, named(null)],
  ]);
});

test('a chain that is not hosted takes none of the others with it, however often it is asked for', async () => {
  await using opened = await open();
  const { gateway } = opened;
  const transactions = `query ($address: Address!, $chains: [ChainId!]) {
    wallet(address: $address) { transactions(first: 5, chainIds: $chains) { nodes { hash } } }
  }`;
  // More than open a circuit breaker.
  for (let count = 0; count < 12; count += 1) {
    const address = `0x${count.toString(16).padStart(40, '0')}`;
    const { errors } = await gateway.query(transactions, { address, chains: [5] });
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('is not part of the hosted API'),
        extensions: { code: 'UPSTREAM_REJECTED', status: 400 },
      },
    ]);
  }
  const found = await gateway.data<Lists>(transactions, { address: WALLET, chains: [1] });
  expect(found.wallet.transactions.nodes).not.toEqual([]);
});

test('a client with many wallets leaves others their turn, and no explorer hears who they are', async () => {
  await using hosted = await startBlockscout({
    chains: [{ id: 1, contents: madeUp() }],
    hosted: { key: KEY, perSecond: 1_000 },
  });
  await using gateway = await startGateway({
    ...{ BLOCKSCOUT: '1', BLOCKSCOUT_API_KEY: KEY, BLOCKSCOUT_URL: hosted.url },
    TRUSTED_PROXIES: '127.0.0.1',
  });
  hosted.plant({ headers: { 'x-ratelimit-limit': '5' } });
  const wallet = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
  const ask = (number: number, client: string) =>
    gateway.query(
      'query ($address: Address!) { wallet(address: $address) { name(chainId: 1) } }',
      { address: wallet(number) },
      { 'x-forwarded-for': client },
    );
  await ask(1, '198.51.100.1');
  const before = hosted.requests.length;
  const many = Array.from({ length: 25 }, (_, at) => ask(100 + at, '198.51.100.1'));
  await expect.poll(() => hosted.requests.length).toBeGreaterThan(before);
  const { errors } = await ask(2, '198.51.100.2');
  expect(errors).toBeUndefined();
  await Promise.all(many);
  const asked = hosted.requests.slice(before);
  expect(asked).toHaveLength(26);
  expect(asked.findIndex(({ path }) => path.includes(wallet(2)))).toBeLessThan(15);
  for (const { headers } of hosted.requests) expect(JSON.stringify(headers)).not.toContain('client');
});
