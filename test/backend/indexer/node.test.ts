import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { NodeUnavailableError } from '../../../src/backend/node/errors.ts';
import { createNode, type EvmNode, probeNode } from '../../../src/backend/node/node.ts';
import { createSocketTransport } from '../../../src/backend/node/socket.ts';
import type { InternalTransfer } from '../../../src/backend/node/traces.ts';
import type { Hex } from '../../../src/backend/types.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import {
  accountsOf,
  deploy,
  deployLiar,
  place,
  receiptOf,
  said,
  sendTransaction,
} from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';

const CHAIN = 31_337;
const MULTICALL: Hex = '0xca11bde05977b3631167028862be2a173976ca11';

let anvil: Anvil;

beforeAll(async () => {
  anvil = await startAnvil();
});

afterAll(async () => {
  await anvil[Symbol.asyncDispose]();
});

const nodeOf = (url: string, options: { chainId?: number; timeoutMs?: number; pollMs?: number } = {}) => {
  const node = createNode({ url, chainId: CHAIN, ...options });
  return Object.assign(node, { [Symbol.asyncDispose]: () => node.close() });
};

/** The number of a block with a transfer. */
const blockWithTransfers = async (count: number): Promise<number> => {
  const [from, to] = await accountsOf(anvil.url);
  await anvil.rpc('evm_setAutomine', false);
  for (let sent = 0; sent < count; sent++)
    await sendTransaction(anvil.url, to, '0x', { ...(from && { from }), value: 5n });
  await anvil.rpc('evm_mine');
  await anvil.rpc('evm_setAutomine', true);
  return anvil.head();
};

describe.each(['http', 'ws'])('a node over %s', (protocol) => {
  test('answers blocks with their receipts', async () => {
    await using node = nodeOf(anvil.url.replace('http', protocol));
    const [from, to] = await accountsOf(anvil.url);
    const number = await blockWithTransfers(3);
    const fetched = await node.block(number);
    expect(fetched?.block).toMatchObject({ ...(await node.head()), number });
    expect(fetched?.block.transactions.map((transaction) => [transaction.from, transaction.to])).toEqual(
      Array.from({ length: 3 }, () => [from, to]),
    );
    expect(fetched?.receipts.map(({ transactionHash }) => transactionHash)).toEqual(
      fetched?.block.transactions.map(({ hash }) => hash),
    );
    expect(await node.block(number + 100)).toBeNull();
    expect(await node.find(fetched?.block.parentHash ?? '0x')).toEqual(await node.find(number - 1));
    expect(await node.find(number + 100)).toBeNull();
  });

  test('tells of new blocks', async () => {
    await using node = nodeOf(anvil.url.replace('http', protocol));
    const heads: number[] = [];
    node.onHead(
      ({ number }) => heads.push(number),
      () => {},
    );
    await expect.poll(() => heads.length).toBeGreaterThan(0);
    const before = await anvil.head();
    await anvil.mine();
    await expect.poll(() => heads).toContain(before + 1);
  });
});

test('blocks that are not announced are found by polling, and the node is asked no more than it must', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  await using node = nodeOf(faulty.url, { pollMs: 20 });
  const heads: number[] = [];
  node.onHead(
    ({ number }) => heads.push(number),
    () => {},
  );
  await anvil.mine();
  const number = await anvil.head();
  await expect.poll(() => heads).toContain(number);
});

