import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Contents } from '../../support/blockscout/contents.ts';
import { madeUp, WALLET } from '../../support/blockscout/made-up.ts';
import type { Fault, SeenRequest } from '../../support/blockscout/server.ts';
import { runs } from '../../support/runs.ts';
import type { Json } from '../support/sandbox.ts';
import { openExplored } from './support/exploring.ts';

/** Wallets that are too much for the lists of an explorer: the route in the style of Etherscan, and what is named as missing. */

const VERSIONS = ['11.2.7', '12.0.2'] as const;
const LATE: Fault = { status: 500, json: { message: 'Internal server error' } };
const SILENT: Fault = { isSilent: true };

const isCursors = ({ path }: SeenRequest): boolean => path.endsWith(`${WALLET}/transactions`);
const isTxlist = ({ path }: SeenRequest): boolean => path === '';
const isTransfers = ({ path }: SeenRequest): boolean => path.endsWith('/token-transfers');

const made = madeUp({ transactions: 130, pending: 3, transfers: 250 });
const CONTENTS: Contents = {
  ...made,
  // Nothing moves in a transaction that failed.
  transfers: made.transfers.filter(({ transaction }) => transaction.status === 'ok'),
};
const HASHES = CONTENTS.transactions
  .flatMap(({ block, ...each }) => (block === null ? [] : [{ ...each, block }]))
  .filter(({ from, to }) => from === WALLET || to === WALLET)
  .toSorted((one, other) => other.block.number - one.block.number || other.position - one.position)
  .map(({ hash }) => hash);

const PATH = `transactions/${WALLET}?chain_ids=8453&logs=false&block_hash=false`;
const ACTIVITY = `activity/${WALLET}?chain_ids=8453`;

const open = (version = '12.0.2', contents = CONTENTS, id = 8453) =>
  openExplored([{ id, contents, version }]);

const hashesIn = (rows: readonly Json[]) => rows.map(({ hash }) => hash);

describe.each(VERSIONS)('over an explorer of version %s', (version) => {
  test.each([
    ['fails', LATE],
    ['does not answer', SILENT],
  ])('a list that %s is read over txlist, to its end', async (_, fault) => {
    for (const limit of [7, 100]) {
      await using service = await open(version);
      service.explorers[0]?.plant(fault, isCursors);
      const found = await service.walk(`${PATH}&limit=${limit}`, 'transactions');
      expect(hashesIn(found)).toEqual(HASHES);
      // Only the first page finds out that the wallet is busy.
      expect(service.seen().filter(isCursors).length).toBeLessThanOrEqual(2);
    }
  });

  test('a walk may change its route at any page, and has every item once', async () => {
    const truth = await (async () => {
      await using service = await open(version);
      return await service.walk(ACTIVITY, 'activity');
    })();
    const identity = ({ tx_hash, type, value, from, to }: Json) =>
      `${tx_hash} ${type} ${value} ${from} ${to}`;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(3, 12, 40),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
        async (limit, failures) => {
          await using service = await open(version);
          /** Every page, each with one of both routes that fails. */
          const walk = async (path: string, member: string) => {
            const found: Json[] = [];
            for (let [pages, offset] = [0, '']; ; pages += 1) {
              service.explorers[0]?.mend();
              service.explorers[0]?.plant(LATE, failures[pages % failures.length] ? isCursors : isTxlist);
              const { status, json } = await service.ask(`${path}&limit=${limit}${offset}`);
              expect([status, json.warnings]).toEqual([200, undefined]);
              found.push(...(json[member] as readonly Json[]));
              if (json.next_offset === undefined) return found;
              offset = `&offset=${json.next_offset}`;
            }
          };
          expect(hashesIn(await walk(PATH, 'transactions'))).toEqual(HASHES);
          expect((await walk(ACTIVITY, 'activity')).map(identity)).toEqual(truth.map(identity));
        },
      ),
      { numRuns: runs(40, 3) },
    );
  });
});

test('what txlist does not say of a transaction is unknown, and the hash of its block comes with it', async () => {
  await using service = await open();
  const path = `transactions/${WALLET}?chain_ids=8453&logs=false&limit=5&revert_reasons=true`;
  const before = await service.ask(path);
  service.explorers[0]?.plant(LATE, isCursors);
  const count = service.seen().length;
  const { json } = await service.ask(path);
  const [row, other] = json.transactions as readonly Json[];
  const [whole, otherWhole] = before.json.transactions as readonly Json[];
  const {
    transaction_type: _,
    fee: _fee,
    revert_reason: _reason,
    ...rest
  } = row?.success ? (whole ?? {}) : (otherWhole ?? {});
  expect(row?.success ? row : other).toMatchObject(rest);
  expect(row).toMatchObject({ transaction_type: null, fee: null });
  expect(
    service
      .seen()
      .slice(count)
      .filter(({ path: asked }) => asked.includes('/blocks/')),
  ).toEqual([]);
  // Why those failed that did is not in it.
  expect(json.errors).toMatchObject({ chain_ids: [8453] });
});

