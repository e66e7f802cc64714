import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import {
  CursorExpiredError,
  InvalidCursorError,
  LogClosedError,
  LogUnavailableError,
} from '../../../src/deliveries/log/errors.ts';
import {
  address,
  appendNumbers,
  delivery,
  numberOf,
  range,
  readAll,
  TENANT,
  WEBHOOK,
} from '../support/builders.ts';
import { describeEachStore } from '../support/stores.ts';

const OTHER_WEBHOOK = '0190a3f4-0000-7000-8000-000000000002';

const expiry = (reason: string) => expect.objectContaining({ name: 'CursorExpiredError', reason });

describeEachStore(({ newPlace, openLog }) => {
  test('reads what was stored, byte for byte, in order', async () => {
    const log = await openLog();
    const full = delivery(1, {
      body: Buffer.from('{"number" : 1, "é": 12345678901234567890}\n'),
      dispatchedAt: 5,
      attempt: 3,
      chainId: 2 ** 40,
      type: 'balances',
      addresses: [address(1), address(2)],
    });
    const empty = delivery(2, { webhookId: null, type: null, chainId: null, attempt: null });
    const [first, second] = await log.append([full, empty]);

    const { deliveries, hasMore } = await log.read(TENANT, { limit: 10 });
    expect(deliveries.map((stored) => ({ ...stored, body: Buffer.from(stored.body) }))).toEqual([
      { ...full, sequence: 1, cursor: first?.cursor },
      { ...empty, sequence: 2, cursor: second?.cursor },
    ]);
    expect(hasMore).toBe(false);
  });

  test('says how many deliveries of how many tenants it holds, how large it is, and how old', async () => {
    const log = await openLog({ retentionCount: 2, now: Date.now });
    expect(await log.size()).toMatchObject({ deliveries: 0, tenants: 0, oldestAt: null });
    const at = Date.now() - 60_000;
    await log.append([1, 2, 3].map((number) => delivery(number, { receivedAt: at + 1000 * number })));
    await log.append([delivery(1, { tenant: 'another', receivedAt: at + 9000, body: randomBytes(100_000) })]);
    await log.trim();
    const { bytes, oldestAt, ...counts } = await log.size();
    expect(counts).toEqual({ deliveries: 3, tenants: 2 });
    expect(bytes).toBeGreaterThan(100_000);
    // The first of three is dropped.
    expect(oldestAt).toBe(at + 2000);
    await log.close();
    await expect(log.size()).rejects.toThrow(LogClosedError);
  });

  test('a duplicate gets the position of the first delivery, with any attempt, in one batch or later', async () => {
    const log = await openLog();
    const [first, within] = await log.append([delivery(1), delivery(1, { attempt: 1 })]);
    const [later] = await log.append([delivery(1, { attempt: 2, receivedAt: 9 })]);

    expect([within, later]).toEqual([
      { ...first, duplicate: true },
      { ...first, duplicate: true },
    ]);
    expect(first?.duplicate).toBe(false);
    expect(await readAll(log)).toHaveLength(1);
  });

  test('the same body is not a duplicate for another webhook, without a webhook, or for another tenant', async () => {
    const log = await openLog();
    const [, ...others] = await log.append([
      delivery(1),
      delivery(1, { webhookId: OTHER_WEBHOOK }),
      delivery(1, { webhookId: null }),
      delivery(1, { tenant: 'other' }),
    ]);
    expect(others.map(({ duplicate }) => duplicate)).toEqual([false, false, false]);
    expect((await log.append([delivery(1, { webhookId: null })]))[0]?.duplicate).toBe(true);
  });

  test('the same body on another chain is another delivery, and each is found by its repeat, also without the first', async () => {
    const place = await newPlace();
    const log = await openLog({ place });
    const each = [1, 8453, null].map((chainId) => delivery(1, { chainId }));
    const stored = await log.append(each);
    expect(stored.map(({ sequence, duplicate }) => [sequence, duplicate])).toEqual([
      [1, false],
      [2, false],
      [3, false],
    ]);
    const repeated = stored.map((one) => ({ ...one, duplicate: true }));
    expect(await log.append(each)).toEqual(repeated);
    await log.close();

    const trimming = await openLog({ place, retentionCount: 2 });
    await trimming.trim();
    expect(await trimming.append(each.slice(1))).toEqual(repeated.slice(1));
    // The first is gone, so its repeat is a new one.
    expect(await trimming.append(each.slice(0, 1))).toMatchObject([{ sequence: 4, duplicate: false }]);
  });

  test('each tenant has its own sequence, and reads no delivery of another', async () => {
    const log = await openLog();
    await log.append([delivery(1), delivery(2, { tenant: 'other' }), delivery(3)]);
    expect((await readAll(log)).map(({ sequence }) => sequence)).toEqual([1, 2]);
    const { deliveries } = await log.read('other', { limit: 10 });
    expect(deliveries.map(numberOf)).toEqual([2]);
  });

  test('pages join without a gap or overlap, forwards and backwards, within bounds', async () => {
    const log = await openLog();
    const cursors = await appendNumbers(log, range(1, 10));

    expect((await readAll(log, undefined, 3)).map(numberOf)).toEqual(range(1, 10));
    const newest = await log.read(TENANT, { limit: 4, take: 'newest' });
    expect(newest.deliveries.map(numberOf)).toEqual([7, 8, 9, 10]);
    expect(newest.hasMore).toBe(true);
    const before = await log.read(TENANT, { limit: 6, take: 'newest', before: newest.scannedTo });
    expect(before.deliveries.map(numberOf)).toEqual(range(1, 6));
    expect(before.hasMore).toBe(false);

    const between = await log.read(TENANT, { after: cursors[1], before: cursors[5], limit: 10 });
    expect(between.deliveries.map(numberOf)).toEqual([3, 4, 5]);
    expect(between.hasMore).toBe(false);
    expect((await log.read(TENANT, { after: cursors[5], before: cursors[1], limit: 10 })).deliveries).toEqual(
      [],
    );
  });

  test('large bodies end a page early, but a page has at least one delivery', async () => {
    const log = await openLog();
    await appendNumbers(log, range(1, 3));
    const page = await log.read(TENANT, { limit: 10, maxBytes: 1 });
    expect(page.deliveries.map(numberOf)).toEqual([1]);
    expect(page.hasMore).toBe(true);
    expect((await readAll(log, page.scannedTo)).map(numberOf)).toEqual([2, 3]);
  });

  test('a page after the head is empty, also before the first delivery', async () => {
    const log = await openLog();
    const start = await log.head(TENANT);
    expect((await log.read(TENANT, { after: start, limit: 10 })).deliveries).toEqual([]);
    const [cursor] = await appendNumbers(log, [1]);
    expect(await log.head(TENANT)).toBe(cursor);
    expect((await log.read(TENANT, { after: start, limit: 10 })).deliveries.map(numberOf)).toEqual([1]);
  });

  // 'AQE…' has the sequence number 1 and no fingerprint, which was a format of cursors once.
  test.each(['', 'AA', 'not a cursor', 'x'.repeat(500), 'AQEBAQEBAQEBAAAAAAAB'])(
    'refuses the malformed cursor %j',
    async (cursor) => {
      const log = await openLog();
      await expect(log.read(TENANT, { after: cursor, limit: 1 })).rejects.toThrow(InvalidCursorError);
      await expect(log.get(TENANT, cursor)).rejects.toThrow(InvalidCursorError);
    },
  );

  test('refuses a cursor with an extra character', async () => {
    const log = await openLog();
    const head = await log.head(TENANT);
    await expect(log.read(TENANT, { after: `${head}=`, limit: 1 })).rejects.toThrow(InvalidCursorError);
  });

  test("another tenant's and another log's cursors are foreign", async () => {
    const log = await openLog();
    const other = await openLog();
    const [cursor = ''] = await appendNumbers(log, [1]);
    await appendNumbers(other, [1]);

    await expect(log.read('other', { after: cursor, limit: 1 })).rejects.toEqual(expiry('foreign'));
    await expect(other.read(TENANT, { after: cursor, limit: 1 })).rejects.toEqual(expiry('foreign'));
    expect(await other.get(TENANT, cursor)).toBeNull();
    expect((await log.get(TENANT, cursor))?.sequence).toBe(1);
  });

  test('calls listeners once the deliveries can be read, until the listener is removed', async () => {
    const log = await openLog();
    const seen: Promise<number>[] = [];
    const unsubscribe = log.onAppend((tenants) => {
      if ([...(tenants ?? [])].includes(TENANT)) seen.push(readAll(log).then((all) => all.length));
    });
    await appendNumbers(log, [1]);
    await vi.waitFor(() => expect(seen).toHaveLength(1), 60_000);
    await Promise.all(seen);
    await log.append([delivery(2, { tenant: 'other' })]);
    await appendNumbers(log, [3]);
    await vi.waitFor(() => expect(seen).toHaveLength(2), 60_000);
    await Promise.all(seen);
    unsubscribe();
    await appendNumbers(log, [4]);
    expect(await Promise.all(seen)).toEqual([1, 2]);
  });

  test.each([
    [31, 1],
    [100, 4],
  ])(
    '%i deliveries that are appended in one turn take at most %i transactions',
    async (count, transactions) => {
      const log = await openLog();
      let calls = 0;
      log.onAppend(() => {
        calls += 1;
      });
      await Promise.all(range(1, count).map((number) => appendNumbers(log, [number])));
      expect((await readAll(log)).map(numberOf)).toEqual(range(1, count));
      await vi.waitFor(() => expect(calls).toBeGreaterThan(0), 60_000);
      expect(calls).toBeLessThanOrEqual(transactions);
    },
  );

  test('close() commits what was appended, then calls reject', async () => {
    const place = await newPlace();
    const log = await openLog({ place });
    const appended = appendNumbers(log, [1]);
    await log.close();
    await appended;
    await expect(appendNumbers(log, [2])).rejects.toThrow(LogUnavailableError);
    await expect(log.head(TENANT)).rejects.toThrow(LogUnavailableError);
    await log.close();

    expect((await readAll(await openLog({ place }))).map(numberOf)).toEqual([1]);
  });

  test('errors of cursors differ from failures of the log', async () => {
    const log = await openLog();
    const [cursor] = await appendNumbers(log, [1]);
    await expect(log.read('other', { after: cursor, limit: 1 })).rejects.toThrow(CursorExpiredError);
    // A refused cursor does not close the connection.
    expect((await readAll(log)).map(({ webhookId }) => webhookId)).toEqual([WEBHOOK]);
  });
});