test.each(['trace_block', 'debug_traceBlockByHash', 'debug_traceTransaction'])(
  'native currency that contracts move is found by %s, but not what was moved back',
  async (method) => {
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.call = (call, ask) =>
      /trace/.test(call.method) && call.method !== method
        ? { error: { code: -32_601, message: 'Method not found' } }
        : ask();
    await using node = nodeOf(faulty.url);
    const [, friend = '0x', other = '0x'] = await accountsOf(anvil.url);
    const payer = await deploy(anvil.url, 'Payer');
    const internal = async () => {
      const { block } = (await node.block(await anvil.head())) ?? {};
      if (block === undefined) throw new Error('expected a block, got none');
      return node.traces({
        ...block,
        transactions: block.transactions.map((each) => each.hash),
        wanted: [0],
      });
    };
    await payer.mine('split', [[friend, other]], { value: 7n });
    const split = [
      { from: payer.address, to: friend, value: 3n },
      { from: payer.address, to: other, value: 4n },
    ];
    const ended = (moved: readonly InternalTransfer[]) =>
      new Map([[0, { success: true, created: null, internal: moved }]]);
    expect(await internal()).toEqual(ended(split));
    await payer.mine('payInVain', [friend], { value: 9n });
    expect(await internal()).toEqual(ended([]));
    await payer.mine('leave', [friend]);
    expect(await internal()).toEqual(ended([{ from: payer.address, to: friend, value: 9n }]));
  },
);

test('contracts are asked one by one, or together where Multicall3 is, and liars spoil no answer of others', async () => {
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const liar = await deployLiar(anvil.url, {
    'decimals()': 'burns gas',
    'name()': { length: 1_000_000 },
    'symbol()': { reverts: '0x' },
  });
  const asked = ['decimals', 'name', 'symbol'].flatMap((method) => [
    { to: coin.address, data: coin.data(method) },
    { to: liar.address, data: coin.data(method) },
  ]);
  const expected = await Promise.all(
    ['decimals', 'name', 'symbol'].flatMap((method) => [
      anvil.rpc('eth_call', { to: coin.address, data: coin.data(method) }, 'latest'),
      // The gas that a call may take is the node's limit, and no answer of the contract.
      method === 'decimals' ? 'failed' : null,
    ]),
  );
  {
    await using alone = nodeOf(anvil.url);
    expect(await said(alone.calls(asked))).toEqual(expected);
  }
  await place(anvil.url, 'Multicall3', MULTICALL);
  await using faulty = await startFaultyNode(anvil.url);
  await using together = nodeOf(faulty.url);
  const honest = asked.filter(({ to }) => to === coin.address);
  expect(await Promise.all(together.calls(honest))).toEqual(expected.filter((_, at) => at % 2 === 0));
  expect(faulty.requests.flat().filter(({ method }) => method === 'eth_call')).toHaveLength(1);
  expect(await said(together.calls(asked))).toEqual(expected);
});

test('balances are those of a block, and a state that the node lacks is an error, not a balance', async () => {
  await using node = nodeOf(anvil.url);
  const [from = '0x', to = '0x'] = await accountsOf(anvil.url);
  const before = await anvil.head();
  const [had] = await node.balances([to], before);
  await receiptOf(anvil.url, await sendTransaction(anvil.url, to, '0x', { from, value: 11n }));
  expect(await node.balances([to], before)).toEqual([had]);
  expect(await node.balances([to])).toEqual([(had ?? 0n) + 11n]);
  await expect(node.balances([to], before + 1000)).rejects.toThrow(/out ?of ?range/i);
});

test('a state is that of a certain block, or of its number where the node does not take hashes', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  const [from = '0x', , to = '0x'] = await accountsOf(anvil.url);
  const pay = async (value: bigint) => {
    await receiptOf(anvil.url, await sendTransaction(anvil.url, to, '0x', { from, value }));
    return node.head();
  };
  await using node = nodeOf(faulty.url);
  const before = await node.head();
  const snapshot = await anvil.rpc('evm_snapshot');
  const [had = 0n] = await node.balances([to], before);
  const gone = await pay(3n);
  expect(await node.balances([to], gone)).toEqual([had + 3n]);
  expect(await node.balances([to], before)).toEqual([had]);
  await anvil.rpc('evm_revert', snapshot);
  await pay(4n);
  await expect(node.balances([to], gone)).rejects.toThrow('not found');
  await expect(node.calls([{ to, data: '0x' }], gone)[0]).rejects.toThrow('not found');

  const refusal = { error: { code: -32_602, message: 'invalid argument 1: json: cannot unmarshal object' } };
  faulty.faults.call = ({ params }, ask) => (typeof params[1] === 'object' ? refusal : ask());
  await using another = nodeOf(faulty.url);
  expect(await another.balances([to], gone)).toEqual([had + 4n]);
  expect(await another.calls([{ to, data: '0x' }], gone)[0]).toBe('0x');
  const byHash = faulty.requests.flat().filter(({ params }) => typeof params[1] === 'object');
  expect(byHash.at(-1)?.params[1]).toEqual({ blockHash: gone.hash, requireCanonical: true });
});

