import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/backend/indexer/database/database.ts';
import type { Hex } from '../../../src/backend/types.ts';
import { folderOf } from '../../support/folder.ts';
import { runs } from '../../support/runs.ts';
import { type Receiver, startReceiver } from '../dispatch/support/receiver.ts';
import type { Json } from '../support/sandbox.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { type Injected, startFaultyNode } from './support/faulty-node.ts';
import { contentsOf, follow } from './support/followed.ts';
import { NODE_FAULTS, type NodeFault } from './support/node-faults.ts';
import { openIndexed } from './support/service.ts';

/**
 * Every method that the index uses, with every fault of a node, once and for five seconds, and with some of them for two minutes:
 * while services begin, and while blocks come that concern a watched wallet. Meanwhile answers are right, or say that something is missing. After it the index is
 * one from scratch, and every event was delivered once.
 */

const CHAIN = 31_337;

const METHODS: readonly (readonly [method: RegExp, without?: RegExp])[] = [
  [/^eth_chainId$/],
  [/^eth_getBlockByNumber$/],
  [/^eth_getBlockReceipts$/],
  [/^eth_getTransactionReceipt$/, /^eth_getBlockReceipts$/],
  [/^trace_block$/],
  [/^debug_traceBlockByHash$/, /^trace_block$/],
  [/^debug_traceTransaction$/, /^trace_block$|^debug_traceBlockByHash$/],
  [/^eth_call$/],
  [/^eth_getBalance$/],
  [/^eth_getCode$/],
  [/./],
];

type Case = {
  readonly fault: NodeFault;
  readonly method: RegExp;
  /** What the node does not have. */
  readonly without: RegExp | undefined;
  readonly when: { readonly times: number } | { readonly lastsMs: number };
  /** Whether the index lacks the first blocks, so that balances are those that contracts say. */
  readonly isLate: boolean;
  readonly protocol: 'http' | 'ws';
};

const casesOf = (faults: readonly NodeFault[], when: Case['when']): readonly Case[] =>
  METHODS.flatMap(([method, without]) =>
    faults.flatMap((fault, at) =>
      [false, true].map((isLate): Case => {
        const protocol = (at + Number(isLate)) % 2 === 0 ? 'http' : 'ws';
        return { fault, method, without, when, isLate, protocol };
      }),
    ),
  );

const CASES = [...casesOf(NODE_FAULTS, { times: 1 }), ...casesOf(NODE_FAULTS, { lastsMs: 5_000 })];

/** One of each kind, for two minutes. */
const LONG_CASES = casesOf(
  NODE_FAULTS.filter(({ name }) =>
    /^(error -32603 Internal|error -32000 header not found|HTTP 504|the result is null|silence)/.test(name),
  ),
  { lastsMs: 120_000 },
);
/** A fault meets the services twice, and what follows may wait for their next attempt. */
const PATIENCE = { timeout: 600_000 };

/** Services that begin, and see blocks, at a time. */
const AT_ONCE = process.env.FC_RUNS === undefined ? 8 : 24;
/** Takes cases of every method and fault alike. It has no divisor in common with their number. */
const STRIDE = 997;

const nameOf = ({ fault, method, when, isLate, protocol }: Case): string =>
  `${method.source} over ${protocol}: ${fault.name}, ${JSON.stringify(when)}${isLate ? ', late' : ''}`;

