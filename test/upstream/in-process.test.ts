import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InProcessDispatcher } from '../../src/app/in-process-dispatcher.ts';
import { startIndexThread } from '../../src/app/index-thread.ts';
import { Changes } from '../../src/backend/changes.ts';
import { createMemoryStore } from '../../src/backend/dispatch/memory-store.ts';
import type { Ask, FaultRule } from '../../src/backend/http/http.ts';
import { DEMO_WALLETS } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startSandbox } from '../../src/backend/sandbox/sandbox.ts';
import { startService } from '../../src/backend/server.ts';
import { createDeadline, createShutdownDeadline } from '../../src/lib/deadlines.ts';
import { createLog } from '../../src/lib/log.ts';
import { createMemoryBudget } from '../../src/lib/memory-budget.ts';
import {
  createConnectionPool,
  createUpstreamClient,
  type RequestDispatcher,
  type SentRequest,
  type UpstreamClient,
} from '../../src/upstream/client/client.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, receiptOf, sendTransaction } from '../backend/indexer/support/contracts.ts';
import { API_KEY, openIndexed } from '../backend/indexer/support/service.ts';
import { NOON } from '../backend/support/sandbox.ts';
import { sourceOf } from '../backend/support/source.ts';
import { folderOf } from '../support/folder.ts';
import { runs } from '../support/runs.ts';
import { requestScope } from '../support/upstream/request-scope.ts';

/** A service in the gateway's own process is asked without a socket. Nothing above the socket can tell. */

type Exchanged = {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Of the error that ended it; null for a whole answer. */
  readonly code: string | null;
};

/** Headers of the connection, and of its time. */
const OF_HTTP = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

const exchange = (dispatcher: RequestDispatcher, request: SentRequest): Promise<Exchanged> =>
  new Promise((resolve) => {
    let [status, headers] = [null as number | null, {}];
    const chunks: Buffer[] = [];
    const end = (code: string | null) =>
      resolve({ status, headers, body: Buffer.concat(chunks).toString(), code });
    dispatcher.dispatch(request, {
      onRequestStart() {},
      onResponseStart(_controller, answered, received) {
        status = answered;
        headers = Object.fromEntries(Object.entries(received).filter(([name]) => !OF_HTTP.has(name)));
      },
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => end(null),
      onResponseError: (_controller, error) => end('code' in error ? String(error.code) : error.message),
    });
  });

const word = (...words: string[]) => fc.constantFrom(...words);
const PATHS = ['transactions', 'activity', 'balances', 'collectibles', 'approvals', 'defi/positions', 'name'];

const targets = (wallets: readonly string[]) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(
          word(...PATHS, 'nothing'),
          fc.oneof(
            { weight: 8, arbitrary: word(...wallets) },
            { weight: 1, arbitrary: word('0x1', 'é%20', '..') },
          ),
          fc.record(
            {
              limit: word('1', '20', '100', '1000', '0', 'x'),
              chain_ids: word('1', '31337', 'default', '1,10', '99999', 'no tag'),
              decode: word('true', 'false', '2'),
              offset: word('AAAA', 'A'.repeat(60)),
            },
            { requiredKeys: [] },
          ),
        )
        .map(([path, wallet, query]) => `/v1/evm/${path}/${encodeURI(wallet)}?${new URLSearchParams(query)}`),
    },
    {
      weight: 2,
      arbitrary: word(
        '/v1/evm/supported-chains?x',
        '/v1/evm/defi/supported-protocols',
        '/health',
        '/',
        '/x?a?b=c',
      ),
    },
    {
      weight: 1,
      arbitrary: word('/beta/evm/subscriptions/webhooks', '/beta/evm/subscriptions/webhooks/no/addresses'),
    },
  );

