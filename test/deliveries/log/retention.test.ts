import { expect, test, vi } from 'vitest';
import { appendNumbers, delivery, HOUR_MS, numberOf, range, readAll, TENANT } from '../support/builders.ts';
import { describeEachStore } from '../support/stores.ts';

/** Deliveries beyond the retention are trimmed, and the others stay unchanged. */

describeEachStore(({ newPlace, openLog }) => {
  test('trims by count from the front, and refuses a trimmed cursor', async () => {
    const log = await openLog({ retentionCount: 3 });
    const cursors = await appendNumbers(log, range(1, 600));
    await log.trim();

    expect((await readAll(log)).map(numberOf)).toEqual([598, 599, 600]);
    expect((await readAll(log, cursors[596])).map(numberOf)).toEqual([598, 599, 600]);
    await expect(readAll(log, cursors[595])).rejects.toEqual(
      expect.objectContaining({ name: 'CursorExpiredError', reason: 'trimmed' }),
    );
    expect(await log.get(TENANT, cursors[0] ?? '')).toBeNull();
  });

  test('trims by age, and retains every delivery after one that stays, also when the clock went back', async () => {
    let now = 0;
    const log = await openLog({ now: () => now });
    await log.append([10, 50, 20, 60].map((at, index) => delivery(index + 1, { receivedAt: at })));
    now = HOUR_MS + 30;
    await log.trim();
    expect((await readAll(log)).map(numberOf)).toEqual([2, 3, 4]);
  });

  test('never reuses a sequence number, also after everything was trimmed and the log was reopened', async () => {
    const place = await newPlace();
    let now = 1_000_000;
    const log = await openLog({ place, now: () => now });
    const [, old] = await appendNumbers(log, [1, 2]);
    now = HOUR_MS * 1000;
    await log.trim();
    expect(await readAll(log)).toEqual([]);
    await log.close();

    const reopened = await openLog({ place });
    expect(await reopened.head(TENANT)).toBe(old);
    const [again] = await reopened.append([delivery(2)]);
    expect(again).toMatchObject({ sequence: 3, duplicate: false });
    expect((await readAll(reopened, old)).map(({ sequence }) => sequence)).toEqual([3]);
  });

  test('trims by itself when it is opened', async () => {
    const place = await newPlace();
    const full = await openLog({ place });
    await appendNumbers(full, range(1, 5));
    await full.close();
    const log = await openLog({ place, retentionCount: 2 });
    await vi.waitFor(async () => expect((await readAll(log)).map(numberOf)).toEqual([4, 5]), 120_000);
  });
});