describe('a node with limits', () => {
  test('receipts are fetched one by one where the node has no method for those of a block', async () => {
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.call = (call, ask) =>
      call.method === 'eth_getBlockReceipts'
        ? { error: { code: -32601, message: 'Method not found' } }
        : ask();
    await using node = nodeOf(faulty.url);
    const number = await blockWithTransfers(3);
    const fetched = await node.block(number);
    expect(fetched?.receipts).toHaveLength(3);
    await node.block(number);
    const methods = faulty.requests.flat().map(({ method }) => method);
    expect(methods.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1);
  });

  test('calls that a node is too busy for are repeated', async () => {
    await using faulty = await startFaultyNode(anvil.url);
    let refusals = 0;
    faulty.faults.call = (call, ask) =>
      call.method === 'eth_getBalance' && refusals++ < 3
        ? { error: { code: -32005, message: 'rate limit exceeded' } }
        : ask();
    faulty.faults.request = (_calls, response) => {
      if (refusals > 3 || refusals++ > 0) return false;
      response.writeHead(503, { 'retry-after': '0' }).end();
      return true;
    };
    await using node = nodeOf(faulty.url);
    expect(await node.balances(await accountsOf(anvil.url))).toHaveLength(10);
  });
});

describe('a node that answers wrongly', () => {
  /** Answers one kind of calls wrongly, a number of times. */
  const wrongly = async (
    method: string,
    wrong: (right: unknown) => unknown,
    times = Number.POSITIVE_INFINITY,
  ) => {
    const faulty = await startFaultyNode(anvil.url);
    let left = times;
    faulty.faults.call = async (call, ask) => {
      const answer = await ask();
      return call.method === method && left-- > 0 ? { result: wrong(answer.result) } : answer;
    };
    return faulty;
  };
  const changed = (change: object) => (right: unknown) =>
    Array.isArray(right) ? right.map((item) => ({ ...item, ...change })) : { ...Object(right), ...change };
  const withTransactions =
    (change: (transactions: readonly object[]) => readonly object[]) => (right: unknown) => {
      const { transactions } = Object(right);
      return { ...Object(right), transactions: change(transactions) };
    };
  const ZERO = `0x${'0'.repeat(64)}`;

  test.each<[what: string, method: string, wrong: (right: unknown) => unknown, message: RegExp]>([
    ['another block', 'eth_getBlockByNumber', changed({ number: '0x1' }), /expected block \d+, got block 1$/],
    ['a block of garbage', 'eth_getBlockByNumber', () => 'garbage', /expected a block, got "garbage"/],
    [
      'a time beyond time',
      'eth_getBlockByNumber',
      changed({ timestamp: '0xffffffffffff' }),
      /the time of a block/,
    ],
    ['only hashes', 'eth_getBlockByNumber', changed({ transactions: [ZERO] }), /expected a transaction, got/],
    [
      '10 MB of garbage',
      'eth_getBlockByNumber',
      () => 'x'.repeat(10_000_000),
      /expected a block, got "x{50,200}…$/,
    ],
    [
      'a time in milliseconds',
      'eth_getBlockByNumber',
      changed({ timestamp: '0x199999999ff' }),
      /expected the time of a block in seconds, until the year 9999, got "0x199999999ff, which looks like milliseconds"/,
    ],
    [
      'a number that the index has no room for',
      'eth_getBlockByNumber',
      changed({ number: '0x1000000000' }),
      /expected the number of a block below 2\^36, got "0x1000000000"/,
    ],
    ...(['nonce', 'type'] as const).map((member): [string, string, (right: unknown) => unknown, RegExp] => [
      `a ${member} that would be rounded`,
      'eth_getBlockByNumber',
      withTransactions((transactions) =>
        transactions.map((each) => ({ ...each, [member]: '0x20000000000001' })),
      ),
      new RegExp(`expected the ${member} of a transaction below 2\\^53`),
    ]),
    [
      'a transaction twice',
      'eth_getBlockByNumber',
      withTransactions((transactions) => [...transactions, ...transactions.slice(0, 1)]),
      /expected each transaction of block \d+ once, got one twice/,
    ],
    [
      'more transactions than the index has room for',
      'eth_getBlockByNumber',
      withTransactions(() => Array.from({ length: 2 ** 20 + 1 }, () => ({}))),
      /expected at most 2\^20 transactions of block \d+, got 1048577/,
    ],
  ])('%s is an error that names it', async (_, method, wrong, message) => {
    const number = await blockWithTransfers(3);
    await using faulty = await wrongly(method, wrong);
    await using node = nodeOf(faulty.url);
    await expect(node.block(number)).rejects.toThrow(message);
  });

  test.each<[what: string, wrong: (right: unknown) => unknown, oneByOne: number]>([
    ['those of another block', changed({ blockHash: ZERO }), 3],
    ['one too few', (right) => Object(right).slice(1), 1],
    ['none', () => [], 3],
    ['null', () => null, 3],
    ['one twice', (right) => [...Object(right).slice(1), Object(right)[1]], 1],
    ['garbage', () => 'garbage', 3],
    ['one of them garbage', (right) => [null, ...Object(right).slice(1)], 1],
    ['logs that are no list', changed({ logs: {} }), 3],
    ['a status that there is none of', changed({ status: '0x2' }), 3],
    ['another order', (right) => Object(right).toReversed(), 0],
  ])('receipts are %s: those that are missing are asked for one by one', async (_, wrong, oneByOne) => {
    const number = await blockWithTransfers(3);
    await using faulty = await wrongly('eth_getBlockReceipts', wrong);
    await using node = nodeOf(faulty.url);
    const fetched = await node.block(number);
    expect(fetched?.receipts.map(({ transactionHash }) => transactionHash)).toEqual(
      fetched?.block.transactions.map(({ hash }) => hash),
    );
    const asked = faulty.requests.flat().filter(({ method }) => method === 'eth_getTransactionReceipt');
    expect(asked).toHaveLength(oneByOne);
  });

  test.each<[what: string, method: string, wrong: (right: unknown) => unknown]>([
    ['are missing', 'eth_getTransactionReceipt', () => null],
    ['are of another block', 'eth_getTransactionReceipt', changed({ blockHash: ZERO })],
  ])(
    'a block whose receipts %s is asked for again, and is no block until they are there',
    async (_, method, wrong) => {
      const number = await blockWithTransfers(3);
      let left = 0;
      await using faulty = await wrongly(method, (right) => (left-- > 0 ? wrong(right) : right));
      const { call } = faulty.faults;
      faulty.faults.call = (asked, ask) =>
        asked.method === 'eth_getBlockReceipts'
          ? { error: { code: -32601, message: 'no' } }
          : (call?.(asked, ask) ?? ask());
      await using node = nodeOf(faulty.url);
      left = 2;
      expect((await node.block(number))?.receipts).toHaveLength(3);
      left = Number.POSITIVE_INFINITY;
      await expect(node.block(number)).rejects.toThrow(/expected the receipt of/);
    },
  );

  test('answers in another order are matched to their calls', async () => {
    const number = await blockWithTransfers(3);
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.request = async (calls, response) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(anvil.url, { method: 'POST', headers, body: JSON.stringify(calls) });
      response.end(JSON.stringify([(await answer.json()) as unknown].flat().reverse()));
      return true;
    };
    await using node = nodeOf(faulty.url);
    expect((await node.block(number))?.block.number).toBe(number);
  });

  test('no JSON, and an answer of another chain, are errors that name them', async () => {
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.request = (_calls, response) => {
      response.end('<html>');
      return true;
    };
    {
      await using node = nodeOf(faulty.url);
      await expect(node.head()).rejects.toThrow('expected answers of JSON-RPC to 1 calls, got "<html>"');
    }
    await using other = nodeOf(anvil.url, { chainId: 5 });
    await expect(other.head()).rejects.toThrow(`expected a node of chain 5, got chain ${CHAIN}`);
  });

  test('a node that does not answer in time is given up', async () => {
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.request = () => true;
    await using node = nodeOf(faulty.url, { timeoutMs: 50 });
    await expect(node.head()).rejects.toThrow('expected an answer in 50 ms');
  });
});