const requests = (wallets: readonly string[], key: string): fc.Arbitrary<SentRequest> =>
  fc
    .record({
      path: targets(wallets),
      method: fc.oneof(
        { weight: 5, arbitrary: fc.constant('GET' as const) },
        { weight: 1, arbitrary: fc.constantFrom('POST' as const, 'PATCH' as const, 'DELETE' as const) },
      ),
      headers: fc.tuple(word(key, key, key, key, 'wrong', 'é'), fc.boolean()).map(([sent, named]) => ({
        'X-Service-Api-Key': sent,
        ...(named && { 'x-asking-client': 'a client' }),
      })),
      body: fc.oneof(fc.constant(null), word('{', '{"type":"none"}', '{"addresses":["é\u{1f600}"]}')),
    })
    .map((request) => (request.method === 'GET' ? { ...request, body: null } : request));

const fault: fc.Arbitrary<Omit<FaultRule, 'path'>> = fc.record(
  {
    status: fc.constantFrom(204, 400, 402, 429, 500, 503),
    headers: fc.constantFrom(
      { 'Retry-After': '3' },
      { 'x-failure-of': 'chain', 'content-type': 'text/html' },
    ),
    body: fc.constantFrom('', 'é', '{"error":{"message":"\u{1f600}"}}', 'x'.repeat(200_000)),
    cut: fc.boolean(),
    latencyMs: fc.constantFrom(0, 1),
    short: fc.constantFrom(1, 3),
    lastOffset: fc.constantFrom(null, '' as const),
  },
  { requiredKeys: [] },
);

/** HTTP sends no body with these, whatever the service wrote. */
const hasBody = ({ status }: Pick<FaultRule, 'status'>) => status !== 204;

test('the sandbox answers within its process as over HTTP, whatever is asked and whatever fails', async () => {
  await using made = new AsyncDisposableStack();
  const sandbox = await startSandbox({ now: () => NOON });
  made.defer(() => sandbox.stop());
  const overHttp = createConnectionPool(sandbox.url, 1, 10_000);
  made.defer(() => overHttp.destroy());
  const within = new InProcessDispatcher(sandbox.ask);
  const wallets = DEMO_WALLETS.map(({ address }) => address);
  const faults = fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fault.filter(hasBody) },
  );
  await fc.assert(
    fc.asyncProperty(requests(wallets, sandbox.apiKey), faults, async (request, rule) => {
      sandbox.faults.set(rule === null ? [] : [{ path: '*', ...rule }]);
      const expected = await exchange(overHttp, request);
      const answered = await exchange(within, request);
      // An empty body can't be cut over HTTP. How a socket breaks off differs between systems.
      if (rule?.cut === true && expected.body === '')
        expect(answered).toMatchObject({ ...expected, code: 'ECONNRESET' });
      else if (expected.code !== null) expect(answered).toEqual({ ...expected, code: 'ECONNRESET' });
      else expect(answered).toEqual(expected);
    }),
    { numRuns: runs(2_000, 300) },
  );
});

test('the thread of an index answers as the same index over HTTP', async () => {
  await using anvil = await startAnvil();
  const [from = '0x', to = '0x', other = '0x'] = await accountsOf(anvil.url);
  for (let value = 1n; value <= 25n; value += 1n)
    await receiptOf(
      anvil.url,
      await sendTransaction(anvil.url, value % 3n === 0n ? other : to, '0x', { from, value }),
    );
  const chains = [{ id: 31_337, url: anvil.url, startBlock: 0 }];
  await using folder = await folderOf({});
  await using overHttp = await openIndexed({ chains });
  await using thread = await openThread(anvil.url, folder.path('index'));
  const pool = createConnectionPool(overHttp.url, 1, 10_000);
  const within = new InProcessDispatcher(thread.ask);
  await overHttp.indexed(25);
  const whole = {
    path: `/v1/evm/transactions/${from}?limit=100`,
    method: 'GET',
    headers: { 'x-service-api-key': API_KEY },
    body: null,
  } as const;
  const counted = async () => (await exchange(within, whole)).body.split('"hash"').length - 1;
  await expect.poll(counted, { timeout: 60_000 }).toBe(25);
  const timeless = ({ headers, body, ...exchanged }: Exchanged) => ({
    ...exchanged,
    headers: { ...headers, 'content-length': undefined },
    body: body
      .replaceAll(/"(request_time|response_time)":"[^"]+"/g, '"$1":0')
      .replaceAll(`${overHttp.url}/`, '/'),
  });
  const asked = requests([from, to, other], API_KEY).filter(
    ({ path }) => !/health|supported-chains/.test(path),
  );
  await fc.assert(
    fc.asyncProperty(asked, async (request) => {
      const expected = await exchange(pool, request);
      expect(timeless(await exchange(within, request))).toEqual(timeless(expected));
    }),
    { numRuns: runs(1_000, 150) },
  );
  await pool.destroy();
});

