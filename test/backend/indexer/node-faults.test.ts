import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SilentNodeError } from '../../../src/backend/node/errors.ts';
import { createNode, type EvmNode } from '../../../src/backend/node/node.ts';
import type { Hex } from '../../../src/backend/types.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy, place } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { NODE_FAULTS, type NodeFault, SILENCE } from './support/node-faults.ts';

/** A node that fails says nothing: whatever it answers in a bad minute is asked again, and never taken for an answer. */

const CHAIN = 31_337;
const MULTICALL: Hex = '0xca11bde05977b3631167028862be2a173976ca11';

let anvil: Anvil;
let coin: Contract;
let owner: Hex;
/** A block with a transfer of the token. */
let number: number;
let hash: Hex;

beforeAll(async () => {
  anvil = await startAnvil();
  [owner = '0x'] = await accountsOf(anvil.url);
  coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const { blockNumber, blockHash } = await coin.mine('mint', [owner, 5n]);
  [number, hash] = [blockNumber, blockHash];
});

afterAll(async () => {
  await anvil[Symbol.asyncDispose]();
});

type Asked = {
  /** The methods that fail. */
  readonly methods: readonly string[];
  readonly ask: (node: EvmNode) => Promise<unknown>;
  /** Methods that the node does not have. */
  readonly without?: readonly string[];
};

const blockOf = (node: EvmNode) => node.block(number);

const QUESTIONS: Readonly<Record<string, Asked>> = {
  head: { methods: ['eth_getBlockByNumber'], ask: (node) => node.head() },
  'a block by its number': { methods: ['eth_getBlockByNumber'], ask: (node) => node.find(number) },
  'a block by its hash': {
    methods: ['eth_getBlockByHash'],
    ask: (node) => node.find(hash),
  },
  'a block': { methods: ['eth_getBlockByNumber'], ask: blockOf },
  'all receipts of a block': { methods: ['eth_getBlockReceipts'], ask: blockOf },
  'each receipt of a block': {
    methods: ['eth_getTransactionReceipt'],
    without: ['eth_getBlockReceipts'],
    ask: blockOf,
  },
  'the id of the chain': { methods: ['eth_chainId'], ask: (node) => node.head() },
  'a balance': {
    methods: ['eth_getBalance'],
    ask: async (node) => String(await node.balances([owner], number)),
  },
  'a contract': {
    methods: ['eth_call'],
    ask: (node) => Promise.all(node.calls([{ to: coin.address, data: coin.data('name') }], number)),
  },
  'several contracts': {
    methods: ['eth_call'],
    ask: (node) =>
      Promise.all(
        node.calls(
          ['name', 'symbol', 'decimals'].map((method) => ({ to: coin.address, data: coin.data(method) })),
          number,
        ),
      ),
  },
  'whether there is Multicall3': {
    methods: ['eth_getCode'],
    ask: (node) =>
      Promise.all(
        node.calls(['name', 'symbol'].map((method) => ({ to: coin.address, data: coin.data(method) }))),
      ),
  },
};

/** What comes of a question while a fault lasts: for one call, or for all. */
const outcome = async (
  protocol: string,
  { methods, without = [], ask }: Asked,
  fault: NodeFault,
  times = Number.POSITIVE_INFINITY,
): Promise<unknown> => {
  await using faulty = await startFaultyNode(anvil.url, { webSocket: true });
  const url = faulty.url.replace('http', protocol);
  // Over a WebSocket it is only the time that says that an answer is missing.
  const isWaiting = fault === SILENCE || (protocol === 'ws' && NEVER_ANSWERED.test(fault.name));
  const node = createNode({ url, chainId: CHAIN, timeoutMs: isWaiting ? 1_000 : 30_000 });
  try {
    faulty.faults.call = (call, right) =>
      without.includes(call.method) ? { error: { code: -32_601, message: 'Method not found' } } : right();
    const injected = faulty.inject(fault, { meets: ({ method }) => methods.includes(method), times });
    // On a busy machine a call before the one that fails may take longer than the timeout.
    for (let tries = 0; tries < 20; tries += 1) {
      const answer = await ask(node).catch(() => 'failed');
      if (injected.hits() > 0) return answer;
    }
    return expect.fail(`expected a question that meets the fault ${fault.name}`);
  } finally {
    await node.close();
  }
};

