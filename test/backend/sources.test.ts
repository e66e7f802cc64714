import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refused } from '../../src/backend/http/query.ts';
import type { Listed, PageStart, Part, Place, Source } from '../../src/backend/source.ts';
import { joinSources } from '../../src/backend/sources.ts';
import type { Chain, Token, Transaction } from '../../src/backend/types.ts';
import { runs } from '../support/runs.ts';
import { ALICE, BASE, MAINNET, SILENT, simulator, transaction, USDC } from './dispatch/support/builders.ts';
import { items, type Json } from './support/sandbox.ts';
import { HOLDING, later, openSource, sourceOf } from './support/source.ts';

/** Sources of which each has one chain, behind one service. */

const CHAINS = [MAINNET, BASE, SILENT];
const IDS = CHAINS.map(({ id }) => id);

type List = Source['transactions'] & Source['effects'];

/** The transactions of one chain, newest first, in parts of its own size. Places are numbers of blocks. */
const listOf = (all: readonly Transaction[], size = 100): List => {
  const ordered = all.toSorted((one, other) => other.blockNumber - one.blockNumber);
  return (_wallet, _chainIds, limit, start) => {
    const behind = ordered.filter(({ blockNumber }) => isBehind(blockNumber, start));
    const part = behind.slice(0, Math.min(limit, size));
    const listed = part.map(
      (each): Listed<Transaction> => ({ transaction: each, place: [each.blockNumber] }),
    );
    return later({
      items: listed,
      next: behind.length > part.length ? (listed.at(-1)?.place ?? null) : null,
      isEnough: true,
    });
  };
};

const isBehind = (number: number, start: PageStart | null): boolean =>
  start === null || number < Number(start.place[0]) + (start.including ? 1 : 0);

const transactionAt = (chain: Chain, blockNumber: number, time: number): Transaction =>
  transaction({
    ...{ chain, blockNumber, blockTime: time, data: '0x00' },
    hash: `0x${chain.id.toString(16).padStart(32, '0')}${blockNumber.toString(16).padStart(32, '0')}`,
  });

const on = (chain: Chain, source: Partial<Source> = {}): Source => sourceOf({ chains: [chain], ...source });

const joined = (sources: readonly Source[], lines: unknown[] = [], patienceMs = 5_000): Source =>
  joinSources(sources, { patienceMs, log: (message, details) => lines.push({ message, ...details }) });

/** Every page of a list of the service. */
const walk = async (source: Source, path: string, member: string): Promise<readonly Json[]> => {
  await using service = await openSource(source);
  const pages: Json[] = [];
  for (let offset = ''; ; ) {
    const answer = await service.ask(`/v1/evm/${path}${offset}`);
    expect(answer.status).toBe(200);
    expect(items(answer, member).length).toBeLessThanOrEqual(100);
    pages.push(answer.json);
    if (answer.json.next_offset === undefined) return pages;
    offset = `&offset=${answer.json.next_offset}`;
  }
};

test.each([
  ['transactions', 'transactions', 'hash'],
  ['activity', 'activity', 'tx_hash'],
])(
  '%s of several sources are one list: the newest first, each once, in pages of any size',
  async (lookup, member, key) => {
    const gaps = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(gaps, gaps, gaps),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        async (histories, size, limit) => {
          const all = histories.map((each, at) => {
            const chain = CHAINS[at] ?? MAINNET;
            const timeOf = (block: number) =>
              each.slice(0, block + 1).reduce((time, gap) => time + gap * 1_000, 1_000_000);
            return each.map((_, block) => transactionAt(chain, block, timeOf(block)));
          });
          const sources = all.map((each, at) => {
            const list = listOf(each, size);
            return on(CHAINS[at] ?? MAINNET, { transactions: list, effects: list });
          });
          const pages = await walk(
            joined(sources),
            `${lookup}/${ALICE}?chain_ids=${IDS}&limit=${limit}`,
            member,
          );
          const found = pages.flatMap((page) => page[member] as readonly Json[]);
          const expected = all
            .flat()
            .toSorted(
              (one, other) =>
                other.blockTime - one.blockTime ||
                other.chain.id - one.chain.id ||
                other.blockNumber - one.blockNumber,
            );
          expect(found.map((each) => each[key])).toEqual(expected.map(({ hash }) => hash));
          expect(pages.every(({ warnings }) => warnings === undefined)).toBe(true);
        },
      ),
      { numRuns: runs(100) },
    );
  },
);