/** A chain with tokens of a wallet, and what it says of them. */
const startChain = async () => {
  const anvil = await startAnvil();
  const [owner = '0x', , , wallet = '0x'] = await accountsOf(anvil.url);
  await anvil.mine();
  /** The block from which on a late index begins. */
  const late = await anvil.head();
  const coins: Contract[] = [];
  const issue = async (): Promise<Contract> => {
    const coin = await deploy(anvil.url, 'Coin', [`Coin ${coins.length}`, `C${coins.length}`, 6]);
    coins.push(coin);
    return coin;
  };
  const payer = await deploy(anvil.url, 'Payer');
  const first = await issue();
  for (const to of [wallet, owner]) await first.mine('mint', [to, 1_000_000n]);

  /** What the wallet has of each token at a block, and of the native asset, as the chain itself says. */
  const said = new Map<number, Promise<readonly string[]>>();
  const balancesAt = async (block: number): Promise<readonly string[]> => {
    const tag = `0x${block.toString(16)}`;
    const native = BigInt(String(await anvil.rpc('eth_getBalance', wallet, tag)));
    const held = await Promise.all(
      coins.map(async (coin, at) => {
        const data = coin.data('balanceOf', wallet);
        const amount = BigInt(
          String(await anvil.rpc('eth_call', { to: coin.address, data }, tag)).replace(/^0x$/, '0x0'),
        );
        return amount === 0n ? [] : [`${coin.address} ${amount} C${at}`];
      }),
    );
    return [`native ${native} ETH`, ...held.flat().toSorted()];
  };

  return {
    anvil,
    wallet,
    late,
    balancesAt(block: number): Promise<readonly string[]> {
      const known = said.get(block) ?? balancesAt(block);
      said.set(block, known);
      return known;
    },
    /** Changes what the wallet has, in four ways. Resolves with the transactions. */
    async trade(): Promise<{ readonly all: readonly Hex[]; readonly native: Hex }> {
      const mined = async (sent: Promise<Hex>) => {
        await receiptOf(anvil.url, await sent);
        return sent;
      };
      const transfer = await mined(first.send('transfer', [wallet, 7n]));
      const native = await mined(sendTransaction(anvil.url, wallet, '0x', { value: 5n }));
      const inside = await mined(payer.send('split', [[wallet]], { value: 9n }));
      // A token that is seen for the first time.
      const coin = await issue();
      const mint = await mined(coin.send('mint', [wallet, 3n]));
      return { all: [transfer, native, inside, mint], native };
    },
    [Symbol.asyncDispose]: () => anvil[Symbol.asyncDispose](),
  };
};

type Chain = Awaited<ReturnType<typeof startChain>>;