/** The thread of an index of this node's chain. `worker` is the one that runs now. */
const openThread = async (nodeUrl: string, directory: string) => {
  const workers: Worker[] = [];
  const add = (worker: Worker) => workers.push(worker);
  process.on('worker', add);
  const thread = await startIndexThread(
    {
      chains: [{ id: 31_337, url: nodeUrl, startBlock: 0 }],
      ...{ directory, abiDirectory: null, metadata: null, prices: null, signatureSecret: null },
      ...{ host: '127.0.0.1', port: null, apiKey: API_KEY, keyHeader: 'X-Service-Api-Key' },
    },
    createLog('error', () => {}),
  );
  thread.follow({ url: 'http://127.0.0.1:9', answer: () => {} });
  return {
    ask: thread.ask,
    worker: () => workers.at(-1),
    async [Symbol.asyncDispose]() {
      process.off('worker', add);
      await thread.stop(createShutdownDeadline());
    },
  };
};

const CHANGES: SentRequest = {
  path: '/v1/evm/changes',
  method: 'GET',
  headers: { 'x-service-api-key': API_KEY },
  body: null,
};

test('requests end with their thread, are unheard until it is started again, and are answered then', async () => {
  await using folder = await folderOf({});
  await using thread = await openThread('http://127.0.0.1:9', folder.path('index'));
  const within = new InProcessDispatcher(thread.ask);
  const open = exchange(within, CHANGES);
  const chains = { ...CHANGES, path: '/v1/evm/supported-chains' };
  expect((await exchange(within, chains)).status).toBe(200);
  const worker = thread.worker();
  const ended = worker && once(worker, 'exit');
  await worker?.terminate();
  await ended;
  expect(await open).toMatchObject({ status: 200, code: 'ECONNRESET' });
  expect(await exchange(within, chains)).toEqual({
    status: null,
    headers: {},
    body: '',
    code: 'ECONNREFUSED',
  });
  await expect.poll(async () => (await exchange(within, chains)).status, { timeout: 10_000 }).toBe(200);
});

/** A service whose lookups wait for the test to answer them, and that counts the listeners of its changes. */
const openWaiting = async (made: AsyncDisposableStack) => {
  const seen = { asked: 0, listening: 0 };
  class Counted extends Changes {
    override listen(...args: Parameters<Changes['listen']>) {
      const stop = super.listen(...args);
      seen.listening += 1;
      return () => {
        seen.listening -= 1;
        stop();
      };
    }
  }
  const held = Promise.withResolvers<void>();
  const source = sourceOf({
    changes: new Counted(),
    async transactions() {
      seen.asked += 1;
      await held.promise;
      return { items: [], next: null };
    },
  });
  const service = await startService(source, {
    apiKey: API_KEY,
    port: null,
    store: createMemoryStore(Date.now),
  });
  made.defer(() => service.stop());
  return { ...service, seen, release: held.resolve };
};

const WALLET = DEMO_WALLETS[0]?.address ?? '';
const LOOKUP = {
  resource: 'transactions',
  method: 'GET',
  path: ['v1', 'evm', 'transactions', WALLET],
  cost: 1,
} as const;

const clientOf = (ask: Ask, limits: { connections?: number; timeoutMs?: number } = {}): UpstreamClient =>
  createUpstreamClient({
    ...{ url: 'http://index', keyHeader: 'X-Service-Api-Key', dispatcher: new InProcessDispatcher(ask) },
    ...{ timeoutMs: 20_000, connections: 4, perSecond: null, ...limits },
  });