const OWN = [
  transactionAt(MAINNET, 3, 3_000),
  transactionAt(MAINNET, 2, 2_000),
  transactionAt(MAINNET, 1, 1_000),
];

const refuse = (): Promise<never> => Promise.reject(new Refused(503, 'its explorer has no credits left'));
const fault = (): Promise<never> => Promise.reject(new TypeError('x is not a function'));
const never = (): Promise<never> => new Promise(() => {});

test.each<[string, () => Promise<never>, string, readonly object[]]>([
  ['fails', refuse, ': its explorer has no credits left', []],
  ['is late', never, ': no answer in 50 ms', []],
  [
    'has a fault',
    fault,
    '',
    [{ message: 'a source of chains failed', chains: [BASE.id], problem: 'TypeError: x is not a function' }],
  ],
])('a chain that %s leaves each list of the others whole, and is named', async (_, fail, reason, logged) => {
  const list = listOf(OWN);
  const token = simulator.token(1, USDC);
  const lines: unknown[] = [];
  const source = joined(
    [
      on(MAINNET, {
        transactions: list,
        effects: list,
        balances: () =>
          later({ items: [{ chain: MAINNET, token: null, amount: 5n, place: [''] }], next: null }),
        search: () => later({ tokens: token === null ? [] : [token] }),
      }),
      on(BASE, {
        ...{
          transactions: fail,
          effects: fail,
          holdings: fail,
          balances: fail,
          approvals: fail,
          search: fail,
        },
        ...{ holders: fail, supply: fail, transaction: fail },
      }),
    ],
    lines,
    50,
  );
  await using service = await openSource(source);
  const query = `${ALICE}?chain_ids=1,8453`;
  for (const [lookup, subject, member, count] of [
    ['transactions', 'The transactions', 'transactions', 3],
    ['activity', 'The activities', 'activity', 3],
    ['collectibles', 'The collectibles', 'entries', 1],
    ['approvals', 'The approvals', 'approvals', 0],
  ] as const) {
    const { status, json } = await service.ask(`/v1/evm/${lookup}/${query}`);
    expect([status, (json[member] as readonly Json[]).length, json.warnings]).toEqual([
      200,
      count,
      [
        {
          ...{ code: 'CHAIN_UNAVAILABLE', chain_ids: [BASE.id] },
          message: `${subject} of base could not be read${reason}`,
        },
      ],
    ]);
  }
  const { json: balances } = await service.ask(`/v1/evm/balances/${query}`);
  expect((balances.balances as readonly Json[]).length).toBe(1);
  expect(balances.errors).toMatchObject({
    token_errors: [{ chain_id: BASE.id, description: `The balances of base could not be read${reason}` }],
  });
  const { json: found } = await service.ask('/v1/evm/search/tokens?query=usdc&chain_ids=1,8453');
  expect(found).toMatchObject({
    tokens: [{ chain_id: MAINNET.id }],
    warnings: [{ code: 'CHAIN_UNAVAILABLE', chain_ids: [BASE.id] }],
  });
  expect(lines.slice(0, 1)).toEqual(logged);
});

test('a chain that fails for good is named as such, on each page of a walk, and alone it is no outage', async () => {
  const refused = () => Promise.reject(new Refused(400, 'its explorer does not accept the key'));
  const source = joined([
    on(MAINNET, {
      transactions: listOf(OWN, 1),
      balances: () => later({ items: [], next: null }),
    }),
    on(BASE, { transactions: refused, balances: refused, search: refused, holdings: refused }),
  ]);
  const reason = 'could not be read: its explorer does not accept the key';
  const warning = { code: 'CHAIN_NOT_SERVED', chain_ids: [BASE.id] };
  const pages = await walk(source, `transactions/${ALICE}?chain_ids=1,8453&limit=1`, 'transactions');
  expect(pages.map(({ warnings }) => warnings)).toEqual([
    [{ ...warning, message: `The transactions of base ${reason}` }],
    ...Array.from({ length: OWN.length - 1 }, () => [
      {
        ...warning,
        message: 'The transactions of base could not be read: it could not be read for an earlier page',
      },
    ]),
  ]);
  await using service = await openSource(source);
  const { status, json } = await service.ask(`/v1/evm/balances/${ALICE}?chain_ids=1,8453`);
  expect([status, json.errors, json.warnings]).toEqual([
    ...[200, undefined],
    [{ ...warning, message: `The balances of base ${reason}` }],
  ]);
  for (const path of [
    `transactions/${ALICE}?chain_ids=8453`,
    `collectibles/${ALICE}?chain_ids=8453`,
    'search/tokens?query=usdc&chain_ids=8453',
  ])
    expect([path, (await service.ask(`/v1/evm/${path}`)).status]).toEqual([path, 400]);
});