/** The faults of which anything else comes than what may. */
const surprises = async (protocol: string, asked: Asked, times: number, allowed: readonly unknown[]) => {
  const found = await Promise.all(
    NODE_FAULTS.map(async (fault) => [fault.name, await outcome(protocol, asked, fault, times)] as const),
  );
  const isAllowed = (answer: unknown) =>
    allowed.some((each) => JSON.stringify(each) === JSON.stringify(answer));
  return found.filter(([, answer]) => !isAllowed(answer));
};

const NEVER_ANSWERED = /wrong id|answer that is missing/;
/** Faults after which a call is not repeated: the caller asks again later. */
const LASTING = /out of gas|method does not exist|silence/;

const isBlock = ({ methods }: Asked): boolean =>
  methods.some((method) => method.startsWith('eth_getBlockBy'));

const KINDS = [
  { protocol: 'http', deployed: false },
  { protocol: 'ws', deployed: false },
  { protocol: 'http', deployed: true },
];

describe.each(KINDS)(
  'a node that fails over $protocol, with Multicall3: $deployed',
  ({ protocol, deployed }) => {
    beforeAll(async () => {
      if (deployed) await place(anvil.url, 'Multicall3', MULTICALL);
    });

    const questions = Object.entries(QUESTIONS).filter(
      ([name]) => !deployed || /several|Multicall3/.test(name),
    );

    test.each(questions)(
      '%s: what it says instead is no answer, and is asked for again',
      async (_, asked) => {
        const node = createNode({ url: anvil.url, chainId: CHAIN });
        const right = await asked.ask(node);
        await node.close();
        // That there is no such block is an answer, of a node that is behind.
        const allowed = [right, ...(isBlock(asked) ? [null] : [])];
        const always = await surprises(protocol, asked, Number.POSITIVE_INFINITY, [...allowed, 'failed']);
        expect(always).toEqual([]);
        const once = await surprises(protocol, asked, 1, allowed);
        const isLasting = (name: string) =>
          LASTING.test(name) || (protocol === 'ws' && NEVER_ANSWERED.test(name));
        expect(once.filter(([name]) => !isLasting(name))).toEqual([]);
      },
    );
  },
);

test('a contract says nothing where the EVM itself says so, in the words of any node', async () => {
  const halts: readonly (readonly [code: number, message: string, data?: unknown])[] = [
    [3, 'execution reverted', '0x'],
    [3, 'execution reverted: out of gas', '0x08c379a0'],
    [-32_000, 'execution reverted'],
    [-32_000, 'execution reverted: header not found'],
    [-32_000, 'Execution reverted (rate limit exceeded)'],
    [-32_000, 'invalid opcode: INVALID'],
    [-32_000, 'invalid opcode: opcode 0xfe not defined'],
    [-32_000, 'invalid jump destination'],
    [-32_000, 'stack underflow (0 <=> 1)'],
    [-32_000, 'stack limit reached 1024 (1023)'],
    [-32_000, 'write protection'],
    [-32_003, 'EVM error: InvalidFEOpcode'],
    [-32_603, 'EVM error StackUnderflow'],
    [-32_603, 'evm error: InvalidCode(Opcode(254))'],
    [-32_015, 'VM execution error.', 'Reverted 0x7a933234'],
    [-32_015, 'VM execution error.', 'revert'],
    [-32_015, 'VM execution error.', 'Bad instruction fe'],
    [-32_015, 'StackUnderflow'],
    [-32_000, 'Transaction processing could not be completed due to an exception (Invalid opcode: 0xaa)'],
    [-32_603, "Error: VM Exception while processing transaction: reverted with reason string 'x'"],
    [-32_603, 'Error: Transaction reverted without a reason string'],
    [-32_603, 'VM Exception while processing transaction: invalid opcode'],
  ];
  await using faulty = await startFaultyNode(anvil.url);
  const node = createNode({ url: faulty.url, chainId: CHAIN });
  try {
    for (const [code, message, data] of halts) {
      const injected = faulty.inject(
        { name: message, answer: () => ({ error: { code, message, data } }) },
        { meets: ({ method }) => method === 'eth_call' },
      );
      const [said] = await Promise.all(node.calls([{ to: coin.address, data: coin.data('name') }]));
      expect([message, said, injected.hits()]).toEqual([message, null, 1]);
      injected.end();
    }
  } finally {
    await node.close();
  }
});