test('of a block before Byzantium, txlist does not say how a transaction ended', async () => {
  const old: Contents = {
    ...CONTENTS,
    transactions: CONTENTS.transactions.map((each) => ({ ...each, status: null })),
  };
  await using service = await open('12.0.2', old, 1);
  service.explorers[0]?.plant(LATE, isCursors);
  const { json } = await service.ask(PATH.replace('8453', '1'));
  const rows = json.transactions as readonly Json[];
  expect(new Set(rows.map(({ success }) => success))).toEqual(new Set([null]));
});

test('a list of which neither route is read is an error', async () => {
  await using service = await open();
  service.explorers[0]?.plant(LATE, isCursors);
  service.explorers[0]?.plant({ json: { status: '0', message: 'NOTOK', result: null } }, isTxlist);
  const { status, text } = await service.ask(PATH);
  expect([status, text]).toEqual([503, expect.stringContaining('The explorer of chain 8453 failed (500)')]);
});

test.each([
  ['without its first rows', (rows: readonly unknown[]) => rows.slice(3)],
  ['backwards', (rows: readonly unknown[]) => rows.toReversed()],
  ['that begins anew with every page', null],
])('a txlist %s makes no list longer, or out of order', async (_, change) => {
  await using service = await open();
  service.explorers[0]?.plant(LATE, isCursors);
  let first: unknown;
  service.explorers[0]?.plant(
    {
      change: (body) => {
        const page = body as { result: readonly unknown[] };
        first ??= page;
        return change === null ? first : { ...page, result: change(page.result) };
      },
    },
    isTxlist,
  );
  const rows: unknown[] = [];
  for (let [pages, offset] = [0, '']; pages < 60; pages += 1) {
    const { status, json } = await service.ask(`${PATH}&limit=9${offset}`);
    if (status !== 200) break;
    rows.push(...hashesIn(json.transactions as readonly Json[]));
    if (json.next_offset === undefined) break;
    offset = `&offset=${json.next_offset}`;
  }
  // Rows that are there in none of its answers can't be known of.
  expect(rows).toEqual(HASHES.filter((hash) => rows.includes(hash)));
});

test('transfers are asked for in smaller pages, and are named where they do not come', async () => {
  await using service = await open();
  service.explorers[0]?.plant(
    SILENT,
    (request) => isTransfers(request) && request.query.get('items_count') === '100',
  );
  const whole = await service.walk(`${ACTIVITY}&limit=100`, 'activity');
  expect(whole.some(({ asset_type: type }) => type === 'erc20')).toBe(true);
  service.explorers[0]?.mend();
  service.explorers[0]?.plant(SILENT, isTransfers);
  const found: Json[] = [];
  for (let offset = ''; ; ) {
    const { status, json } = await service.ask(`${ACTIVITY}&limit=11${offset}`);
    expect(status).toBe(200);
    expect(json.warnings).toMatchObject([
      {
        code: 'CHAIN_UNAVAILABLE',
        message: expect.stringContaining('token transfers are missing'),
        chain_ids: [8453],
      },
    ]);
    found.push(...(json.activity as readonly Json[]));
    if (json.next_offset === undefined) break;
    // Those that answer again are not mixed in.
    service.explorers[0]?.mend();
    offset = `&offset=${json.next_offset}`;
  }
  const own = new Set(found.map(({ tx_hash }) => tx_hash));
  const succeeded = CONTENTS.transactions.filter(({ status, block }) => status === 'ok' && block !== null);
  expect(HASHES.filter((hash) => !own.has(hash))).toEqual(
    HASHES.filter((hash) => !succeeded.some((each) => each.hash === hash)),
  );
  expect(found.filter(({ asset_type: type }) => String(type).startsWith('erc'))).toEqual([]);
});

test('transfers that fail in the middle of a block are an error, and not left out', async () => {
  await using service = await open();
  const first = await service.ask(`${ACTIVITY}&limit=1`);
  service.explorers[0]?.plant(SILENT, isTransfers);
  const { status } = await service.ask(`${ACTIVITY}&limit=1&offset=${first.json.next_offset}`);
  expect(status).toBe(503);
});

test('a first page without anything, of which transfers could not be read, is an error', async () => {
  await using service = await open('12.0.2', { ...CONTENTS, transactions: [] });
  service.explorers[0]?.plant(SILENT, isTransfers);
  expect((await service.ask(ACTIVITY)).status).toBe(503);
});