test('what concerns one chain is asked of its source, and refused where that fails', async () => {
  const source = joined([
    on(MAINNET, { supply: () => later(7n) }),
    on(BASE, { supply: refuse, holders: refuse, transaction: refuse }),
  ]);
  await using service = await openSource(source);
  const hash = `0x${'ab'.repeat(32)}`;
  for (const path of [
    `token-info/${USDC}?chain_ids=8453`,
    `token-holders/8453/${USDC}`,
    `transaction/${hash}?chain_ids=8453`,
  ]) {
    const response = await fetch(`${service.url}/v1/evm/${path}`, {
      headers: { 'x-service-api-key': 'key' },
    });
    expect([path, response.status, await response.text()]).toEqual([
      path,
      503,
      expect.stringContaining('its explorer has no credits left'),
    ]);
  }
  const { json } = await service.ask(`/v1/evm/token-info/${USDC}?chain_ids=1`);
  expect(json.tokens).toMatchObject([{ total_supply: '7' }]);
});

test('a chain that fails within a walk is missing from the rest of it, and each page says so', async () => {
  let isFailing = false;
  const other = listOf([transactionAt(BASE, 2, 2_500), transactionAt(BASE, 1, 500)], 1);
  const list: Source['transactions'] = async (...asked) => {
    if (isFailing) throw new Refused(503, 'it failed');
    return other(...asked);
  };
  const own = listOf(OWN, 1);
  const source = joined([on(MAINNET, { transactions: own }), on(BASE, { transactions: list })]);
  const page = (start: Place | null): Promise<Part<Listed<unknown>>> =>
    Promise.resolve(
      source.transactions(ALICE, new Set(IDS), 1, start && { place: start, including: false }, new Set()),
    );
  const first = await page(null);
  isFailing = true;
  const second = await page(first.next);
  isFailing = false;
  const third = await page(second.next);
  const found = [first, second, third].flatMap((part) => part.items.map(({ transaction: each }) => each));
  expect(found).toEqual([OWN[0], OWN[1], OWN[2]]);
  expect([first, second, third].map(({ failed }) => failed)).toEqual([
    [],
    [{ chainId: BASE.id, reason: 'it failed' }],
    [{ chainId: BASE.id, reason: 'it could not be read for an earlier page' }],
  ]);
  expect(third.next).toBeNull();
});

test('collectibles and balances of several sources come in pages, each once', async () => {
  const held =
    (chain: Chain) =>
    (_wallet: string, _chainIds: unknown, { after }: { readonly after: Place | null }) => {
      const at = Number(after?.[0] ?? 0);
      const all = [1, 2, 3, 4, 5].map((id) => ({ ...HOLDING, chain, tokenId: BigInt(id), place: [id] }));
      return later({ items: all.slice(at, at + 2), next: at + 2 < 5 ? [at + 2] : null, isEnough: true });
    };
  const source = joined([on(MAINNET, { holdings: held(MAINNET) }), on(BASE, { holdings: held(BASE) })]);
  for (const limit of [1, 3, 100]) {
    const pages = await walk(source, `collectibles/${ALICE}?chain_ids=1,8453&limit=${limit}`, 'entries');
    const found = pages.flatMap((page) => page.entries as readonly Json[]);
    expect(found.map((each) => `${each.chain_id} ${each.token_id}`).toSorted()).toEqual(
      [1, 8453].flatMap((id) => [1, 2, 3, 4, 5].map((token) => `${id} ${token}`)),
    );
  }
});

test('the tokens that several sources find are ranked in turn', async () => {
  const token = (chain: Chain, symbol: string): Token => ({
    ...{ chain, address: USDC, symbol, name: symbol, decimals: 6 },
    standard: 'erc20',
  });
  const source = joined([
    on(MAINNET, { search: () => later({ tokens: [token(MAINNET, 'ONE'), token(MAINNET, 'TWO')] }) }),
    on(BASE, { search: () => later({ tokens: [token(BASE, 'BEST')] }) }),
  ]);
  await using service = await openSource(source);
  const { json } = await service.ask('/v1/evm/search/tokens?query=some&limit=3');
  expect((json as unknown as readonly Json[]).map(({ symbol }) => symbol)).toEqual(['ONE', 'BEST', 'TWO']);
});

test('one source is itself, with what it tells of changes', () => {
  const source = on(MAINNET);
  expect(joined([source])).toBe(source);
});
