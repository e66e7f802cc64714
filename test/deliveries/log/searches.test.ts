import { expect, test } from 'vitest';
import { ReadAbortedError } from '../../../src/deliveries/log/errors.ts';
import { createOperationReads, SearchLimiter } from '../../../src/deliveries/log/read-limits.ts';
import { numberOf, range, TENANT } from '../support/builders.ts';
import { appendMany, extensionsOf, never, RARE, rare } from '../support/searches.ts';
import { describeEachStore } from '../support/stores.ts';

/** The limits of searches for one client. */

describeEachStore(({ openLog }) => {
  test('a client with too many concurrent searches, or an operation that waits too long, gets RATE_LIMITED', async () => {
    const log = await appendMany(await openLog());
    const searchLimiter = new SearchLimiter({ maxPerClient: 2 });
    const by = (client: string) =>
      createOperationReads({ log, tenant: TENANT, client, clientSignal: null, searchLimiter }).read(never);
    const [one, two, three, others] = [by('one'), by('one'), by('one'), by('another')];
    expect(await extensionsOf(three)).toEqual({ code: 'RATE_LIMITED', retryAfterMs: 1000 });
    for (const page of await Promise.all([one, two, others])) expect(page.deliveries).toEqual([]);
    expect((await by('one')).hasMore).toBe(false);
    const hurried = createOperationReads({
      log,
      tenant: TENANT,
      client: 'one',
      clientSignal: null,
      searchLimiter: new SearchLimiter({ maxMs: 0 }),
    });
    expect(await extensionsOf(hurried.read(never))).toEqual({ code: 'RATE_LIMITED', retryAfterMs: 1000 });
  });

  test('an aborted read ends at once, and others continue', async () => {
    const log = await appendMany(await openLog());
    const clientSignal = new AbortController();
    const given = range(1, 50).map(() => log.read(TENANT, never, { signal: clientSignal.signal }));
    const kept = log.read(TENANT, rare);
    clientSignal.abort();
    for (const read of given) await expect(read).rejects.toThrow(ReadAbortedError);
    await expect(log.read(TENANT, never, { signal: clientSignal.signal })).rejects.toThrow(ReadAbortedError);
    expect((await kept).deliveries.map(numberOf)).toEqual([RARE]);
    await log.check();
  });
});
