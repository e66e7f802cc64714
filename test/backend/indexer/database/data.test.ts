import fc from 'fast-check';
import { getSelector } from 'ox/AbiFunction';
import { describe, expect, test } from 'vitest';
import { ZERO_ADDRESS } from '../../../../src/backend/evm/address.ts';
import type { ParsedBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import { byStandard } from '../../../../src/backend/indexer/blocks/readings.ts';
import { IndexedData } from '../../../../src/backend/indexer/queries/data.ts';
import type { StateReader } from '../../../../src/backend/indexer/queries/state.ts';
import type { StateAt } from '../../../../src/backend/node/block-tags.ts';
import { RpcError } from '../../../../src/backend/node/errors.ts';
import type { AssetBalance, Holding, Part, Place, Wanted } from '../../../../src/backend/source.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { runs } from '../../../support/runs.ts';
import { address, logs } from '../support/blocks.ts';
import {
  ACCOUNTS,
  buildAll,
  CHAIN,
  CHAINS,
  content,
  listAll,
  NOBODY,
  OTHER_CHAIN,
  openIndex,
  TOKENS,
} from '../support/histories.ts';
import { Scan } from '../support/scan.ts';

const ignore = () => {};
const ALL = new Set(CHAINS.map(({ id }) => id));
const ALICE = address('alice');
const BOB = address('bob');
const COIN = address('one');
const ART = address('other');
/** What nodes say of every balance and supply. */
const SAID = 9n;
const FAILED = [{ chainId: CHAIN.id, reason: null }];

const NOT_SAID = { name: null, symbol: null, decimals: null };

/** Says that every contract is an ERC-20, except those that have not said yet what they are. */
const contractsOf = (pending: ReadonlySet<Hex>) => ({
  contract: (_: number, token: Hex) => ({
    ...({ standard: 'erc20', name: 'Coin', symbol: 'COIN', decimals: 18, isPending: false } as const),
    ...(pending.has(token) && { ...NOT_SAID, isPending: true }),
  }),
  token: (chainId: number, token: Hex) => ({
    ...({ address: token, standard: 'erc20', name: 'Coin', symbol: 'COIN', decimals: 18 } as const),
    chain: CHAINS.find(({ id }) => id === chainId) ?? CHAIN,
  }),
  tokens: () => [],
  readings: (_: number, token: Hex) => byStandard(token),
  isOpen: (_: number, token: Hex) => pending.has(token),
  mayHaveOtherNfts: () => pending.size > 0,
});

type Options = {
  readonly blocks?: readonly ParsedBlock[];
  /** The first block that is to be indexed. Default: the first one. */
  readonly start?: number;
  readonly patienceMs?: number;
  /** Contracts of which it is not known what they say. */
  readonly pending?: ReadonlySet<Hex>;
  /** What contracts say on each chain. Default: 9 of all. */
  readonly said?: (chainId: number, question: Question) => bigint;
};

/** A call of a contract for a number: of whom, or of all. */
type Question = { readonly to: Hex; readonly data: Hex };

const accountIn = ({ data }: Question): Hex | null => (data.length < 74 ? null : `0x${data.slice(-40)}`);

const shown = (block: StateAt | undefined) => (typeof block === 'object' ? block.hash : block);

/** A node that says of every account that it has this much of all, and counts what it is asked for. */
class CountingNode implements StateReader {
  readonly asked: string[] = [];
  /** What it fails with. */
  problem: Error | null = null;
  /** What it fails with for single contracts, or null where they say nothing. */
  readonly contracts = new Map<Hex, Error | null>();
  /** What contracts say. Default: the amount. */
  said: (question: Question) => bigint;
  readonly #amount: bigint;

  constructor(amount: bigint) {
    this.#amount = amount;
    this.said = () => amount;
  }

  async balances(accounts: readonly Hex[], block?: StateAt): Promise<readonly bigint[]> {
    this.asked.push(`balances of ${accounts.length} at ${shown(block)}`);
    if (this.problem && block !== undefined) throw this.problem;
    return accounts.map(() => this.#amount);
  }

  calls(list: readonly Question[], block?: StateAt): readonly Promise<Hex | null>[] {
    this.asked.push(`${list.length} calls at ${shown(block)}`);
    return list.map(async ({ to, data }): Promise<Hex | null> => {
      const problem = this.contracts.get(to) ?? (block === undefined ? null : this.problem);
      if (problem) throw problem;
      if (this.contracts.has(to)) return null;
      return `0x${this.said({ to, data }).toString(16).padStart(64, '0')}`;
    });
  }
}

const open = ({ blocks = [], start, patienceMs, pending = new Set(), said }: Options = {}) => {
  const { database, index } = openIndex();
  const nodes = new Map(CHAINS.map(({ id }) => [id, new CountingNode(SAID)]));
  if (said) for (const [id, node] of nodes) node.said = (question) => said(id, question);
  for (const block of blocks) index.append(block, ignore, NOBODY, start);
  const data = new IndexedData({
    database,
    index,
    chains: CHAINS,
    nodes,
    contracts: contractsOf(pending),
    metadata: { async meet() {} },
    differing: {
      has: () => false,
      behind: () => [],
      new: () => [],
      agrees() {},
      note() {},
      async settled() {},
    },
    ...(patienceMs && { patienceMs }),
  });
  return { index, data, node: nodes.get(CHAIN.id) ?? new CountingNode(SAID) };
};

/** An index that begins above the first blocks of its chains, and gets these by and by. */
const openLate = (chains: readonly (readonly ParsedBlock[])[], older: number, scan: Scan): IndexedData => {
  const first = Math.min(older, ...chains.map(({ length }) => length - 1));
  const { index, data } = open({
    ...{ blocks: chains.flatMap((blocks) => blocks[first] ?? []), start: 0 },
    said: (chainId, question) => honest(scan, chainId, question),
  });
  for (const blocks of chains) index.prepend(blocks.slice(0, first).toReversed());
  for (const block of chains.flatMap((blocks) => blocks.slice(first + 1))) {
    index.list(block.chainId, older);
    index.append(block, ignore, NOBODY);
  }
  for (const { id } of CHAINS) listAll(index, id);
  return data;
};

/** All items of a list, read in parts of this size. */
const walk = async <Item>(
  size: number,
  ask: (wanted: Wanted) => Part<Item> | Promise<Part<Item> | null> | null,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (let after: Place | null = null; ; ) {
    const part = await ask({ after, limit: size });
    items.push(...(part?.items ?? []));
    if (part === null || part.next === null) return items;
    after = part.next;
  }
};

const transactionsOf = (data: IndexedData, wallet: Hex, chainIds: ReadonlySet<number>, size: number) => {
  const found: string[] = [];
  for (let start: { place: Place; including: boolean } | null = null; ; ) {
    const { items, next } = data.transactions(wallet, chainIds, size, start);
    expect(items.length).toBeLessThanOrEqual(size);
    for (const { transaction } of items) found.push(transaction.hash);
    if (next === null) return found;
    const [again] = data.transactions(wallet, chainIds, 1, { place: next, including: true }).items;
    expect(again).toEqual(items.at(-1));
    start = { place: next, including: false };
  }
};

/** What the index lists, in the words of a scan. */
const inWords = {
  coin: ({ chain, token, amount }: AssetBalance) => `${chain.id} ${token} ${amount}`,
  nft: ({ chain, contract, tokenId, balance, acquiredAt }: Holding) =>
    `${acquiredAt} ${chain.id} ${contract} ${tokenId} ${balance}`,
};

const checkAccount = async (data: IndexedData, scan: Scan, account: Hex, size: number) => {
  for (const chains of [ALL, new Set([CHAIN.id]), new Set([OTHER_CHAIN.id])])
    expect(transactionsOf(data, account, chains, size)).toEqual(scan.transactions(account, chains));
  const balances = await walk(size, (wanted) => data.balances(account, ALL, wanted));
  const coins = balances.filter(({ token }) => token !== null);
  expect(coins.map(inWords.coin)).toEqual(scan.coinsOf(account, MOST));
  const nfts = await walk(size, (wanted) => data.holdings(account, ALL, wanted));
  expect(nfts.map(inWords.nft).toSorted()).toEqual(scan.nftsOf(account, MOST));
  const times = nfts.map(({ acquiredAt }) => acquiredAt);
  expect(times).toEqual(times.toSorted((one, other) => Number(other) - Number(one)));
};

const checkToken = async (data: IndexedData, scan: Scan, chainId: number, token: Hex, size: number) => {
  const issued = -scan.amountOf(chainId, token, ZERO_ADDRESS);
  const isBeyond = issued > MOST || -issued > MOST;
  const holders = await walk(size, async (wanted) => {
    const part = await data.holders(chainId, token, wanted);
    expect(part?.isWhole || isBeyond || part?.items.some(({ amount }) => amount === MOST)).toBe(true);
    return part;
  });
  const expected = scan.holdersOf(chainId, token, MOST);
  expect(holders.map(({ amount }) => amount)).toEqual(expected.map(({ amount }) => amount));
  // The order of those who have as much is not promised.
  expect(new Set(holders.map(({ place: _, ...holder }) => holder))).toEqual(new Set(expected));
};

/** The greatest number that a contract can say. */
const MOST = 2n ** 256n - 1n;

const OWNER_OF = getSelector('ownerOf(uint256)');
/** The digits of a call with one argument: what is longer asks for an id as well. */
const ONE_ARGUMENT = 74;

/** What contracts say that do what their events say, as far as they can. */
const honest = (scan: Scan, chainId: number, question: Question): bigint => {
  const { to, data } = question;
  if (data.startsWith(OWNER_OF)) return BigInt(scan.ownerOf(chainId, to, BigInt(`0x${data.slice(10)}`)));
  if (data.length > ONE_ARGUMENT) {
    const items = scan.itemsOf(chainId, to, BigInt(`0x${data.slice(74)}`), `0x${data.slice(34, 74)}`);
    return items > MOST ? MOST : items > 0n ? items : 0n;
  }
  const account = accountIn(question);
  const sum = scan.amountOf(chainId, question.to, account ?? ZERO_ADDRESS);
  const amount = account === null ? -sum : sum;
  return amount > MOST ? MOST : amount > 0n ? amount : 0n;
};

describe('the lists of the index', () => {
  test('are what a reader of all blocks finds, in pages of any size', async () => {
    const contents = fc.array(content, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(contents, contents),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(3),
        async (histories, size, older) => {
          const scan = new Scan();
          const chains = histories.map((each, at) => buildAll(CHAINS[at]?.id ?? 0, each));
          for (const block of chains.flat()) scan.add(block);
          const data = openLate(chains, older, scan);
          for (const account of [...ACCOUNTS, address('called'), address('created')])
            await checkAccount(data, scan, account, size);
          for (const { id } of CHAINS)
            for (const token of TOKENS) await checkToken(data, scan, id, token, size);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test('end a page early where its transactions are large', () => {
    const input: Hex = `0x${'ab'.repeat(3 * 1024 * 1024)}`;
    const { data } = open({
      blocks: buildAll(CHAIN.id, [[0, Array.from({ length: 5 }, () => ({ from: ALICE, input }))]]),
    });
    const { items, next } = data.transactions(ALICE, ALL, 100, null);
    expect([items.length, next]).toEqual([2, items[1]?.place]);
    expect(transactionsOf(data, ALICE, ALL, 100)).toHaveLength(5);
  });
});

/** Alice gets and gives coins and an NFT that the blocks before don't say that she had. */
const LATE = buildAll(CHAIN.id, [
  [0, []],
  [1, [{ from: BOB, logs: [logs.coin(COIN, BOB, ALICE, 4n), logs.unique(ART, ALICE, BOB, 1n)] }]],
  [1, [{ from: BOB, logs: [logs.unique(ART, BOB, ALICE, 1n), logs.unique(ART, BOB, ALICE, 2n)] }]],
]);

describe('an index that begins late', () => {
  test('asks tokens for balances at its head, and says where it begins', async () => {
    const { data, node } = open({ blocks: LATE.slice(1) });
    const { items, failed } = await data.balances(ALICE, new Set([CHAIN.id]), { after: null, limit: 10 });
    expect(items.map(({ token, amount }) => [token, amount])).toEqual([
      [null, SAID],
      [COIN, SAID],
    ]);
    expect(failed).toEqual([]);
    expect(node.asked).toEqual([`balances of 1 at ${LATE[2]?.hash}`, `1 calls at ${LATE[2]?.hash}`]);
    const { items: one } = await data.balances(ALICE, new Set([CHAIN.id]), { asset: address('never seen') });
    expect(one.map(({ amount }) => amount)).toEqual([SAID]);
    expect(data.beginning(CHAIN.id)).toEqual({ block: 1, isLate: true });
    expect(await data.supply(CHAIN.id, COIN)).toBe(SAID);
  });

  test('knows balances and holders once the blocks before are there', async () => {
    const { index, data, node } = open({ blocks: LATE.slice(1), start: 0 });
    index.prepend(LATE.slice(0, 1));
    expect(data.beginning(CHAIN.id)).toBeNull();
    const early = data.holders(CHAIN.id, COIN, { after: null, limit: 10 });
    await expect(early).rejects.toThrow('not in order yet');
    listAll(index, CHAIN.id);
    node.said = (question) => (accountIn(question) === ALICE ? 4n : 0n);
    const { items } = await data.balances(ALICE, new Set([CHAIN.id]), { after: null, limit: 10 });
    expect(items.map(({ token, amount }) => [token, amount])).toEqual([
      [null, SAID],
      [COIN, 4n],
    ]);
    const holders = await data.holders(CHAIN.id, COIN, { after: null, limit: 10 });
    expect(holders).toEqual({
      items: [{ account: ALICE, amount: 4n, acquiredAt: LATE[1]?.time, hasSent: false, place: ['4', ALICE] }],
      next: null,
      isWhole: true,
    });
  });

  test('has an ERC-721 that came back to an account that had it before', async () => {
    const { data, node } = open({ blocks: LATE.slice(1), said: () => BigInt(ALICE) });
    const heldBy = (account: Hex) => data.holdings(account, ALL, { after: null, limit: 10 });
    const { items } = await heldBy(ALICE);
    expect(items.map(({ tokenId, balance }) => [tokenId, balance])).toEqual([
      [2n, 1n],
      [1n, 1n],
    ]);
    expect(node.asked.filter((asked) => asked.includes('calls'))).toEqual([`2 calls at ${LATE[2]?.hash}`]);
    expect((await heldBy(BOB)).items).toEqual([]);
  });

  test('may lack NFTs while a contract was not asked whether its logs are those of one', async () => {
    const pending = new Set([ART]);
    const { data } = open({ blocks: LATE.slice(1), pending, said: () => BigInt(ALICE) });
    const failures = async () => (await data.holdings(BOB, ALL, { after: null, limit: 10 })).failed;
    expect(await failures()).toContainEqual({
      chainId: CHAIN.id,
      reason: 'it is not known yet of some contracts whether what they log is an NFT',
      isPart: true,
    });
    pending.clear();
    expect(await failures()).toEqual([]);
  });
});

describe('native balances', () => {
  const ask = (data: IndexedData, account: Hex) =>
    data.balances(account, new Set([CHAIN.id]), { asset: null });

  test('are asked once for an account and a block of the index', async () => {
    const { index, data, node } = open({ blocks: LATE.slice(0, 2) });
    await Promise.all([ask(data, ALICE), ask(data, ALICE)]);
    await ask(data, ALICE);
    expect(node.asked).toEqual([`balances of 1 at ${LATE[1]?.hash}`]);
    for (const block of LATE.slice(2)) index.append(block, ignore, NOBODY);
    await ask(data, ALICE);
    expect(node.asked).toEqual([1, 2].map((at) => `balances of 1 at ${LATE[at]?.hash}`));
  });

  test('are those of the newest block where the node has lost the state of the index', async () => {
    const { data, node } = open({ blocks: LATE });
    node.problem = new RpcError(-32000, 'missing trie node');
    expect((await ask(data, ALICE)).items).toHaveLength(1);
    expect(node.asked).toEqual([`balances of 1 at ${LATE[2]?.hash}`, 'balances of 1 at undefined']);
  });

  test('that a node does not give are said to be missing, and asked for again', async () => {
    const { data, node } = open({ blocks: LATE, patienceMs: 1 });
    node.problem = new Error('the node is gone');
    expect(await ask(data, ALICE)).toEqual({ items: [], next: null, failed: FAILED });
    node.problem = null;
    expect((await ask(data, ALICE)).failed).toEqual([]);
    node.balances = () => new Promise(() => {});
    expect((await ask(data, BOB)).failed).toEqual(FAILED);
  });
});

describe('what is not known is not 0, and not missing without a word', () => {
  const THIRD = address('third');
  const MANY = buildAll(CHAIN.id, [
    [0, []],
    [1, [{ from: BOB, logs: [COIN, ART, THIRD].map((token) => logs.coin(token, BOB, ALICE, 4n)) }]],
  ]);
  const ask = async (data: IndexedData) => {
    const { items, failed } = await data.balances(ALICE, new Set([CHAIN.id]), { after: null, limit: 10 });
    return { amounts: new Map(items.map(({ token, amount }) => [token, amount])), failed };
  };
  const refused = new RpcError(-32_603, 'Internal error');

  test('sums of transfers do not stand in for what a node does not say', async () => {
    const { data, node } = open({ blocks: MANY });
    node.problem = refused;
    expect(await ask(data)).toEqual({ amounts: new Map(), failed: FAILED });
    await expect(data.holders(CHAIN.id, COIN, { after: null, limit: 10 })).rejects.toMatchObject({
      status: 503,
    });
    node.problem = null;
    const { amounts, failed } = await ask(data);
    expect([amounts.get(COIN), failed]).toEqual([SAID, []]);
  });

  test('a token that the node fails to ask leaves the others, and one that says nothing is left out', async () => {
    const { data, node } = open({ blocks: MANY.slice(1) });
    node.contracts.set(COIN, refused);
    node.contracts.set(ART, null);
    const missing = await ask(data);
    expect(missing).toEqual({
      amounts: new Map([
        [null, SAID],
        [THIRD, SAID],
      ]),
      failed: FAILED,
    });
    node.contracts.delete(COIN);
    const { amounts, failed } = await ask(data);
    expect([amounts.get(COIN), amounts.has(ART), failed]).toEqual([SAID, false, []]);
    expect(await data.supply(CHAIN.id, ART)).toBeNull();
    node.contracts.set(THIRD, refused);
    await expect(data.supply(CHAIN.id, THIRD)).rejects.toMatchObject({ status: 503 });
  });

  test('a token of which it is not known yet what it is makes the balances of its chain incomplete', async () => {
    const pending = new Set([COIN]);
    const { data, node } = open({ blocks: MANY, pending });
    const { amounts, failed } = await ask(data);
    expect([amounts.has(COIN), amounts.get(THIRD), failed]).toEqual([false, SAID, FAILED]);
    await expect(data.holders(CHAIN.id, COIN, { after: null, limit: 10 })).rejects.toThrow(
      'could not be read yet',
    );
    await expect(data.supply(CHAIN.id, COIN)).rejects.toMatchObject({ status: 503 });
    const { data: late } = open({ blocks: MANY.slice(1), pending });
    expect((await ask(late)).failed).toEqual(FAILED);
    expect(node.asked.slice(0, 2)).toEqual(
      ['balances of 1', '3 calls'].map((asked) => `${asked} at ${MANY[1]?.hash}`),
    );
    pending.clear();
    expect((await ask(data)).failed).toEqual([]);
  });
});
