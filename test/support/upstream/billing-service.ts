import { lookups } from '../../../src/lookups/registry.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { priceOfPage } from '../lookups/asked-lists.ts';
import { sampleItems } from '../lookups/samples.ts';
import { freshAddress } from './builders.ts';
import { type Answer, type Reply, startFakeService } from './fake-service.ts';
import { serving } from './paging.ts';

/** How one request is answered: as the wallet has it, with this laid over. */
export type Treatment = Pick<Reply, 'status' | 'latencyMs' | 'silent' | 'cutAfterBytes' | 'text' | 'json'> & {
  /** What is billed in place of the price, and stated; null for the price, which is not stated. */
  readonly stated?: number | null;
};

const UNBILLED: readonly number[] = [401, 402, 429];

const itemsOf = (lookup: AnyLookup, place: number) => {
  const { pageSizes, maxItems, isWhole = false } = lookup;
  return sampleItems(lookup, isWhole ? Math.min(place, maxItems) : Math.ceil(1.1 * place * pageSizes.newest));
};

/** A service that counts what it bills: each request that it receives, whatever becomes of the answer. */
export const startBillingService = async () => {
  let treatments: readonly Treatment[] = [];
  let received = 0;
  let billed = 0;

  /** Of each lookup, the lists of the wallets in order: each is longer than the one before. */
  const lists = lookups.map((lookup) => [0, 1, 2].map((place) => serving(lookup, itemsOf(lookup, place))));
  const places = new Map<string, number>();

  const billing =
    (lookup: AnyLookup, answers: readonly Answer[]): Answer =>
    async (request) => {
      const { stated = null, ...treatment } = treatments[received % treatments.length] ?? {};
      received += 1;
      const isFree = treatment.status !== undefined && UNBILLED.includes(treatment.status);
      billed += stated ?? (isFree ? 0 : priceOfPage(lookup, request));
      const served = await answers[places.get(request.address) ?? 0]?.(request);
      const headers = { 'x-compute-units-cost': stated === null ? '' : String(stated) };
      return { ...served, ...treatment, headers };
    };
  const service = await startFakeService(
    Object.fromEntries(lookups.map((lookup, index) => [lookup.name, billing(lookup, lists[index] ?? [])])),
  );
  return Object.assign(service, {
    received: () => received,
    billed: () => billed,
    /** Treats the requests from now on in turn so. */
    treat(given: readonly Treatment[]): void {
      treatments = given;
    },
    /** Adds three wallets: an empty one, and two whose lists have more than a page and more than two. */
    addWallets: (): string[] =>
      [0, 1, 2].map((place) => {
        const address = freshAddress();
        places.set(address, place);
        return address;
      }),
  });
};

export type BillingService = Awaited<ReturnType<typeof startBillingService>>;