test('an answer to another call, and a batch that lacks one, are asked for again', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  const node = createNode({ url: faulty.url, chainId: CHAIN });
  const accounts = await accountsOf(anvil.url);
  try {
    const right = await node.balances(accounts);
    for (const name of ['a wrong id', 'no id', 'an answer that is missing']) {
      const fault = NODE_FAULTS.find((each) => each.name === name);
      if (fault === undefined) throw new Error(`expected the fault ${name}`);
      const injected = faulty.inject(fault, { meets: ({ params }) => params[0] === accounts[3], times: 1 });
      expect(await node.balances(accounts)).toEqual(right);
      expect(injected.hits()).toBe(1);
    }
  } finally {
    await node.close();
  }
});

test.each(['http', 'ws'])(
  'a node that takes calls over %s and does not answer is a problem, since when it is silent',
  async (protocol) => {
    await using faulty = await startFaultyNode(anvil.url, { webSocket: true });
    const node = createNode({
      url: faulty.url.replace('http', protocol),
      chainId: CHAIN,
      timeoutMs: 2_000,
      pollMs: 50,
    });
    const heads: number[] = [];
    const problems: unknown[] = [];
    try {
      node.onHead(
        (head) => heads.push(head.number),
        (problem) => problems.push(problem),
      );
      // Blocks are announced, too.
      await expect
        .poll(() => faulty.requests.flat().some(({ method }) => method === 'eth_subscribe'))
        .toBe(true);
      await anvil.mine();
      await expect.poll(() => heads).toContain(await anvil.head());
      const before = Date.now();
      const silence = faulty.inject(SILENCE);
      await anvil.mine();
      await expect.poll(() => problems.length).toBeGreaterThan(2);
      expect(problems.every((problem) => problem instanceof SilentNodeError)).toBe(true);
      const since = new Set(
        problems.map((problem) => (problem instanceof SilentNodeError ? problem.silentSince : 0)),
      );
      expect([...since]).toEqual([expect.toSatisfy((time: number) => time <= before + 1_000)]);
      silence.end();
      await expect.poll(() => heads).toContain(await anvil.head());
    } finally {
      await node.close();
    }
  },
);

test('what a node could not do is tried again after some time', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    await using faulty = await startFaultyNode(anvil.url);
    const missing: NodeFault = {
      name: 'no method',
      answer: () => ({ error: { code: -32_601, message: 'Method not found' } }),
    };
    const injected = faulty.inject(missing, { meets: ({ method }) => method === 'eth_getBlockReceipts' });
    const asked = () =>
      faulty.requests.flat().filter(({ method }) => method === 'eth_getBlockReceipts').length;
    const node = createNode({ url: faulty.url, chainId: CHAIN });
    const pass = async (minutes: number) => {
      vi.setSystemTime(Date.now() + minutes * 60_000);
      expect((await node.block(number))?.receipts).toHaveLength(1);
      return asked();
    };
    try {
      // After one minute, two and four, and then at once, as it works again.
      const counts: number[] = [];
      for (const minutes of [0, 0.5, 0.6, 1, 1.1, 3.9]) counts.push(await pass(minutes));
      expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
      // Blocks that are fetched together fail together, which counts once.
      vi.setSystemTime(Date.now() + 12_000);
      await Promise.all([number, number, number].map((each) => node.block(each)));
      injected.end();
      for (const minutes of [7.9, 0.2, 0]) counts.push(await pass(minutes));
      expect(counts.slice(6)).toEqual([6, 7, 8]);
    } finally {
      await node.close();
    }
  } finally {
    vi.useRealTimers();
  }
});