test.each([
  ['no JSON', (text: string) => text],
  ['a result', (text: string, id?: number) => JSON.stringify({ jsonrpc: '2.0', id, result: text })],
  ["another call's result", (text: string) => JSON.stringify({ jsonrpc: '2.0', id: 0, result: text })],
  [
    'an error',
    (text: string, id?: number) => JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: text } }),
  ],
])('no error has the credentials of the URL, also where the node repeats them in %s', async (_, answer) => {
  const secrets = ['hunter2hunter2', 'k3yk3yk3yk3y', 'q9q9q9q9q9'];
  await using faulty = await startFaultyNode(anvil.url);
  faulty.faults.request = (calls, response) => {
    const isAsked = calls.some(({ method }) => method === 'eth_chainId');
    const id = calls[0]?.id;
    const known = JSON.stringify({ jsonrpc: '2.0', id, result: `0x${CHAIN.toString(16)}` });
    response.end(isAsked ? known : answer(`No access for ${secrets.join(' ')}`, id));
    return true;
  };
  const url = `http://user:${secrets[0]}@${faulty.host}/v2/${secrets[1]}?key=${secrets[2]}`;
  await using node: EvmNode & AsyncDisposable = nodeOf(url);
  const questions = [
    () => node.head(),
    () => node.block(1),
    () => node.balances(['0x']),
    () => probeNode(url),
  ];
  for (const ask of questions) {
    const problem = await ask().catch((error: unknown) => error);
    expect(String(problem)).toContain('No access for');
    for (const secret of secrets) expect(`${String(problem)} ${node.name}`).not.toContain(secret);
  }
});

