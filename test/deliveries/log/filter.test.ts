import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeliveryFilter, NewDelivery } from '../../../src/deliveries/log/log.ts';
import { runs } from '../../support/runs.ts';
import { address, delivery, numberOf, range, TENANT } from '../support/builders.ts';
import { describeEachStore } from '../support/stores.ts';

const WEBHOOKS = range(1, 3).map((number) => `0190a3f4-0000-7000-8000-00000000000${number}`);
const TYPES = ['transactions', 'activities', 'balances'] as const;
const CHAINS = [1, 10, 2 ** 40];

const arbitraryDelivery = fc
  .record({
    webhookId: fc.constantFrom(null, ...WEBHOOKS),
    type: fc.constantFrom(null, ...TYPES),
    chainId: fc.constantFrom(null, ...CHAINS),
    addresses: fc.uniqueArray(fc.integer({ min: 1, max: 4 }).map(address)),
    subscribed: fc.nat(7),
  })
  .map(({ subscribed, ...rest }) => ({ ...rest, subscribedAddress: rest.addresses[subscribed] ?? null }));

const someOf = <Value>(values: readonly Value[]) => fc.option(fc.subarray([...values]), { nil: undefined });

const someAddresses = fc.uniqueArray(fc.integer({ min: 1, max: 5 }).map(address));

const arbitraryFilter: fc.Arbitrary<DeliveryFilter> = fc.record({
  webhookIds: someOf(WEBHOOKS),
  types: someOf(TYPES),
  chainIds: someOf(CHAINS),
  addresses: fc.option(fc.array(someAddresses, { maxLength: 2 }), { nil: undefined }),
});

/** The filter's contract, implemented without an index. */
const matches = (
  { webhookIds, types, chainIds, addresses = [] }: DeliveryFilter,
  one: NewDelivery,
): boolean =>
  (webhookIds === undefined || webhookIds.some((id) => id === one.webhookId)) &&
  (types === undefined || types.some((type) => type === one.type)) &&
  (chainIds === undefined || chainIds.some((id) => id === one.chainId)) &&
  addresses.every((list) => list.some((wanted) => one.addresses.includes(wanted)));

describeEachStore(({ openLog }) => {
  test('pages of any size, in either direction, have each matching delivery once and in order', async () => {
    const log = await openLog();
    let tenants = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryDelivery, { maxLength: 300, size: 'max' }),
        arbitraryFilter,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('oldest', 'newest'),
        async (changes, filter, limit, take) => {
          tenants += 1;
          const tenant = `tenant ${tenants}`;
          const all = changes.map((change, index) => delivery(index + 1, { ...change, tenant }));
          await log.append(all);

          const walked: number[] = [];
          let position: string | undefined;
          for (let more = true; more; ) {
            const bound = take === 'oldest' ? { after: position } : { before: position };
            const page = await log.read(tenant, { ...bound, limit, filter, take });
            const numbers = page.deliveries.map(numberOf);
            if (take === 'oldest') walked.push(...numbers);
            else walked.unshift(...numbers);
            // A page with hasMore is full, so that the next page starts before a match.
            if (page.hasMore) expect(numbers).toHaveLength(limit);
            more = page.hasMore;
            position = page.scannedTo;
          }
          expect(walked).toEqual(all.filter((one) => matches(filter, one)).map(numberOf));
        },
      ),
      { numRuns: runs(60) },
    );
  });

  test('a rare match far away is found, and deliveries that do not match are not scanned again', async () => {
    const log = await openLog();
    await log.append(range(1, 5000).map((number) => delivery(number)));
    await log.append([delivery(5001, { chainId: 7 })]);
    await log.append(range(5002, 9000).map((number) => delivery(number)));

    const filter = { chainIds: [7] };
    const page = await log.read(TENANT, { limit: 5, filter });
    expect(page.deliveries.map(numberOf)).toEqual([5001]);
    expect(page.hasMore).toBe(false);
    expect(page.scannedTo).toBe(page.head);
  });

  test.each(['oldest', 'newest'] as const)(
    'a single match is found at any position, from the %s',
    async (take) => {
      const log = await openLog();
      const chainIds = range(1, 700);
      await log.append(chainIds.map((chainId) => delivery(chainId, { chainId })));
      const found = chainIds.map(async (chainId) => {
        const { deliveries } = await log.read(TENANT, { limit: 1, take, filter: { chainIds: [chainId] } });
        return deliveries.map(numberOf);
      });
      expect((await Promise.all(found)).flat()).toEqual(chainIds);
    },
  );
});