/** A service whose node fails. */
const startCase = async (chain: Chain, folder: string, failing: Case) => {
  const { fault, method, without, when, isLate, protocol } = failing;
  await using made = new AsyncDisposableStack();
  const faulty = made.use(await startFaultyNode(chain.anvil.url, { webSocket: protocol === 'ws' }));
  if (without !== undefined)
    faulty.faults.call = (call, ask) =>
      without.test(call.method) ? { error: { code: -32_601, message: 'Method not found' } } : ask();
  const startBlock = isLate ? chain.late : null;
  const inject = (): Injected => faulty.inject(fault, { ...when, meets: (call) => method.test(call.method) });
  const faults = [inject()];
  const service = made.use(
    await openIndexed({
      chains: [{ id: CHAIN, url: faulty.url.replace('http', protocol), startBlock }],
      directory: folder,
    }),
  );
  const progress = async (): Promise<Json> => (await service.progress())[0] ?? {};
  /** Answers that were wrong, and did not say so. */
  const wrong: unknown[] = [];
  const look = async (): Promise<boolean> => {
    const before = await progress();
    const { json } = await service.ask(`/v1/evm/balances/${chain.wallet}`);
    const after = await progress();
    const block = Number(after.indexedTo ?? -1);
    const isWhole = after.indexedFrom === (isLate ? chain.late : 0) && after.indexedTo === before.indexedTo;
    if (!isWhole || json.errors !== undefined) return false;
    const listed = (json.balances as readonly Json[])
      .map(({ address, amount, symbol }) => `${address} ${amount} ${symbol}`)
      .toSorted();
    const right = (await chain.balancesAt(block)).toSorted();
    if (JSON.stringify(listed) !== JSON.stringify(right)) wrong.push({ block, listed, right });
    return true;
  };
  let isLooking = true;
  const looking = (async () => {
    while (isLooking) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  })();
  made.defer(async () => {
    isLooking = false;
    await looking;
  });
  const running = made.move();
  return {
    name: nameOf(failing),
    service,
    wrong,
    hits: () => faults.reduce((count, each) => count + each.hits(), 0),
    failAgain: () => void faults.push(inject()),
    /** Resolves when the index is at the head, with all of its parts, and balances are known. */
    async settled(): Promise<void> {
      const head = await chain.anvil.head();
      await expect
        .poll(async () => {
          const { indexedTo, indexedFrom, traces } = await progress();
          return { indexedTo, indexedFrom, behind: (traces as Json | undefined)?.behind };
        }, PATIENCE)
        .toEqual({ indexedTo: head, indexedFrom: isLate ? chain.late : 0, behind: 0 });
      await expect.poll(look, PATIENCE).toBe(true);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const MEMBERS = {
  transactions: 'transactions',
  activities: 'activities',
  balances: 'balance_changes',
} as const;
const TYPES = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[];

/** The transactions that the deliveries to a case tell of, one for each event, by the types of webhooks. */
const toldTo = ({ received }: Receiver, at: number) =>
  TYPES.map((type) => {
    const events = received
      .filter(({ path }) => path === `/${at}/${type}`)
      .flatMap(({ body }) => (JSON.parse(body) as Record<string, readonly Json[]>)[MEMBERS[type]] ?? []);
    const hashes = events.map(({ hash, tx_hash, transaction_hash }) => hash ?? tx_hash ?? transaction_hash);
    return [type, ...hashes.toSorted()];
  });

const contentsIn = (folder: string) => {
  using database = openDatabase(join(folder, 'index.sqlite'));
  return contentsOf(database);
};

/** What an index has that was made from scratch, without a fault. */
const contentsOfNew = async (chain: Chain, startBlock: number | null) => {
  await using made = await follow({ url: chain.anvil.url, startBlock });
  await made.caughtUp();
  return made.contents();
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Runs some cases over one chain. Returns what went wrong, by their names. */
const runTogether = async (cases: readonly Case[]): Promise<readonly unknown[]> => {
  await using chain = await startChain();
  await using receiver = await startReceiver();
  await using files = await folderOf({});
  const folders = cases.map((_, at) => files.path(String(at)));
  const problems: unknown[] = [];
  let expected: readonly unknown[] = [];
  {
    await using opened = new AsyncDisposableStack();
    const started = await Promise.all(
      cases.map(async (each, at) => opened.use(await startCase(chain, folders[at] ?? '', each))),
    );
    await Promise.all(started.map(({ settled }) => settled()));
    await Promise.all(
      started.flatMap(({ service }, at) =>
        TYPES.map((type) => service.subscribe(type, `${receiver.url}/${at}/${type}`, [chain.wallet])),
      ),
    );
    for (const { failAgain } of started) failAgain();
    const { all, native } = await chain.trade();
    expected = TYPES.map((type) => [type, ...(type === 'transactions' ? [native] : all.toSorted())]);
    await Promise.all(started.map(({ settled }) => settled()));
    for (const [at, { name, wrong, hits }] of started.entries()) {
      await expect.poll(() => toldTo(receiver, at), { ...PATIENCE, message: name }).toEqual(expected);
      if (wrong.length > 0 || hits() === 0) problems.push([name, hits(), wrong]);
    }
  }
  const right = [await contentsOfNew(chain, null), await contentsOfNew(chain, chain.late)];
  for (const [at, each] of cases.entries()) {
    if (!isSame(toldTo(receiver, at), expected)) problems.push([nameOf(each), toldTo(receiver, at)]);
    if (!isSame(contentsIn(folders[at] ?? ''), right[each.isLate ? 1 : 0]))
      problems.push([nameOf(each), 'another index']);
  }
  return problems;
};

/** A group takes some ten seconds, most of which the services wait. */
const testGroups = (what: string, all: readonly Case[], groups: number): void => {
  test.each(Array.from({ length: groups }, (_, group) => group))(
    `a node that fails ${what} costs time, never data: group %i`,
    { timeout: 3 * PATIENCE.timeout },
    async (group) => {
      const cases = Array.from(
        { length: AT_ONCE },
        (_, at) => all[((group * AT_ONCE + at) * STRIDE) % all.length] as Case,
      );
      expect(await runTogether(cases)).toEqual([]);
    },
  );
};

const ALL_GROUPS = Math.ceil(CASES.length / AT_ONCE);
const wanted = process.env.FC_RUNS === undefined ? 3 : runs(ALL_GROUPS);
testGroups('once, or for seconds,', CASES, wanted);
if (wanted >= ALL_GROUPS) testGroups('for two minutes', LONG_CASES, Math.ceil(LONG_CASES.length / AT_ONCE));