describe('probing a node', () => {
  test('says what anvil can do', async () => {
    expect(await probeNode(anvil.url)).toEqual({
      chainId: CHAIN,
      client: expect.stringMatching(/^anvil/),
      head: await anvil.head(),
      receipts: 'block',
      traces: 'block',
      heads: 'websocket',
      multicall: true,
      older: true,
      pruned: false,
    });
  });

  test('says what a limited node can not do', async () => {
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.call = (call, ask) =>
      /Receipts|debug|getCode|ots_/.test(call.method) ? { error: { code: -32601, message: 'no' } } : ask();
    expect(await probeNode(faulty.url)).toMatchObject({
      receipts: 'one by one',
      traces: { problem: 'no' },
      heads: 'polling',
      multicall: false,
      older: false,
    });
  });

  test('says why it can not reach a node', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    server.close();
    const port = typeof address === 'object' ? address?.port : 0;
    await expect(probeNode(`http://127.0.0.1:${port}`)).rejects.toThrow('ECONNREFUSED');
  });

  test('waits for a WebSocket that does not open, without a heartbeat on it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    // It accepts connections, and says nothing.
    const server = createServer().listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const transport = createSocketTransport({
        url: new URL(`ws://127.0.0.1:${port}`),
        handshakeMs: 60_000,
        redact: (text) => text,
        onLost() {},
      });
      const asked = transport.send([{ method: 'eth_chainId', params: [] }], 60_000);
      await once(server, 'connection');
      vi.advanceTimersByTime(120_000);
      transport.close();
      await expect(asked).rejects.toThrow(NodeUnavailableError);
    } finally {
      vi.useRealTimers();
      server.close();
    }
  });
});