const scopeOf = (signal: AbortSignal | null = null, key = API_KEY) => ({
  ...requestScope(),
  credential: { key, owner: 'client' } as const,
  deadline: createDeadline(60_000, () => signal),
});

describe('within the process', () => {
  test('a client that leaves is noticed at once, by the service too', async () => {
    await using made = new AsyncDisposableStack();
    const service = await openWaiting(made);
    const client = clientOf(service.ask);
    const leaving = new AbortController();
    const left = client.request(LOOKUP, scopeOf(leaving.signal));
    await expect.poll(() => service.seen.asked).toBe(1);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ failure: 'aborted', connection: 'aborted' });
    const within = new InProcessDispatcher(service.ask);
    const open = exchange(within, CHANGES);
    await expect.poll(() => service.seen.listening).toBe(1);
    await within.destroy();
    expect(service.seen.listening).toBe(0);
    expect(await open).toMatchObject({ status: 200, code: 'UND_ERR_DESTROYED' });
  });

  test('attempts time out, keep to the limit of connections, and what HTTP can not send is refused', async () => {
    await using made = new AsyncDisposableStack();
    const service = await openWaiting(made);
    const client = clientOf(service.ask, { timeoutMs: 300, connections: 2 });
    const all = Array.from({ length: 3 }, () => client.request({ ...LOOKUP, method: 'GET' }, scopeOf()));
    await expect.poll(() => service.seen.asked).toBe(2);
    service.release();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expect(client.request(LOOKUP, scopeOf(null, 'not\na header'))).rejects.toMatchObject({
      failure: 'unsendable',
    });
    expect(service.seen.asked).toBe(3);

    const slow = await openWaiting(made);
    const impatient = clientOf(slow.ask, { timeoutMs: 50 });
    await expect(impatient.request(LOOKUP, scopeOf())).rejects.toMatchObject({ failure: 'timeout' });
  });

  test('timers fire while one client asks for page after page', async () => {
    await using made = new AsyncDisposableStack();
    const sandbox = await startSandbox();
    made.defer(() => sandbox.stop());
    const within = new InProcessDispatcher(sandbox.ask);
    let asked = 0;
    let firedAfter: number | null = null;
    setTimeout(() => {
      firedAfter = asked;
    }, 1);
    for (; asked < 300; asked += 1) await exchange(within, { ...CHANGES, path: '/v1/evm/supported-chains' });
    expect(firedAfter).toBeLessThan(asked);
  });

  test.each([
    ['of 9 MB', 9, 64],
    ['larger than an answer may be', 33, 64],
    ['larger than the memory that is left', 9, 4],
  ])('an answer %s has the same end as over HTTP', async (_what, megabytes, memory) => {
    await using made = new AsyncDisposableStack();
    const sandbox = await startSandbox();
    made.defer(() => sandbox.stop());
    const body = JSON.stringify({ text: 'x'.repeat(megabytes * 1024 * 1024) });
    sandbox.faults.set([{ path: '*', status: 200, headers: { 'content-type': 'application/json' }, body }]);
    const endsOf = async (dispatcher: RequestDispatcher) => {
      const bodyMemory = createMemoryBudget(memory * 1024 * 1024);
      // Of another answer. An answer alone gets all that it needs: which of several that is depends on when their bytes arrive.
      bodyMemory.reserve().grow(1);
      const client = createUpstreamClient({
        ...{
          url: sandbox.url,
          keyHeader: 'X-Key',
          dispatcher,
          timeoutMs: 20_000,
          connections: 4,
          perSecond: null,
        },
        bodyMemory,
      });
      made.defer(() => client.close());
      const asked = Array.from({ length: 3 }, () => client.request(LOOKUP, scopeOf()));
      return (await Promise.allSettled(asked)).map((end) =>
        end.status === 'fulfilled'
          ? end.value
          : [end.reason.failure, end.reason.connection, end.reason.message],
      );
    };
    expect(await endsOf(new InProcessDispatcher(sandbox.ask))).toEqual(
      await endsOf(createConnectionPool(sandbox.url, 4, 20_000)),
    );
  });
});
